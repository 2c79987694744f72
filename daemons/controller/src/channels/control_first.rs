//! Control messages go before others that came earlier on the same connection.

use braid_openflow::{MessageType, PacketIn, frames};

const LLDP: [u8; 2] = [0x88, 0xcc];

/// How far the control messages at the front of a stream were handled ahead of the others.
#[derive(Debug, Default)]
pub(super) struct ControlFirst {
    /// Bytes from the front of the unhandled stream whose control messages are handled.
    done: usize,
}

impl ControlFirst {
    /// The next control message that was not handled yet; it counts as handled.
    pub(super) fn next<'a>(&mut self, stream: &'a [u8]) -> Option<&'a [u8]> {
        for message in frames(stream.get(self.done..)?).map_while(Result::ok) {
            self.done += message.bytes.len();
            if is_control(message.bytes) {
                return Some(message.bytes);
            }
        }
        None
    }

    /// Whether the message that begins at `offset` of the stream was handled ahead.
    pub(super) fn has_handled(&self, offset: usize, message: &[u8]) -> bool {
        offset < self.done && is_control(message)
    }

    /// Drops the packets of hosts that begin beyond the first `kept` bytes, of the part whose control messages are handled.
    /// Returns the bytes that are left at the front, and how many packets were dropped. Other messages stay, as nobody
    /// sends them again.
    pub(super) fn shed(&mut self, stream: &mut [u8], kept: usize) -> (usize, u64) {
        let (mut at, mut end, mut shed) = (0, 0, 0);
        while let Some(Ok(message)) = stream.get(at..self.done).and_then(|rest| frames(rest).next()) {
            let (length, is_control) = (message.bytes.len(), is_control(message.bytes));
            if at < kept || !is_control && !is_packet(message.bytes) {
                stream.copy_within(at..at + length, end);
                end += length;
            } else {
                shed += u64::from(!is_control);
            }
            at += length;
        }
        stream.copy_within(at.., end);
        self.done = end;
        (end + stream.len() - at, shed)
    }

    /// The first `used` bytes of the stream are handled altogether and leave it.
    pub(super) const fn consume(&mut self, used: usize) {
        self.done = self.done.saturating_sub(used);
    }
}

/// Whether links or the connection itself depend on a message: echoes, the state of ports and discovery frames.
/// Those of one kind keep their order.
fn is_control(message: &[u8]) -> bool {
    match message.get(1).copied().map(MessageType::from) {
        Some(MessageType::EchoRequest | MessageType::EchoReply | MessageType::PortStatus) => true,
        Some(MessageType::PacketIn) => {
            PacketIn::frame_of(message).and_then(|frame| frame.get(12..14)) == Some(&LLDP)
        }
        _ => false,
    }
}

fn is_packet(message: &[u8]) -> bool {
    message.get(1).copied().map(MessageType::from) == Some(MessageType::PacketIn)
}

#[cfg(test)]
mod tests {
    use braid_openflow::{Bytes, Echo, Match, Message, OxmField, Xid};
    use braid_types::PortNo;

    use super::*;

    fn packet_in(ether_type: [u8; 2]) -> Vec<u8> {
        let frame = [&[0; 12][..], &ether_type, &[0; 46]].concat();
        let fields = [OxmField::InPort(PortNo(1))];
        let packet = PacketIn {
            buffer_id: braid_openflow::BufferId::NO_BUFFER,
            total_len: 60,
            reason: braid_openflow::PacketInReason::Action,
            table_id: braid_openflow::TableId(0),
            cookie: braid_openflow::Cookie(0),
            matching: Match::new(&fields),
            data: Bytes(&frame),
        };
        encoded(&Message::PacketIn(packet))
    }

    fn encoded(message: &Message<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        message.encode(Xid(1), &mut bytes).expect("a short message");
        bytes
    }

    fn echo(data: &[u8]) -> Vec<u8> {
        encoded(&Message::EchoRequest(Echo { data: Bytes(data) }))
    }

    #[test]
    fn echoes_and_discovery_frames_go_first_and_packets_of_hosts_do_not() {
        assert!(is_control(&encoded(&Message::EchoRequest(Echo { data: Bytes(b"?") }))));
        assert!(is_control(&packet_in(LLDP)));
        assert!(!is_control(&packet_in([0x08, 0x00])));
        assert!(!is_control(&encoded(&Message::BarrierReply)), "it comes after the errors before it");
        assert!(!is_control(&[]));
    }

    #[test]
    fn control_messages_come_out_in_order_and_are_not_handled_twice() {
        let [first, host, second] = [echo(b"1"), packet_in([0x08, 0x00]), echo(b"2")];
        let stream = [&first[..], &host, &second].concat();
        let mut control = ControlFirst::default();
        assert_eq!(control.next(&stream), Some(&first[..]));
        assert_eq!(control.next(&stream), Some(&second[..]));
        assert_eq!(control.next(&stream), None);
        assert!(control.has_handled(0, &first) && control.has_handled(first.len() + host.len(), &second));
        assert!(!control.has_handled(first.len(), &host));
    }

    #[test]
    fn what_no_pass_has_reached_is_not_taken_for_handled() {
        let [first, host, second] = [echo(b"1"), packet_in([0x08, 0x00]), echo(b"2")];
        let stream = [&first[..], &host, &second].concat();
        let mut control = ControlFirst::default();
        // A turn that ends after one control message and one other.
        assert_eq!(control.next(&stream), Some(&first[..]));
        control.consume(first.len() + host.len());
        let rest = &second[..];
        assert!(!control.has_handled(0, rest));
        assert_eq!(control.next(rest), Some(rest));
        assert!(control.has_handled(0, rest));
    }

    #[test]
    fn packets_of_hosts_are_shed_beyond_what_is_kept_and_nothing_else_is() {
        let (host, barrier) = (packet_in([0x08, 0x00]), encoded(&Message::BarrierReply));
        let begun = &host[..host.len() / 2];
        let mut stream = [&host[..], &host, &echo(b"1"), &host, &barrier, &host, begun].concat();
        let mut control = ControlFirst::default();
        while control.next(&stream).is_some() {}
        // The second packet begins within what is kept.
        let (length, shed) = control.shed(&mut stream, host.len() + 1);
        assert_eq!(shed, 2);
        stream.truncate(length);
        let left = [&host[..], &host, &barrier, begun].concat();
        assert_eq!(stream, left);
        stream.extend_from_slice(&host[host.len() / 2..]);
        stream.extend_from_slice(&echo(b"2"));
        assert_eq!(control.next(&stream), Some(&echo(b"2")[..]), "the one before is handled and gone");
        let (length, shed) = control.shed(&mut stream, usize::MAX);
        assert_eq!((shed, length), (0, left.len() + host.len() - begun.len() + echo(b"2").len()));
    }

    #[test]
    fn what_was_not_searched_for_control_messages_is_not_shed() {
        let mut stream = packet_in([0x08, 0x00]);
        let before = stream.clone();
        assert_eq!(ControlFirst::default().shed(&mut stream, 0), (stream.len(), 0));
        assert_eq!(stream, before);
    }

    #[test]
    fn messages_after_those_that_were_handled_are_new() {
        let mut control = ControlFirst::default();
        let first = echo(b"1");
        assert_eq!(control.next(&first), Some(&first[..]));
        control.consume(first.len());
        assert!(!control.has_handled(0, &first), "the same bytes again are another message");
    }
}
