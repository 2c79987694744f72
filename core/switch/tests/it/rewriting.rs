//! Rewritten headers: checksums, whole and offloaded, VLAN tags and time to live.

use braid_openflow::{Action, EthType, OxmField, VlanVid};
use braid_packet::{TcpFlags, VlanTag, build};
use braid_switch::{Offload, Packet};
use braid_types::{FiveTuple, PortNo};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::bench::{Bench, output, tcp_v4, tuple};

fn frame(tuple: FiveTuple, payload: &[u8]) -> Vec<u8> {
    build::tcp(tuple).flags(TcpFlags::ACK).numbers(9, 9).payload(payload).frame()
}

/// What turns the flow `from` into `to`.
fn rewrite(to: FiveTuple) -> Vec<Action<'static>> {
    let ports = [OxmField::TcpSrc(to.src_port.into()), OxmField::TcpDst(to.dst_port.into())];
    let addresses = match (to.src, to.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => [OxmField::Ipv4Src(src.into()), OxmField::Ipv4Dst(dst.into())],
        (IpAddr::V6(src), IpAddr::V6(dst)) => [OxmField::Ipv6Src(src.into()), OxmField::Ipv6Dst(dst.into())],
        _ => panic!("one family"),
    };
    let sets = addresses.into_iter().chain(ports).map(Action::SetField);
    sets.chain([output(2)]).collect()
}

fn v4(src: u32, dst: u32, src_port: u16, dst_port: u16) -> FiveTuple {
    FiveTuple {
        src: Ipv4Addr::from_bits(src).into(),
        dst: Ipv4Addr::from_bits(dst).into(),
        src_port,
        dst_port,
    }
}

fn v6(src: u128, dst: u128, src_port: u16, dst_port: u16) -> FiveTuple {
    FiveTuple {
        src: Ipv6Addr::from_bits(src).into(),
        dst: Ipv6Addr::from_bits(dst).into(),
        src_port,
        dst_port,
    }
}

fn pair() -> impl Strategy<Value = (FiveTuple, FiveTuple)> {
    let four =
        || (any::<u32>(), any::<u32>(), any::<u16>(), any::<u16>()).prop_map(|(a, b, c, d)| v4(a, b, c, d));
    let six =
        || (any::<u128>(), any::<u128>(), any::<u16>(), any::<u16>()).prop_map(|(a, b, c, d)| v6(a, b, c, d));
    prop_oneof![(four(), four()), (six(), six())]
}

proptest! {
    #[test]
    fn a_rewritten_flow_is_as_if_it_had_been_sent_so(
        (from, to) in pair(), payload in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bench = Bench::new();
        bench.all_do(&rewrite(to));
        prop_assert_eq!(bench.passes(1, &frame(from, &payload)), [(2, frame(to, &payload))]);
    }

    #[test]
    fn a_checksum_left_to_the_network_card_is_right_after_rewriting(
        (from, to) in pair(), payload in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bench = Bench::new();
        bench.all_do(&rewrite(to));
        let packet = left_to_the_card(frame(from, &payload));
        bench.switch.handle_packet(bench.now, PortNo(1), packet);
        let (_, mut packet) = bench.switch.poll_packets().next().unwrap();
        prop_assert!(packet.offload.needs_checksum);
        packet.finish_checksum();
        prop_assert_eq!(packet.data, frame(to, &payload));
    }
}

/// As a sender leaves it: the checksum is only the sum of the pseudo-header.
fn left_to_the_card(data: Vec<u8>) -> Packet {
    let start = if data[12..14] == [0x86, 0xdd] { 54 } else { 34 };
    let offload = Offload { needs_checksum: true, csum_start: start, csum_offset: 16, ..Offload::default() };
    let (at, length) = (usize::from(start), data.len() - usize::from(start));
    let addresses = if start == 54 { &data[22..54] } else { &data[26..34] };
    let words = addresses.chunks(2).map(|it| u32::from(u16::from_be_bytes([it[0], it[1]])));
    let mut sum = words.sum::<u32>() + 6 + length as u32;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let mut packet = Packet { data, offload };
    packet.data[at + 16..at + 18].copy_from_slice(&(sum as u16).to_be_bytes());
    packet
}

#[test]
fn tags_are_put_on_and_taken_off_with_what_is_left_to_the_card() {
    let mut bench = Bench::new();
    let vid = Action::SetField(OxmField::VlanVid(VlanVid::tagged(42).into()));
    bench.all_do(&[Action::PushVlan(EthType::VLAN), vid, Action::SetField(OxmField::VlanPcp(5)), output(2)]);
    let plain = left_to_the_card(tcp_v4(0));
    bench.switch.handle_packet(bench.now, PortNo(1), plain.clone());
    let (_, tagged) = bench.switch.poll_packets().next().unwrap();
    assert_eq!(tagged.offload.csum_start, plain.offload.csum_start + 4);
    let mut expected = plain.data.clone();
    VlanTag { id: 42, pcp: 5, dei: false }.push(&mut expected);
    assert_eq!(tagged.data, expected);
    bench.all_do(&[Action::PopVlan, output(3)]);
    bench.switch.handle_packet(bench.now, PortNo(1), tagged);
    assert_eq!(bench.switch.poll_packets().next(), Some((PortNo(3), plain)));
}

#[test]
fn time_to_live_is_counted_down_until_it_is_over() {
    for tuple in [tuple("10.0.0.1", "10.0.0.2"), tuple("fd00::1", "fd00::2")] {
        let mut bench = Bench::new();
        bench.all_do(&[Action::DecNwTtl, output(2)]);
        let (mut data, mut passed) = (frame(tuple, &[]), 0);
        while let Some((2, next)) = bench.passes(1, &data).pop() {
            (data, passed) = (next, passed + 1);
            let header: u32 =
                data[14..34].chunks(2).map(|it| u32::from(u16::from_be_bytes([it[0], it[1]]))).sum();
            assert!(tuple.src.is_ipv6() || header.is_multiple_of(0xffff), "the header's checksum is wrong");
        }
        assert_eq!(passed, 63);
        assert_eq!(bench.heard().len(), 1, "the controller hears of it");
    }
}

#[test]
fn what_a_packet_does_not_have_is_not_written() {
    let mut bench = Bench::new();
    bench.all_do(&rewrite(tuple("10.9.9.9", "10.9.9.8")));
    let arp = [&[0xff; 6][..], &[2; 6], &[8, 6], &[0; 46]].concat();
    assert_eq!(bench.passes(1, &arp), [(2, arp)]);
}
