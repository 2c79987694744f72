//! What is coalesced and cut again is what it was, whatever it is.

use braid_offload::{Coalesced, GSO_TCPV4, GSO_TCPV6, GSO_UDP, Offload, Packet, Segments, Start};
use proptest::prelude::*;

/// One direction of a flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    is_v6: bool,
    is_udp: bool,
    start: Start,
    /// Whether frames have a VLAN tag.
    is_tagged: bool,
}

impl Flow {
    /// A packet with all its checksums.
    fn packet(&self, seq: u32, id: u16, payload: &[u8]) -> Vec<u8> {
        let transport = if self.is_udp {
            let length = (8 + payload.len()) as u16;
            [&[0x15, 0xb3, 0x15, 0xb4], &length.to_be_bytes()[..], &[0, 0], payload].concat()
        } else {
            let options = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8];
            let rest = [0, 0, 0, 7, 0x80, 0x10, 0x20, 0, 0, 0, 0, 0];
            [&[0x15, 0xb3, 0x15, 0xb4], &seq.to_be_bytes()[..], &rest, &options, payload].concat()
        };
        let mut packet = [self.ip(id, transport.len()), transport].concat();
        let headers = if self.is_v6 { 40 } else { 20 };
        let (protocol, place) = if self.is_udp { (17, 6) } else { (6, 16) };
        let addresses = packet[if self.is_v6 { 8 } else { 12 }..headers].to_vec();
        let pseudo = [addresses, vec![0, protocol], ((packet.len() - headers) as u16).to_be_bytes().to_vec()];
        let checksum = checksum(&[pseudo.concat(), packet[headers..].to_vec()].concat());
        packet[headers + place..headers + place + 2].copy_from_slice(&checksum.to_be_bytes());
        [self.ethernet(), packet].concat()
    }

    fn ip(&self, id: u16, length: usize) -> Vec<u8> {
        let protocol = if self.is_udp { 17 } else { 6 };
        if self.is_v6 {
            let length = (length as u16).to_be_bytes();
            return [&[0x60, 0, 0, 0], &length[..], &[protocol, 64], &[0xfd; 16], &[0xfe; 16]].concat();
        }
        let (length, id) = ((20 + length as u16).to_be_bytes(), id.to_be_bytes());
        let mut header =
            [&[0x45, 0], &length[..], &id, &[0x40, 0, 64, protocol, 0, 0, 10, 1, 0, 2, 10, 2, 0, 2]].concat();
        let checksum = checksum(&header);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        header
    }

    fn ethernet(&self) -> Vec<u8> {
        let kind: &[u8] = if self.is_v6 { &[0x86, 0xdd] } else { &[8, 0] };
        match self.start {
            Start::Ip => Vec::new(),
            Start::Ethernet if self.is_tagged => [&[2; 12][..], &[0x81, 0, 0, 42], kind].concat(),
            Start::Ethernet => [&[2; 12][..], kind].concat(),
        }
    }

    fn packets(&self, sizes: &[usize]) -> Vec<Vec<u8>> {
        let mut seq = u32::MAX - 5_000;
        let packet = |(id, size): (u16, &usize)| {
            let payload: Vec<u8> = (0..*size).map(|byte| (byte as u16 ^ id) as u8).collect();
            let packet = self.packet(seq, id.wrapping_add(u16::MAX - 2), &payload);
            seq = seq.wrapping_add(*size as u32);
            packet
        };
        (0..).zip(sizes).map(packet).collect()
    }
}

fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|it| u32::from(it[0]) << 8 | u32::from(*it.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Coalesces and cuts again; the packets, and how many writes it took.
fn pass(packets: &[Vec<u8>], start: Start) -> (Vec<Vec<u8>>, usize) {
    let mut queue: Vec<_> = packets.iter().cloned().map(Packet::complete).collect();
    let (mut rest, mut out, mut writes) = (queue.as_mut_slice(), Vec::new(), 0);
    while !rest.is_empty() {
        let Coalesced { packets, headers } = Coalesced::verify_and_coalesce(rest, start);
        let (now, later) = std::mem::take(&mut rest).split_at_mut(packets);
        let others = now[1..].iter().flat_map(|it| it.data[headers..].to_vec());
        let data: Vec<u8> = now[0].data.iter().copied().chain(others).collect();
        out.extend(cut(&data, now[0].offload, start));
        (rest, writes) = (later, writes + 1);
    }
    (out, writes)
}

fn cut(data: &[u8], offload: Offload, start: Start) -> Vec<Vec<u8>> {
    let (mut segments, mut buffer) = (Segments::new(data, offload, start).unwrap(), Vec::new());
    std::iter::from_fn(|| segments.write_next(&mut buffer).then(|| buffer.clone())).collect()
}

fn flows() -> impl Strategy<Value = Flow> {
    let start = prop_oneof![Just(Start::Ip), Just(Start::Ethernet)];
    let flow = |(is_v6, is_udp, is_tagged, start)| Flow { is_v6, is_udp, start, is_tagged };
    (any::<bool>(), any::<bool>(), any::<bool>(), start).prop_map(flow)
}

#[test]
fn full_segments_are_one_write_and_corrupted_ones_stay_alone_as_they_are() {
    for (is_v6, start) in [(false, Start::Ip), (true, Start::Ip), (false, Start::Ethernet)] {
        let flow = Flow { is_v6, is_udp: false, start, is_tagged: false };
        let mut packets = flow.packets(&[1_348, 1_348, 1_348, 1_348, 20]);
        assert_eq!(pass(&packets, start), (packets.clone(), 1));
        *packets[2].last_mut().unwrap() ^= 1;
        assert_eq!(pass(&packets, start), (packets.clone(), 3));
    }
}

#[test]
fn datagrams_of_a_gso_packet_are_cut_with_their_checksums() {
    for is_v6 in [false, true] {
        let flow = Flow { is_v6, is_udp: true, start: Start::Ip, is_tagged: false };
        let wanted = flow.packets(&[1_200, 1_200, 300]);
        let headers = if is_v6 { 48 } else { 28 };
        let payload = wanted.iter().flat_map(|packet| &packet[headers..]).copied();
        let data: Vec<u8> = wanted[0][..headers].iter().copied().chain(payload).collect();
        let offload = Offload {
            needs_checksum: true,
            gso_type: 5,
            gso_size: 1_200,
            csum_start: headers as u16 - 8,
            csum_offset: 6,
            ..Offload::default()
        };
        assert_eq!(cut(&data, offload, Start::Ip), wanted);
    }
}

#[test]
fn segments_behind_two_tags_are_cut() {
    let flow = Flow { is_v6: false, is_udp: false, start: Start::Ethernet, is_tagged: false };
    let tag = |packet: &[u8]| [&packet[..12], &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2], &packet[12..]].concat();
    let wanted = flow.packets(&[500, 500, 20]);
    let payload = wanted.iter().flat_map(|packet| &packet[66..]).copied();
    let gso: Vec<u8> = wanted[0][..66].iter().copied().chain(payload).collect();
    let offload =
        Offload { needs_checksum: true, gso_type: 1, gso_size: 500, csum_start: 42, ..Offload::default() };
    let wanted: Vec<_> = wanted.iter().map(|packet| tag(packet)).collect();
    assert_eq!(cut(&tag(&gso), offload, Start::Ethernet), wanted);
}

#[test]
fn a_checksum_that_was_left_over_is_completed() {
    let flow = Flow { is_v6: false, is_udp: false, start: Start::Ip, is_tagged: false };
    let wanted = flow.packet(7, 8, &[9; 100]);
    let mut packet = wanted.clone();
    let pseudo = !checksum(&[&packet[12..20], &[0, 6, 0, 132]].concat());
    packet[36..38].copy_from_slice(&pseudo.to_be_bytes());
    let offload = Offload { needs_checksum: true, csum_start: 20, csum_offset: 16, ..Offload::default() };
    assert_eq!(cut(&packet, offload, Start::Ip), [wanted]);
}

proptest! {
    #[test]
    fn packets_come_out_as_they_went_in(flow in flows(), sizes in prop::collection::vec(0..1_400_usize, 1..20)) {
        let packets = flow.packets(&sizes);
        prop_assert_eq!(pass(&packets, flow.start).0, packets);
    }

    #[test]
    fn equal_packets_come_out_as_they_went_in(flow in flows(), size in 1..1_400_usize, count in 1..80_usize) {
        let packets = flow.packets(&vec![size; count]);
        let (out, writes) = pass(&packets, flow.start);
        prop_assert_eq!(out, packets);
        prop_assert!(flow.is_udp || writes <= 2);
    }

    #[test]
    fn whatever_the_kernel_says_nothing_panics(
        data in prop::collection::vec(any::<u8>(), 0..200), header in any::<[u8; 10]>(), version in 0..16_u8,
    ) {
        let mut data = data;
        if let Some(first) = data.first_mut() {
            *first = version << 4 | 5;
        }
        for start in [Start::Ip, Start::Ethernet] {
            let mut buffer = Vec::new();
            let segments = Segments::new(&data, Offload::from_bytes(header), start);
            segments.into_iter().for_each(|mut it| while it.write_next(&mut buffer) {});
            Coalesced::verify_and_coalesce(&mut [Packet::complete(data.clone()), Packet::complete(data.clone())], start);
        }
    }
}

#[test]
fn what_a_card_has_coalesced_is_cut_without_a_pending_checksum() {
    for (is_v6, is_udp) in [(false, false), (true, false), (false, true), (true, true)] {
        let flow = Flow { is_v6, is_udp, start: Start::Ethernet, is_tagged: false };
        let wanted = flow.packets(&[1_000, 1_000, 300]);
        let headers = wanted[0].len() - 1_000;
        let payload = wanted.iter().flat_map(|packet| &packet[headers..]).copied();
        let data: Vec<u8> = wanted[0][..headers].iter().copied().chain(payload).collect();
        let gso_type = if is_udp { GSO_UDP } else { [GSO_TCPV4, GSO_TCPV6][usize::from(is_v6)] };
        let offload = Offload { checksum_valid: true, gso_type, gso_size: 1_000, ..Offload::default() };
        let frames = Packet { data: data.clone(), offload }.cut().unwrap();
        assert_eq!(frames, wanted.iter().cloned().map(Packet::complete).collect::<Vec<_>>());
        let empty = Packet { data: data[..headers].to_vec(), offload };
        assert_eq!(empty.cut(), None, "nothing is left of it");
    }
}

#[test]
fn segments_inside_of_a_tunnel_are_not_cut() {
    let flow = Flow { is_v6: false, is_udp: false, start: Start::Ethernet, is_tagged: false };
    let [inner] = &flow.packets(&[3_000])[..] else { panic!() };
    // GRE between an outer and the inner IP header.
    let outer = [&inner[..23], &[47], &inner[24..34], &[0, 0, 8, 0]].concat();
    let data = [&outer[..], &inner[14..]].concat();
    let offload = Offload {
        needs_checksum: true,
        gso_type: GSO_TCPV4,
        gso_size: 1_000,
        csum_start: 14 + 20 + 4 + 20,
        csum_offset: 16,
        ..Offload::default()
    };
    assert_eq!(Packet { data, offload }.cut(), None);
}
