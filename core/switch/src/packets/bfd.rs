//! BFD's control packets in frames, as Open vSwitch exchanges them with a neighbour. RFC 5881 §4 and §5.

use braid_bfd::ControlPacket;
use braid_types::MacAddr;

use super::{put_ipv4_checksum, u16_at};

/// The destination of Open vSwitch's BFD, which no other protocol uses: sessions between routers pass unread.
const TO: MacAddr = MacAddr::from_u64(0x0023_2000_0001);
const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const UDP: u8 = 17;
const DESTINATION_PORT: u16 = 3_784;
/// From 49,152 on.
const SOURCE_PORT: u16 = 49_152;
/// Routers lower it: whoever sent a packet with it is the neighbour. RFC 5082.
const TTL: u8 = 255;
/// Network control.
const CLASS: u8 = 0xc0;
/// Link-local addresses, which nobody else needs to know.
const ADDRESSES: [[u8; 4]; 2] = [[169, 254, 1, 1], [169, 254, 1, 0]];

/// Whether a frame is for BFD at this link.
pub(crate) fn is_bfd(frame: &[u8]) -> bool {
    frame.first_chunk() == Some(&TO.octets()) && frame.get(12..ETHERNET) == Some(&IPV4)
}

/// The control packet in a frame of which [`is_bfd`] holds; `None` if it is malformed or comes from beyond the link.
pub(crate) fn read(frame: &[u8]) -> Option<ControlPacket> {
    let packet = frame.get(ETHERNET..)?;
    let header = usize::from(packet.first()? & 0xf) * 4;
    let fragment = u16_at(packet, 6)? & 0x3fff;
    let is_whole = packet.first()? >> 4 == 4 && header >= 20 && fragment == 0;
    let is_near = *packet.get(8)? == TTL && *packet.get(9)? == UDP;
    let datagram = packet.get(header..)?;
    let (port, length) = (u16_at(datagram, 2)?, u16_at(datagram, 4)?);
    let payload = datagram.get(8..length.into())?;
    (is_whole && is_near && port == DESTINATION_PORT).then(|| ControlPacket::read(payload)).flatten()
}

/// The frame of a control packet that leaves by a port with this address.
pub(crate) fn frame(from: MacAddr, packet: &ControlPacket) -> Vec<u8> {
    let payload = packet.bytes();
    let length = payload.len() as u16;
    let [source, destination] = ADDRESSES;
    let [total, datagram] = [length + 28, length + 8].map(u16::to_be_bytes);
    let head = [0x45, CLASS, total[0], total[1], 0, 0, 0x40, 0, TTL, UDP, 0, 0];
    let mut header = [&head[..], &source, &destination].concat();
    let _ = put_ipv4_checksum(&mut header);
    let ports = [SOURCE_PORT, DESTINATION_PORT].map(u16::to_be_bytes).concat();
    // IPv4 lets a datagram do without a checksum.
    [&TO.octets()[..], &from.octets(), &IPV4, &header, &ports, &datagram, &[0, 0], &payload].concat()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use braid_bfd::{Diagnostic, State};

    use super::*;
    use crate::packets::{fold, sum};

    fn packet() -> ControlPacket {
        ControlPacket {
            diagnostic: Diagnostic::None,
            state: State::Init,
            is_poll: false,
            is_final: false,
            multiplier: 3,
            sender: 1,
            receiver: 2,
            min_sent: Duration::from_secs(1),
            min_received: Duration::from_millis(10),
        }
    }

    #[test]
    fn frames_are_read_as_they_are_written() {
        let frame = frame(MacAddr::from_u64(7), &packet());
        assert!(is_bfd(&frame));
        assert_eq!(read(&frame), Some(packet()));
        assert_eq!(fold(sum(&frame[ETHERNET..ETHERNET + 20])), 0xffff, "the header's checksum");
    }

    #[test]
    fn sessions_of_routers_and_what_was_routed_are_not_taken() {
        let good = frame(MacAddr::from_u64(7), &packet());
        let with = |place: usize, value: u8| {
            let mut frame = good.clone();
            frame[place] = value;
            frame
        };
        assert!(!is_bfd(&with(0, 2)), "to a router");
        for (what, frame) in [
            ("routed", with(ETHERNET + 8, 254)),
            ("a fragment", with(ETHERNET + 6, 0x20)),
            ("TCP", with(ETHERNET + 9, 6)),
            ("another port", with(ETHERNET + 23, 0xc9)),
            ("longer than the frame", with(ETHERNET + 25, 60)),
            ("shorter than its header", with(ETHERNET + 25, 3)),
        ] {
            assert_eq!(read(&frame), None, "{what}");
        }
        for length in 0..good.len() {
            assert_eq!(read(&good[..length]), None);
        }
    }
}
