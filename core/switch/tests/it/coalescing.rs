//! Coalescing of segments to GSO packets: they arrive as they were sent, whatever they are.

use braid_packet::{TcpFlags, VlanTag, build};
use braid_switch::{Coalesced, Offload, Packet};
use proptest::prelude::*;

use crate::bench::tuple;

const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8];

/// A sender's segments of a size; each with all its checksums.
pub(crate) struct Sender {
    pub(crate) v6: bool,
    pub(crate) tagged: bool,
    pub(crate) seq: u32,
}

impl Sender {
    pub(crate) fn segments(&self, sizes: &[usize]) -> Vec<Packet> {
        let mut seq = self.seq;
        let segment = |(id, size): (u16, &usize)| {
            let payload: Vec<u8> = (0..*size).map(|byte| (byte as u16 ^ id) as u8).collect();
            let last = usize::from(id) + 1 == sizes.len();
            let packet = self.segment(seq, id.wrapping_add(u16::MAX - 2), &payload, last);
            seq = seq.wrapping_add(*size as u32);
            packet
        };
        (0..).zip(sizes).map(segment).collect()
    }

    fn segment(&self, seq: u32, id: u16, payload: &[u8], last: bool) -> Packet {
        let tuple = if self.v6 { tuple("fd00::1", "fd00::2") } else { tuple("10.0.0.1", "10.0.0.2") };
        let flags = TcpFlags(if last { 0x18 } else { 0x10 });
        let frame = build::tcp(tuple).flags(flags).numbers(seq, 7).options(&TIMESTAMPS).payload(payload);
        let mut data = frame.frame();
        if !self.v6 {
            data[18..20].copy_from_slice(&id.to_be_bytes());
            finish_header(&mut data[14..34]);
        }
        if self.tagged {
            VlanTag { id: 42, pcp: 0, dei: false }.push(&mut data);
        }
        Packet { data, offload: Offload { checksum_valid: true, ..Offload::default() } }
    }
}

fn folded(bytes: &[u8]) -> u16 {
    let mut sum: u32 =
        bytes.chunks(2).map(|it| u32::from(it[0]) << 8 | u32::from(*it.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn finish_header(header: &mut [u8]) {
    header[10..12].copy_from_slice(&[0, 0]);
    let sum = !folded(header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// What a network card makes of a GSO packet. Linux, `tcp_gso_segment`.
fn cut(super_frame: &Packet) -> Vec<Vec<u8>> {
    let Offload { header_len, gso_size, csum_start, needs_checksum, gso_type, .. } = super_frame.offload;
    assert!(needs_checksum && [1, 4].contains(&gso_type));
    let (head, payload) = super_frame.data.split_at(header_len.into());
    let (transport, v6) = (usize::from(csum_start), gso_type == 4);
    let network = transport - if v6 { 40 } else { 20 };
    assert_eq!(sum_of_addresses(&super_frame.data, network, transport), field(head, transport + 16));
    let count = payload.len().div_ceil(gso_size.into());
    let part = |(number, payload): (usize, &[u8])| {
        let mut data = [head, payload].concat();
        let length = (data.len() - network) as u16;
        if v6 {
            set(&mut data, network + 4, length - 40);
        } else {
            set(&mut data, network + 2, length);
            let id = field(&data, network + 4).wrapping_add(number as u16);
            set(&mut data, network + 4, id);
            finish_header(&mut data[network..transport]);
        }
        let seq = u32::from_be_bytes(data[transport + 4..transport + 8].try_into().unwrap());
        let seq = seq.wrapping_add(number as u32 * u32::from(gso_size));
        data[transport + 4..transport + 8].copy_from_slice(&seq.to_be_bytes());
        if number + 1 < count {
            data[transport + 13] &= !0x09;
        }
        let sum = sum_of_addresses(&data, network, transport);
        set(&mut data, transport + 16, sum);
        let sum = !folded(&data[transport..]);
        set(&mut data, transport + 16, sum);
        data
    };
    payload.chunks(gso_size.into()).enumerate().map(part).collect()
}

fn sum_of_addresses(data: &[u8], network: usize, transport: usize) -> u16 {
    let addresses = if transport - network == 40 { network + 8 } else { network + 12 };
    let length = (data.len() - transport) as u32;
    let rest = [&[0, 6], &length.to_be_bytes()[..]].concat();
    folded(&[&data[addresses..transport], &rest].concat())
}

fn field(data: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([data[at], data[at + 1]])
}

fn set(data: &mut [u8], at: usize, value: u16) {
    data[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// What leaves, as its receiver has it after a card has cut GSO packets.
fn leaves(mut packets: Vec<Packet>) -> (Vec<Vec<u8>>, usize) {
    let (mut out, mut coalesced, mut rest) = (Vec::new(), 0, packets.as_mut_slice());
    while !rest.is_empty() {
        let gso = Coalesced::coalesce(rest);
        let (now, later) = rest.split_at_mut(gso.packets);
        if gso.packets == 1 {
            out.push(now[0].data.clone());
        } else {
            let mut whole = now[0].clone();
            now[1..].iter().for_each(|it| whole.data.extend(&it.data[gso.headers..]));
            out.extend(cut(&whole));
        }
        (rest, coalesced) = (later, coalesced + 1);
    }
    (out, coalesced)
}

fn frames(packets: &[Packet]) -> Vec<Vec<u8>> {
    packets.iter().map(|packet| packet.data.clone()).collect()
}

#[test]
fn segments_of_a_size_leave_as_one_frame_and_arrive_as_they_were() {
    for (v6, tagged) in [(false, false), (true, false), (false, true), (true, true)] {
        let packets = Sender { v6, tagged, seq: u32::MAX - 3_000 }.segments(&[1_448, 1_448, 1_448, 700]);
        let wanted = frames(&packets);
        assert_eq!(leaves(packets), (wanted, 1), "IPv6 {v6}, tag {tagged}");
    }
}

#[test]
fn a_super_frame_is_no_longer_than_its_length_can_say_and_has_64_parts_at_most() {
    let sender = Sender { v6: false, tagged: false, seq: 0 };
    assert_eq!(Coalesced::coalesce(&mut sender.segments(&[1_448; 60])).packets, 45);
    assert_eq!(Coalesced::coalesce(&mut sender.segments(&[100; 100])).packets, 64);
}

/// What sets the second of two segments apart, so that they are none of one sender's segmentation.
const APART: [fn(&mut Packet); 14] = [
    |it| it.data[0] ^= 1,
    |it| retouch(it, 15),
    |it| retouch(it, 19),
    |it| retouch(it, 22),
    |it| retouch(it, 30),
    |it| it.data[24] ^= 1,
    |it| it.data[34] ^= 1,
    |it| it.data[41] ^= 1,
    |it| it.data[45] ^= 1,
    |it| it.data[47] ^= 1,
    |it| it.data[49] ^= 1,
    |it| it.data[60] ^= 1,
    |it| it.offload.checksum_valid = false,
    |it| it.data.push(0),
];

fn retouch(packet: &mut Packet, at: usize) {
    packet.data[at] ^= 1;
    finish_header(&mut packet.data[14..34]);
}

#[test]
fn what_differs_in_more_than_a_sender_would_leaves_by_itself() {
    let sender = Sender { v6: false, tagged: false, seq: 5 };
    for (number, change) in APART.iter().enumerate() {
        let mut packets = sender.segments(&[1_448, 1_448]);
        change(&mut packets[1]);
        let wanted = frames(&packets);
        assert_eq!(leaves(packets), (wanted, 2), "change {number}");
    }
}

#[test]
fn a_segment_that_ends_something_ends_a_gso_packet() {
    let sender = Sender { v6: false, tagged: false, seq: 5 };
    assert_eq!(Coalesced::coalesce(&mut sender.segments(&[1_448, 700, 1_448])).packets, 2);
    assert_eq!(Coalesced::coalesce(&mut sender.segments(&[700, 1_448])).packets, 1);
    let mut packets = sender.segments(&[1_448; 3]);
    packets[1].data[47] |= 0x08;
    assert_eq!(Coalesced::coalesce(&mut packets).packets, 2, "pushed");
    packets = sender.segments(&[1_448; 3]);
    packets[0].data[47] |= 0x01;
    assert_eq!(Coalesced::coalesce(&mut packets).packets, 1, "the last of its connection");
}

proptest! {
    #[test]
    fn frames_leave_as_they_came_whatever_they_are(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..4),
        sizes in prop::collection::vec(prop_oneof![Just(500_usize), Just(500), 1..500_usize], 1..12),
        v6 in any::<bool>(), tagged in any::<bool>(), seq in any::<u32>(),
    ) {
        let mut packets = Sender { v6, tagged, seq }.segments(&sizes);
        for (packet, byte, mask) in flips {
            let packet = packet.get_mut(&mut packets);
            let header = byte.index(80.min(packet.data.len()));
            packet.data[header] ^= mask;
            // Who changes a packet on its way sees that its checksum fits, or nobody has found it right.
            packet.offload.checksum_valid &= mask == 0;
        }
        let wanted = frames(&packets);
        prop_assert_eq!(leaves(packets).0, wanted);
    }

    #[test]
    fn anything_can_be_coalesced_without_harm(
        frames in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..120), any::<[u8; 10]>()), 0..4),
    ) {
        let offload = |bytes| Offload::from_bytes(bytes);
        let mut packets: Vec<_> =
            frames.into_iter().map(|(data, bytes)| Packet { data, offload: offload(bytes) }).collect();
        let gso = Coalesced::coalesce(&mut packets);
        prop_assert!(gso.packets <= packets.len().max(1));
    }
}
