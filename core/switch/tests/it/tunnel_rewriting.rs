//! TCP through tunnels with the tunnels' addresses: two edges agree on it, and packets come out as they went in.

use std::time::Duration;

use braid_edge_protocol::Ends;
use braid_packet::{Frame, TcpFlags, TooBig, VlanTag, build};
use braid_switch::{Arrival, Coalesced, Offload, Packet, Uplinks};
use braid_types::{FiveTuple, Time};
use proptest::prelude::*;

use crate::bench::{NOW, tuple};
use crate::coalescing::Sender;
use crate::uplinks::{PORT, ends, ready, rewriting};

/// Two edges, and the frames between them.
struct Pair {
    near: Uplinks,
    far: Uplinks,
    now: Time,
    /// What goes to this port is lost on the way unless it is in GRE.
    firewall: Option<u16>,
    /// The frames of the near edge that reached the other, and what came out there.
    crossed: Vec<Packet>,
    out: Vec<Packet>,
}

impl Pair {
    fn new(near: Uplinks, far: Uplinks) -> Self {
        Self { near, far, now: NOW, firewall: None, crossed: Vec::new(), out: Vec::new() }
    }

    /// Two edges that know of each other that they rewrite.
    fn agreed(v6: bool) -> Self {
        let mut pair = Self::new(rewriting(v6, false), rewriting(v6, true));
        pair.later(Duration::ZERO);
        pair
    }

    fn later(&mut self, time: Duration) {
        self.now = self.now + time;
        self.near.handle_timeout(self.now);
        self.far.handle_timeout(self.now);
        self.exchange();
    }

    /// Sends a packet from the near edge; what came out of the far one.
    fn send(&mut self, packet: Packet) -> Vec<Packet> {
        self.crossed.clear();
        self.out.clear();
        assert!(self.near.send(self.now, PORT, packet));
        self.exchange();
        std::mem::take(&mut self.out)
    }

    fn exchange(&mut self) {
        loop {
            let there: Vec<_> = self.near.poll_packets().map(|(_, packet)| packet).collect();
            let back: Vec<_> = self.far.poll_packets().map(|(_, packet)| packet).collect();
            if there.is_empty() && back.is_empty() {
                return;
            }
            let passes = |it: &Packet| is_gre(it) || self.firewall.is_none_or(|port| !goes_to(it, port));
            for packet in there.into_iter().filter(passes) {
                self.crossed.push(packet.clone());
                if let Arrival::Inner(PORT, inner) = self.far.handle_packet(self.now, 0, packet) {
                    self.out.push(inner);
                }
            }
            for packet in back {
                self.near.handle_packet(self.now, 0, packet);
            }
        }
    }

    /// Whether the last packet crossed in GRE, as notices do.
    fn was_in_gre(&self) -> bool {
        self.crossed.iter().all(is_gre)
    }

    /// Sends a packet 100 ms later; whether it came out as it went in.
    fn passes(&mut self, packet: &Packet) -> bool {
        self.now = self.now + Duration::from_millis(100);
        self.send(packet.clone()) == std::slice::from_ref(packet)
    }
}

fn is_gre(packet: &Packet) -> bool {
    let at = if packet.data[12..14] == [8, 0] { 23 } else { 20 };
    packet.data[at] == 47
}

/// Whether a packet of TCP over IPv4 goes to a port.
fn goes_to(packet: &Packet, port: u16) -> bool {
    packet.data[12..14] == [8, 0] && packet.data[36..38] == port.to_be_bytes()
}

fn connection(v6: bool) -> FiveTuple {
    if v6 { tuple("fd00::1", "fd00::2") } else { tuple("10.0.0.1", "10.0.0.2") }
}

fn segment(tuple: FiveTuple, seq: u32, payload: usize) -> Packet {
    let frame = build::tcp(tuple).flags(TcpFlags::ACK).numbers(seq, 1);
    Packet::complete(frame.payload(&vec![seq as u8; payload]).frame())
}

fn syn(tuple: FiveTuple, mss: u16) -> Packet {
    let [high, low] = mss.to_be_bytes();
    Packet::complete(build::tcp(tuple).flags(TcpFlags::SYN).options(&[2, 4, high, low]).frame())
}

#[test]
fn segments_cross_with_the_tunnels_addresses_and_come_out_as_they_went_in() {
    for v6 in [false, true] {
        let (mut pair, tuple) = (Pair::agreed(v6), connection(v6));
        let opening = syn(tuple, if v6 { 1_440 } else { 1_460 });
        assert_eq!(pair.send(opening.clone()), [opening], "IPv6 {v6}: whole segments fit");
        assert!(pair.was_in_gre(), "offered only now");
        let full = segment(tuple, 7, if v6 { 1_440 } else { 1_460 });
        assert_eq!(pair.send(full.clone()), std::slice::from_ref(&full), "IPv6 {v6}");
        assert!(!pair.was_in_gre());
        let crossed = Frame::parse(&pair.crossed[0].data).unwrap();
        let Ends { src, dst } = ends(v6);
        assert_eq!(crossed.ip().map(|ip| (ip.src, ip.dst)), Some((src, dst)));
        assert_eq!(pair.crossed[0].data.len(), full.data.len());
    }
}

#[test]
fn the_time_to_live_is_restored_whatever_routers_took_of_it() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    let packet = segment(tuple, 1, 100);
    pair.send(packet.clone());
    assert!(pair.near.send(pair.now, PORT, packet.clone()));
    let mut frame = pair.near.poll_packets().next().unwrap().1;
    frame.data[22] -= 9;
    let (sum, carry) = u16::from_be_bytes([frame.data[24], frame.data[25]]).overflowing_add(9 << 8);
    frame.data[24..26].copy_from_slice(&(sum + u16::from(carry)).to_be_bytes());
    assert_eq!(pair.far.handle_packet(pair.now, 0, frame), Arrival::Inner(PORT, packet));
}

#[test]
fn gso_packets_stay_whole() {
    for v6 in [false, true] {
        let mut pair = Pair::agreed(v6);
        pair.send(segment(connection(v6), 0, 10));
        let mut packets = Sender { v6, tagged: false, seq: 10 }.segments(&[1_400, 1_400, 1_400, 700]);
        let gso = Coalesced::coalesce(&mut packets);
        let mut whole = packets[0].clone();
        packets[1..].iter().for_each(|it| whole.data.extend(&it.data[gso.headers..]));
        assert_eq!(pair.send(whole.clone()), [whole], "IPv6 {v6}");
        assert!(!pair.was_in_gre());
    }
}

#[test]
fn what_is_too_long_for_gre_crosses_in_two_parts_until_the_other_edge_has_accepted() {
    for v6 in [false, true] {
        let (mut pair, payload) = (Pair::agreed(v6), if v6 { 1_440 } else { 1_460 });
        let mut full = segment(connection(v6), 5, payload);
        full.data[800] ^= 1;
        assert_eq!(pair.send(full.clone()), [full], "IPv6 {v6}: as it was, though it is corrupted");
        assert!(pair.was_in_gre());
        assert_eq!(pair.crossed.len(), 3, "an offer and two parts");
        assert!(pair.crossed.iter().all(|it| it.data.len() <= 1_514));
        assert!(!pair.near.send(pair.now, PORT, segment(connection(v6), 5, payload + 1_500)));
    }
}

#[test]
fn ports_take_longer_segments_while_the_other_end_rewrites() {
    let length = |pair: &Pair| pair.near.ports(pair.now).next().map(|it| (it.mtu, it.segment_mtu));
    let mut pair = Pair::agreed(false);
    assert_eq!(length(&pair), Some((1_462, 1_500)));
    pair.far = ready(false, true);
    pair.later(Duration::from_secs(36));
    assert_eq!(length(&pair), Some((1_462, 0)));
}

#[test]
fn routers_that_take_less_are_heard_about_segments_too() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    pair.send(segment(tuple, 1, 1_460));
    pair.send(segment(tuple, 2, 1_460));
    let lost = pair.crossed.last().unwrap().data.clone();
    assert!(!is_gre(&pair.crossed[pair.crossed.len() - 1]));
    let told = |frame: &[u8]| Packet::complete(TooBig::answer(frame, 1_400).unwrap());
    let mut other = lost.clone();
    other[35] ^= 1;
    pair.near.handle_packet(pair.now, 0, told(&other));
    assert_eq!(pair.near.ports(pair.now).next().unwrap().segment_mtu, 1_500, "no such connection");
    assert_eq!(pair.near.handle_packet(pair.now, 0, told(&lost)), Arrival::Taken);
    assert!(!pair.near.send(pair.now, PORT, segment(tuple, 2, 1_460)));
    let fits = segment(tuple, 2, 1_360);
    assert_eq!(pair.send(fits.clone()), [fits]);
}

#[test]
fn two_connections_with_the_same_ports_are_told_apart() {
    let (mut pair, one) = (Pair::agreed(false), connection(false));
    let other = FiveTuple { src: "10.0.0.9".parse().unwrap(), ..one };
    let crosses_as_it_is = |pair: &mut Pair, tuple| {
        let packet = segment(tuple, 1, 100);
        assert_eq!(pair.send(packet.clone()), [packet]);
        !pair.was_in_gre()
    };
    let both = |pair: &mut Pair| [one, other].map(|tuple| crosses_as_it_is(pair, tuple));
    assert_eq!(both(&mut pair), [false, false], "the first is offered");
    assert_eq!(both(&mut pair), [true, false]);
    pair.later(Duration::from_secs(2));
    let packet = segment(other, 1, 100);
    assert_eq!(pair.send(packet.clone()), [packet], "the first is silent: the second is offered");
    assert_eq!(both(&mut pair), [false, true]);
}

#[test]
fn an_edge_that_knows_nothing_of_a_connection_says_so_and_it_is_offered_again() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    pair.send(segment(tuple, 1, 100));
    pair.send(segment(tuple, 2, 100));
    assert!(!pair.was_in_gre());
    pair.far = rewriting(false, true);
    assert!(pair.send(segment(tuple, 3, 100)).is_empty(), "lost");
    for (seq, in_gre) in [(3, true), (4, false)] {
        let packet = segment(tuple, seq, 100);
        assert_eq!(pair.send(packet.clone()), [packet]);
        assert_eq!(pair.was_in_gre(), in_gre);
    }
}

#[test]
fn a_connection_of_which_nothing_arrives_is_in_gre_and_tried_again_later() {
    let mut pair = Pair::agreed(false);
    let other = FiveTuple { dst_port: 25, ..connection(false) };
    let fine = |seq| segment(connection(false), seq, 100);
    pair.firewall = Some(25);
    let mut lost = 0;
    for seq in 0..100 {
        assert!(pair.passes(&fine(seq)), "{seq}");
        lost += u32::from(!pair.passes(&segment(other, seq, 100)));
    }
    assert!((3..=12).contains(&lost), "{lost} were lost, all of the first second");
    assert!(pair.passes(&fine(100)) && !pair.was_in_gre(), "other connections are not concerned");
    pair.firewall = None;
    (0..7).for_each(|_| pair.later(Duration::from_secs(10)));
    (0..3).for_each(|seq| assert!(pair.passes(&segment(other, seq, 100))));
    assert!(!pair.was_in_gre(), "the firewall is gone");
}

#[test]
fn a_connection_that_only_repeats_one_packet_is_in_gre_after_four() {
    let mut pair = Pair::agreed(false);
    pair.firewall = Some(5_201);
    let packet = segment(connection(false), 1, 100);
    pair.send(segment(connection(false), 0, 100));
    // The retransmission timeout doubles.
    let waits = [0, 200, 400, 800, 1_600];
    let arrived = waits.map(|wait| {
        pair.now = pair.now + Duration::from_millis(wait);
        pair.send(packet.clone()).len()
    });
    assert_eq!(arrived, [0, 0, 0, 0, 1]);
}

#[test]
fn behind_a_firewall_that_knows_no_such_connections_everything_is_in_gre_and_tried_again_later() {
    let mut pair = Pair::agreed(false);
    pair.firewall = Some(5_201);
    for src_port in 0..3 {
        let one = FiveTuple { src_port, ..connection(false) };
        (0..20).for_each(|seq| _ = pair.passes(&segment(one, seq, 100)));
    }
    let another = FiveTuple { src_port: 7, ..connection(false) };
    assert!((0..50).all(|seq| pair.passes(&segment(another, seq, 100))), "none is tried");
    assert_eq!(pair.send(syn(another, 1_460)), [syn(another, 1_460)], "the other end rewrites");
    pair.later(Duration::from_secs(10));
    let answer = syn(FiveTuple { src_port: 5_201, dst_port: 7, ..connection(false) }, 1_460);
    assert!(pair.far.send(pair.now, PORT, answer.clone()));
    let answer = pair.far.poll_packets().map(|(_, it)| pair.near.handle_packet(pair.now, 0, it)).last();
    let Some(Arrival::Inner(PORT, clamped)) = answer else { panic!("{answer:?}") };
    assert_eq!(clamped.data[56..58], 1_422_u16.to_be_bytes(), "segments to there are in GRE");
    pair.firewall = None;
    (0..7).for_each(|_| pair.later(Duration::from_secs(10)));
    assert!((0..3).all(|seq| pair.passes(&segment(another, seq, 100))));
    assert!(!pair.was_in_gre(), "the firewall is gone");
}

#[test]
fn an_edge_that_stops_rewriting_without_a_word_gets_everything_in_gre_after_three_seconds() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    (0..5).for_each(|seq| assert!(pair.passes(&segment(tuple, seq, 100))));
    pair.far = ready(false, true);
    let lost = (0..100).filter(|seq| !pair.passes(&segment(tuple, *seq, 100))).count();
    assert!((25..55).contains(&lost), "{lost}");
    assert!(pair.was_in_gre());
}

#[test]
fn resets_are_neither_rewritten_nor_restored() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    (0..3).for_each(|seq| _ = pair.send(segment(tuple, seq, 100)));
    let reset = |tuple| Packet::complete(build::tcp(tuple).flags(TcpFlags::RST).numbers(9, 0).frame());
    assert_eq!(pair.send(reset(tuple)), [reset(tuple)]);
    assert!(pair.was_in_gre());
    // What a firewall on the way would make of a packet.
    let FiveTuple { src_port, dst_port, .. } = tuple;
    let strange = FiveTuple { src_port, dst_port, ..crate::bench::tuple("192.0.2.6", "192.0.2.70") };
    assert_eq!(pair.far.handle_packet(pair.now, 0, reset(strange)), Arrival::Taken);
}

#[test]
fn a_tunnel_that_was_interrupted_goes_on_as_before() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    (0..20).for_each(|seq| _ = pair.send(segment(tuple, seq, 100)));
    for seq in 20..40 {
        pair.now = pair.now + Duration::from_millis(100);
        assert!(pair.near.send(pair.now, PORT, segment(tuple, seq, 100)));
        pair.near.poll_packets().for_each(drop);
    }
    for seq in 40..80 {
        pair.now = pair.now + Duration::from_millis(100);
        let packet = segment(tuple, seq, 100);
        assert_eq!(pair.send(packet.clone()), [packet]);
        assert!(!pair.was_in_gre(), "{seq}");
    }
}

#[test]
fn an_edge_that_does_not_rewrite_gets_everything_in_gre() {
    let mut pair = Pair::new(rewriting(false, false), ready(false, true));
    pair.later(Duration::ZERO);
    let tuple = connection(false);
    assert_eq!(pair.send(syn(tuple, 1_460)), [syn(tuple, 1_422)]);
    for seq in 0..20 {
        pair.later(Duration::from_secs(1));
        let packet = segment(tuple, seq, 1_422);
        assert_eq!(pair.send(packet.clone()), [packet]);
        assert!(pair.was_in_gre());
    }
}

#[test]
fn an_edge_that_falls_silent_counts_as_one_that_does_not_rewrite() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    pair.send(segment(tuple, 0, 10));
    pair.far = ready(false, true);
    pair.later(Duration::from_secs(36));
    assert_eq!(pair.send(syn(tuple, 1_460)), [syn(tuple, 1_422)]);
    assert!(pair.was_in_gre());
}

#[test]
fn what_could_not_be_restored_or_would_fare_worse_on_the_way_is_in_gre() {
    let tuple = connection(false);
    let changed = |change: fn(&mut Vec<u8>)| {
        let mut packet = segment(tuple, 1, 100);
        change(&mut packet.data);
        packet
    };
    // The checksum of the header stays right.
    let low = changed(|data| (data[22], data[18]) = (31, data[18].wrapping_add(33)));
    let may_be_fragmented = changed(|data| (data[20], data[18]) = (0, data[18].wrapping_add(0x40)));
    let corrupted_header = changed(|data| data[24] ^= 1);
    let with_options = changed(|data| {
        data.splice(34..34, [1, 1, 1, 0]);
        data[14] = 0x46;
        data[17] += 4;
    });
    let tagged = changed(|data| VlanTag { id: 42, pcp: 0, dei: false }.push(data));
    let other_family = segment(connection(true), 1, 100);
    let other_protocol = changed(|data| data[23] = 17);
    let others = [corrupted_header, with_options, tagged, other_family, other_protocol];
    for packet in [low, may_be_fragmented].into_iter().chain(others) {
        let mut pair = Pair::agreed(false);
        for _ in 0..3 {
            assert_eq!(pair.send(packet.clone()), std::slice::from_ref(&packet));
            assert!(pair.was_in_gre());
        }
    }
}

#[test]
fn connections_without_end_take_no_more_room_than_there_is() {
    let mut pair = Pair::agreed(false);
    for port in 0..5_000 {
        let packet = segment(FiveTuple { src_port: port, ..connection(false) }, 1, 10);
        assert_eq!(pair.send(packet.clone()), [packet]);
    }
    let crosses = |pair: &mut Pair, src_port| {
        let packet = segment(FiveTuple { src_port, ..connection(false) }, 2, 10);
        assert_eq!(pair.send(packet.clone()), [packet]);
        !pair.was_in_gre()
    };
    assert!(crosses(&mut pair, 4_000) && !crosses(&mut pair, 4_999));
    (0..7).for_each(|_| pair.later(Duration::from_secs(10)));
    crosses(&mut pair, 4_999);
    assert!(crosses(&mut pair, 4_999), "the others are silent");
}

#[test]
fn only_the_other_end_is_believed() {
    let mut pair = Pair::agreed(false);
    let packet = segment(connection(false), 1, 100);
    pair.send(packet.clone());
    assert!(pair.near.send(pair.now, PORT, packet));
    let mut strange = pair.near.poll_packets().next().unwrap().1;
    strange.data[29] ^= 1;
    let arrival = pair.far.handle_packet(pair.now, 0, strange.clone());
    assert_eq!(arrival, Arrival::Other(strange));
}

proptest! {
    #[test]
    fn no_notice_is_too_strange(
        kind in 0..6_u8,
        notice in prop::collection::vec(any::<u8>(), 0..80),
        ports in any::<(u16, u16)>(),
    ) {
        let mut pair = Pair::agreed(false);
        let mut ip = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 47, 0, 0, 192, 0, 2, 70, 192, 0, 2, 6];
        let length = 20 + 4 + 2 + notice.len() as u16;
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        let frame = [&[0; 12][..], &[8, 0], &ip, &[0, 0, 0x88, 0xb5, 1, kind], &notice].concat();
        prop_assert_eq!(pair.near.handle_packet(pair.now, 0, Packet::complete(frame)), Arrival::Taken);
        let (src_port, dst_port) = ports;
        let packet = segment(FiveTuple { src_port, dst_port, ..connection(false) }, 1, 100);
        prop_assert_eq!(pair.send(packet.clone()), vec![packet]);
        let mut strange = segment(FiveTuple { src_port, dst_port, ..tuple("192.0.2.70", "192.0.2.6") }, 1, 100);
        strange.offload = Offload { checksum_valid: true, ..Offload::default() };
        pair.near.handle_packet(pair.now, 0, strange);
    }
}
