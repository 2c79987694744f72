//! Packet-in messages, and the place of the frame in one that is not decoded. OpenFlow 1.3.5 §7.4.1.

use braid_types::PortNo;

use crate::header::MessageType;
use crate::id::{BufferId, Cookie, TableId};
use crate::oxm::Match;
use crate::wire::{Bytes, wire_enum, wire_struct};

wire_struct! {
    /// A packet that the switch passes to the controller. OpenFlow 1.3.5 §7.4.1.
    pub struct PacketIn<'a> {
        /// The packet, if it waits in the switch.
        pub buffer_id: BufferId,
        /// Bytes of the whole packet, of which `data` may be only the first.
        pub total_len: u16,
        /// Why it came.
        pub reason: PacketInReason,
        /// The table that sent it.
        pub table_id: TableId,
        /// The cookie of the flow that sent it; all ones if none did.
        pub cookie: Cookie,
        /// The packet's match fields, such as its ingress port.
        #[serde(rename = "match")]
        pub matching: Match<'a>; pad 2,
        /// The Ethernet frame, or its front.
        pub data: Bytes<'a>,
    }
}

impl PacketIn<'_> {
    /// The port on which the packet came in, which every switch must report.
    pub fn in_port(&self) -> Option<PortNo> {
        self.matching.in_port()
    }

    /// The frame in a whole message, found by its place alone; `None` if the message is no packet-in, or too short.
    #[inline]
    pub fn frame_of(message: &[u8]) -> Option<&[u8]> {
        // The match begins with its type; its length does not count the bytes that fill it up to a multiple of 8.
        const MATCH: usize = 24;
        const PAD: usize = 2;
        let is_packet_in = MessageType::from(*message.get(1)?) == MessageType::PacketIn;
        let length = u16::from_be_bytes(*message.get(MATCH + 2..)?.first_chunk()?);
        let filled = usize::from(length).next_multiple_of(8);
        message.get(filled.checked_add(MATCH + PAD)?..).filter(|_| is_packet_in)
    }
}

wire_enum! {
    /// Why a packet comes to the controller. OpenFlow 1.3.5 §7.4.1.
    pub enum PacketInReason(u8) {
        /// A table-miss flow sent it.
        NoMatch = 0,
        /// An output action sent it.
        Action = 1,
        /// Its time to live is over.
        InvalidTtl = 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Xid;
    use crate::message::Message;
    use crate::oxm::OxmField;

    #[test]
    fn the_frame_is_where_the_decoder_finds_it() {
        let fields = [OxmField::InPort(PortNo(7)), OxmField::EthType(crate::oxm::EthType::IPV6)];
        for fields in [&fields[..0], &fields[..1], &fields] {
            let packet = PacketIn {
                buffer_id: BufferId::NO_BUFFER,
                total_len: 5,
                reason: PacketInReason::Action,
                table_id: TableId(2),
                cookie: Cookie(1),
                matching: Match::new(fields),
                data: Bytes(b"frame"),
            };
            let mut bytes = Vec::new();
            Message::PacketIn(packet).encode(Xid(9), &mut bytes).expect("a short message");
            assert_eq!(PacketIn::frame_of(&bytes), Some(b"frame".as_slice()));
            for length in 0..bytes.len() - 5 {
                assert_eq!(PacketIn::frame_of(&bytes[..length]), None, "{length} bytes");
            }
            bytes[1] = 13;
            assert_eq!(PacketIn::frame_of(&bytes), None);
        }
    }
}
