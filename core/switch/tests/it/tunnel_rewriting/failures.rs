//! Firewalls, interruptions, and edges that restart or do not rewrite.

use braid_packet::TooBig;

use super::*;
use crate::uplinks::ready;

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
