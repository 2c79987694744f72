//! Which packets cross without GRE, and that all come out as they went in.

use braid_edge_protocol::Ends;
use braid_packet::{Frame, VlanTag};
use braid_switch::{Coalesced, Offload};
use proptest::prelude::*;

use super::*;
use crate::coalescing::Sender;
use crate::uplinks::{ends, ready};

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
