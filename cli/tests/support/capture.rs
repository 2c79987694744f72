//! Recorded captures, rewritten to other link types, file formats and IP versions.

use std::path::PathBuf;

use etherparse::{PacketBuilder, SlicedPacket, TransportSlice};

pub(crate) const ETHERNET: u32 = 1;

/// A packet of a capture, from its Ethernet header on.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) seconds: u32,
    pub(crate) micros: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Where a recorded capture is; see record.sh beside it.
pub(crate) fn recorded(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name)
}

/// The packets of a recorded capture.
pub(crate) fn packets(name: &str) -> Vec<Packet> {
    let file = std::fs::read(recorded(name)).expect("the capture is there");
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let mut packets = Vec::new();
    let mut at = 24;
    while at < file.len() {
        let (end, seconds, micros) = (at + 16 + word(at + 8) as usize, word(at), word(at + 4));
        packets.push(Packet { seconds, micros, bytes: file[at + 16..end].to_vec() });
        at = end;
    }
    packets
}

/// A pcap file of the packets, whose Ethernet header `relink` replaces with that of the link type.
pub(crate) fn pcap(packets: &[Packet], link: u32, relink: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, link]);
    for Packet { seconds, micros, bytes } in packets {
        let bytes = relink(bytes);
        let length = u32::try_from(bytes.len()).unwrap();
        file.extend(words(&[*seconds, *micros, length, length]));
        file.extend(bytes);
    }
    file
}

/// A pcapng file of the packets, with timestamps in nanoseconds.
pub(crate) fn pcapng(packets: &[Packet]) -> Vec<u8> {
    let mut file = block(0x0a0d_0d0a, &words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]));
    file.extend(block(1, &words(&[ETHERNET, 0, 9 | 1 << 16, 9, 0])));
    for Packet { seconds, micros, bytes } in packets {
        let nanos = u64::from(*seconds) * 1_000_000_000 + u64::from(*micros) * 1_000;
        let length = u32::try_from(bytes.len()).unwrap();
        let mut body = words(&[0, (nanos >> 32) as u32, nanos as u32, length, length]);
        body.extend(bytes);
        file.extend(block(6, &body));
    }
    file
}

/// The same packets, each with IPv6 addresses made from its IPv4 ones, and no Ethernet header.
pub(crate) fn to_ipv6(packets: &[Packet]) -> Vec<Packet> {
    packets.iter().map(|packet| Packet { bytes: ipv6(&packet.bytes), ..packet.clone() }).collect()
}

/// How many bytes of TCP payload a packet of the recorded captures has.
pub(crate) fn payload_length(packet: &Packet) -> usize {
    match SlicedPacket::from_ethernet(&packet.bytes).unwrap().transport {
        Some(TransportSlice::Tcp(tcp)) => tcp.payload().len(),
        _ => 0,
    }
}

fn ipv6(ethernet: &[u8]) -> Vec<u8> {
    let Some(TransportSlice::Tcp(tcp)) = SlicedPacket::from_ethernet(ethernet).unwrap().transport else {
        panic!("the recorded captures hold nothing but TCP");
    };
    let address =
        |port: u16| [&[0x20, 1, 0xd, 0xb8][..], &[0; 10], &port.to_be_bytes()].concat().try_into().unwrap();
    let (source, destination) = (address(tcp.source_port()), address(tcp.destination_port()));
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv6(source, destination, 64).tcp_header(tcp.to_header());
    builder.write(&mut packet, tcp.payload()).unwrap();
    packet
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = u32::try_from(body.len() + padding + 12).unwrap();
    [&words(&[kind, length]), body, &[0; 3][..padding], &words(&[length])].concat()
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
