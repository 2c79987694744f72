//! TCP through tunnels with the tunnels' addresses: two edges agree on it, and packets come out as they went in.

use std::time::Duration;

use braid_edge_protocol::Ends;
use braid_packet::{Frame, TcpFlags, VlanTag, build};
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
    /// Whether what is not in GRE is lost on the way.
    firewall: bool,
    /// The frames of the near edge that reached the other, and what came out there.
    crossed: Vec<Packet>,
    out: Vec<Packet>,
}

impl Pair {
    fn new(near: Uplinks, far: Uplinks) -> Self {
        Self { near, far, now: NOW, firewall: false, crossed: Vec::new(), out: Vec::new() }
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
            for packet in there.into_iter().filter(|it| !self.firewall || is_gre(it)) {
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

    /// Whether the last packet crossed in GRE.
    fn was_in_gre(&self) -> bool {
        self.crossed.first().is_some_and(is_gre)
    }
}

fn is_gre(packet: &Packet) -> bool {
    let at = if packet.data[12..14] == [8, 0] { 23 } else { 20 };
    packet.data[at] == 47
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
fn what_is_too_long_for_gre_is_cut_until_the_other_edge_has_accepted() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    let parts = pair.send(segment(tuple, 5, 1_460));
    assert!(pair.was_in_gre());
    let payloads = parts.iter().map(|part| &part.data[54..]);
    assert_eq!(payloads.clone().map(<[u8]>::len).collect::<Vec<_>>(), [1_422, 38]);
    assert!(payloads.flatten().all(|byte| *byte == 5));
    assert!(parts.iter().all(|part| Frame::parse(&part.data).is_ok() && part.offload.gso_type == 0));
}

#[test]
fn a_corrupted_segment_gets_no_checksum_that_is_right() {
    let mut pair = Pair::agreed(false);
    let mut packet = segment(connection(false), 5, 1_460);
    packet.data[700] ^= 1;
    assert!(!pair.near.send(pair.now, PORT, packet), "it would have to be cut");
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
fn behind_a_firewall_that_knows_no_such_connections_everything_is_in_gre_and_tried_again_later() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    pair.firewall = true;
    let arrives = |pair: &mut Pair, seq| {
        pair.now = pair.now + Duration::from_millis(100);
        let packet = segment(tuple, seq, 100);
        pair.send(packet.clone()) == [packet]
    };
    let lost = (0..60).filter(|seq| !arrives(&mut pair, *seq)).count();
    assert!((10..25).contains(&lost), "{lost} were lost, all of the first seconds");
    assert!((60..70).all(|seq| arrives(&mut pair, seq)));
    pair.firewall = false;
    (0..7).for_each(|_| pair.later(Duration::from_secs(10)));
    assert!((70..80).all(|seq| arrives(&mut pair, seq)));
    assert!(!pair.was_in_gre(), "the firewall is gone");
}

#[test]
fn a_tunnel_that_was_interrupted_goes_on_as_before() {
    let (mut pair, tuple) = (Pair::agreed(false), connection(false));
    (0..20).for_each(|seq| _ = pair.send(segment(tuple, seq, 100)));
    for seq in 20..50 {
        pair.now = pair.now + Duration::from_millis(100);
        assert!(pair.near.send(pair.now, PORT, segment(tuple, seq, 100)));
        pair.near.poll_packets().for_each(drop);
    }
    for seq in 50..80 {
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
    let low = changed(|data| data[22] = 31);
    let may_be_fragmented = changed(|data| data[20] = 0);
    let tagged = changed(|data| VlanTag { id: 42, pcp: 0, dei: false }.push(data));
    let other_family = segment(connection(true), 1, 100);
    let other_protocol = changed(|data| data[23] = 17);
    for packet in [low, may_be_fragmented, tagged, other_family, other_protocol] {
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
