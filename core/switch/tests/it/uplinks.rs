//! Uplinks with addresses: routers next to them are answered and asked, and tunnels pass frames between two edges.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use braid_edge_protocol::Ends;
use braid_packet::arp::{Arp, ArpOp};
use braid_packet::nd::{Endpoint, NdMessage, NeighborAdvertisement, NeighborSolicitation};
use braid_packet::{Frame, Payload, TcpFlags, Transport, build};
use braid_switch::{
    Arrival, Coalesced, Offload, Packet, TunnelSettings, UplinkAddress, UplinkError, UplinkSettings, Uplinks,
};
use braid_types::{MacAddr, PortNo, Time};
use proptest::prelude::*;

use crate::bench::{NOW, tcp_v4, tuple};
use crate::coalescing::Sender;

const EDGE: MacAddr = MacAddr::new([2, 0, 0, 0, 1, 1]);
const ROUTER: MacAddr = MacAddr::new([2, 0, 0, 0, 2, 2]);
pub(crate) const PORT: PortNo = PortNo(2);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 5);
const OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 6);

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn uplink(own: &str, prefix: u8, gateway: Option<&str>) -> UplinkAddress {
    UplinkAddress::new(ip(own), prefix, gateway.map(ip)).expect("a prefix that fits")
}

fn near_addresses() -> [UplinkAddress; 2] {
    [uplink("192.0.2.6", 30, Some("192.0.2.5")), uplink("2001:db8::6", 64, Some("fe80::5"))]
}

pub(crate) fn ends(v6: bool) -> Ends {
    let (src, dst) = if v6 { ("2001:db8::6", "2001:db8:1::6") } else { ("192.0.2.6", "192.0.2.70") };
    Ends { src: ip(src), dst: ip(dst) }
}

/// The edge with the first of the ends, or the other one; up, and asked for by nobody.
fn edge(v6: bool, other: bool) -> Uplinks {
    edge_that(v6, other, false)
}

fn edge_that(v6: bool, other: bool, rewrites: bool) -> Uplinks {
    let far = [uplink("192.0.2.70", 30, Some("192.0.2.69")), uplink("2001:db8:1::6", 64, Some("fe80::5"))];
    let addresses = if other { far } else { near_addresses() };
    let Ends { src, dst } = ends(v6);
    let ends = if other { Ends { src: dst, dst: src } } else { Ends { src, dst } };
    let settings = UplinkSettings { addresses: addresses.into() };
    let mut uplinks = Uplinks::new(&[settings], &[TunnelSettings { port: PORT, ends, rewrites }]).unwrap();
    uplinks.set_device(0, EDGE, 1_500, true);
    uplinks
}

/// The same, that knows its router.
pub(crate) fn ready(v6: bool, other: bool) -> Uplinks {
    ready_that(v6, other, false)
}

/// The same, and it rewrites.
pub(crate) fn rewriting(v6: bool, other: bool) -> Uplinks {
    ready_that(v6, other, true)
}

fn ready_that(v6: bool, other: bool, rewrites: bool) -> Uplinks {
    let mut uplinks = edge_that(v6, other, rewrites);
    let gateway = if other { "192.0.2.69" } else { "192.0.2.5" };
    let here = if other { "192.0.2.70" } else { "192.0.2.6" };
    let arp = Arp::request(ROUTER, gateway.parse().unwrap(), here.parse().unwrap());
    assert_eq!(uplinks.handle_packet(NOW, 0, Packet::complete(arp.frame())), Arrival::Taken);
    let link_local: Ipv6Addr = "fe80::5".parse().unwrap();
    let told = NeighborAdvertisement {
        target: link_local,
        target_mac: Some(ROUTER),
        router: true,
        solicited: true,
        overrides: true,
    };
    let own: Ipv6Addr = "2001:db8::6".parse().unwrap();
    let from = Endpoint { mac: ROUTER, ip: link_local };
    let frame = told.frame(from, Endpoint { mac: EDGE, ip: own });
    assert_eq!(uplinks.handle_packet(NOW, 0, Packet::complete(frame)), Arrival::Taken);
    uplinks.poll_packets().for_each(drop);
    uplinks
}

pub(crate) fn sent(uplinks: &mut Uplinks) -> Vec<Vec<u8>> {
    uplinks.poll_packets().map(|(_, packet)| packet.data).collect()
}

/// What comes out at the other edge.
pub(crate) fn through(near: &mut Uplinks, far: &mut Uplinks, packet: Packet) -> Vec<Vec<u8>> {
    assert!(near.send(NOW, PORT, packet));
    let frames = sent(near);
    assert!(frames.iter().all(|frame| frame[..12] == [ROUTER.octets(), EDGE.octets()].concat()));
    let arrivals = frames.into_iter().map(|frame| far.handle_packet(NOW, 0, Packet::complete(frame)));
    arrivals
        .map(|arrival| match arrival {
            Arrival::Inner(PORT, packet) => packet.data,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_router_that_asks_for_an_uplinks_address_is_answered_and_others_are_not() {
    let mut uplinks = edge(false, false);
    let asked = Arp::request(ROUTER, GATEWAY, OWN);
    assert_eq!(uplinks.handle_packet(NOW, 0, Packet::complete(asked.frame())), Arrival::Taken);
    let answers = sent(&mut uplinks);
    let answer = Frame::parse(&answers[0]).unwrap();
    let Payload::Arp(arp) = answer.payload else { panic!("{answer:?}") };
    assert_eq!((arp.op, arp.sender_mac, arp.sender_ip), (ArpOp::Reply, EDGE, OWN));
    assert_eq!((answer.dst, arp.target_ip), (ROUTER, GATEWAY));
    let other = Packet::complete(Arp::request(ROUTER, GATEWAY, Ipv4Addr::new(192, 0, 2, 7)).frame());
    assert_eq!(uplinks.handle_packet(NOW, 0, other.clone()), Arrival::Other(other));
    assert!(sent(&mut uplinks).is_empty());
}

#[test]
fn a_router_that_solicits_an_uplinks_address_is_told() {
    let mut uplinks = edge(true, false);
    let target: Ipv6Addr = "2001:db8::6".parse().unwrap();
    let from = Endpoint { mac: ROUTER, ip: "fe80::5".parse().unwrap() };
    let asked = NeighborSolicitation { target, source_mac: Some(ROUTER) };
    assert_eq!(uplinks.handle_packet(NOW, 0, Packet::complete(asked.frame(from))), Arrival::Taken);
    let answers = sent(&mut uplinks);
    let answer = Frame::parse(&answers[0]).unwrap();
    let Some(Transport::Icmpv6(NdMessage::Advertisement(told))) = answer.ip().map(|ip| &ip.transport) else {
        panic!("{answer:?}")
    };
    assert_eq!(
        (told.target, told.target_mac, told.solicited, told.router),
        (target, Some(EDGE), true, false)
    );
    assert_eq!(answer.dst, ROUTER);
    let other = NeighborSolicitation { target: "2001:db8::7".parse().unwrap(), source_mac: Some(ROUTER) };
    let other = Packet::complete(other.frame(from));
    assert_eq!(uplinks.handle_packet(NOW, 0, other.clone()), Arrival::Other(other));
}

#[test]
fn next_hops_are_asked_for_every_second_until_they_answer_and_then_the_tunnel_is_up() {
    let mut uplinks = edge(false, false);
    let up = |uplinks: &Uplinks| uplinks.ports(NOW).map(|it| (it.number, it.is_up)).collect::<Vec<_>>();
    assert_eq!(up(&uplinks), [(PORT, false)]);
    for second in 0..3 {
        let now = Time::from_millis(second * 1_000);
        assert!(uplinks.poll_timeout().is_some_and(|next| next <= now));
        uplinks.handle_timeout(now);
        let asked = sent(&mut uplinks);
        assert_eq!(asked.len(), 2, "the gateways of both families");
        uplinks.handle_timeout(now + Duration::from_millis(900));
        assert!(sent(&mut uplinks).is_empty());
    }
    assert!(!uplinks.send(NOW, PORT, Packet::complete(tcp_v4(0))), "nobody passes it on");
    let Payload::Arp(asked) = Frame::parse(&Arp::request(EDGE, OWN, GATEWAY).frame()).unwrap().payload else {
        panic!()
    };
    uplinks.handle_packet(NOW, 0, Packet::complete(asked.reply(ROUTER).frame()));
    assert_eq!(up(&uplinks), [(PORT, true)]);
    uplinks.set_device(0, EDGE, 1_500, false);
    assert_eq!(up(&uplinks), [(PORT, false)]);
    assert_eq!(uplinks.poll_timeout(), None, "nobody is asked for by an interface that is down");
}

#[test]
fn a_group_and_strangers_are_no_next_hops() {
    let mut uplinks = edge(false, false);
    let group = MacAddr::new([3, 0, 0, 0, 0, 1]);
    for (mac, address) in [(group, GATEWAY), (MacAddr::ZERO, GATEWAY), (ROUTER, Ipv4Addr::new(192, 0, 2, 7))]
    {
        uplinks.handle_packet(NOW, 0, Packet::complete(Arp::request(mac, address, OWN).frame()));
    }
    assert!(uplinks.ports(NOW).all(|it| !it.is_up));
}

#[test]
fn frames_come_out_of_a_tunnel_as_they_went_in() {
    for v6 in [false, true] {
        let (mut near, mut far) = (ready(v6, false), ready(v6, true));
        let arp = Arp::request(ROUTER, GATEWAY, OWN).frame();
        for frame in
            [tcp_v4(7), arp, [&[1, 0x80, 0xc2, 0, 0, 0xe], &[2; 6][..], &[0x88, 0xcc], &[5; 46]].concat()]
        {
            assert_eq!(through(&mut near, &mut far, Packet::complete(frame.clone())), [frame], "IPv6 {v6}");
        }
        assert!(!near.is_tunnel(PortNo(1)) && near.is_tunnel(PORT));
        assert!(!near.send(NOW, PortNo(1), Packet::complete(tcp_v4(0))));
        let room = if v6 { 1_456 } else { 1_476 };
        assert_eq!(through(&mut near, &mut far, Packet::complete(vec![0; room])), [vec![0; room]]);
        for length in [room + 1, 70_000] {
            assert!(
                !near.send(NOW, PORT, Packet::complete(vec![0; length])),
                "{length} bytes do not pass the uplink"
            );
            assert!(sent(&mut near).is_empty());
        }
    }
}

#[test]
fn super_frames_of_tcp_are_cut_into_what_their_sender_would_have_sent() {
    for (v6, tagged) in [(false, false), (true, false), (false, true)] {
        let (mut near, mut far) = (ready(false, false), ready(false, true));
        let mut packets = Sender { v6, tagged, seq: u32::MAX - 3_000 }.segments(&[1_200, 1_200, 1_200, 700]);
        let wanted: Vec<_> = packets.iter().map(|packet| packet.data.clone()).collect();
        let gso = Coalesced::coalesce(&mut packets);
        assert_eq!(gso.packets, 4);
        let mut whole = packets[0].clone();
        packets[1..].iter().for_each(|it| whole.data.extend(&it.data[gso.headers..]));
        assert_eq!(through(&mut near, &mut far, whole), wanted, "IPv6 {v6}, tagged {tagged}");
    }
    let unknown = Offload { gso_type: 77, gso_size: 500, ..Offload::default() };
    assert!(!ready(false, false).send(NOW, PORT, Packet { data: tcp_v4(0), offload: unknown }));
}

#[test]
fn connections_are_told_of_segments_that_fit_and_shorter_ones_stay() {
    let syn = |v6: bool, options: &[u8]| {
        let tuple = if v6 { tuple("fd00::1", "fd00::2") } else { tuple("10.0.0.1", "10.0.0.2") };
        build::tcp(tuple).flags(TcpFlags::SYN).numbers(1, 0).options(options).frame()
    };
    // 1500, less 20 or 40 of IP, 4 of GRE, 14 of Ethernet, 20 or 40 of IP, 20 of TCP.
    for (outer, inner, most) in [(false, false, 1_422_u16), (false, true, 1_402), (true, true, 1_382)] {
        let (mut near, mut far) = (ready(outer, false), ready(outer, true));
        let [high, low] = most.to_be_bytes();
        for (before, wanted) in [
            (vec![2, 4, 0x05, 0xb4, 1, 1], vec![2, 4, high, low, 1, 1]),
            (vec![1, 2, 4, 0x05, 0xb4], vec![1, 2, 4, high, low]),
            (vec![4, 2, 3, 3, 7, 2, 4, 0x23, 0x00], vec![4, 2, 3, 3, 7, 2, 4, high, low]),
            (vec![2, 4, 0x02, 0x18], vec![2, 4, 0x02, 0x18]),
            (vec![1, 1], vec![1, 1]),
        ] {
            let out = through(&mut near, &mut far, Packet::complete(syn(inner, &before)));
            assert_eq!(out, [syn(inner, &wanted)], "{before:?}");
        }
    }
}

#[test]
fn segments_fit_through_the_narrowest_of_all_tunnels() {
    let settings = UplinkSettings { addresses: near_addresses().into() };
    let tunnels = [(PORT, false), (PortNo(3), true)].map(|(port, v6)| TunnelSettings {
        port,
        ends: ends(v6),
        rewrites: false,
    });
    let mut near = Uplinks::new(&[settings], &tunnels).unwrap();
    near.set_device(0, EDGE, 1_500, true);
    near.handle_packet(NOW, 0, Packet::complete(Arp::request(ROUTER, GATEWAY, OWN).frame()));
    near.poll_packets().for_each(drop);
    let syn = |mss: [u8; 2]| {
        let options = [2, 4, mss[0], mss[1]];
        build::tcp(tuple("10.0.0.1", "10.0.0.2")).flags(TcpFlags::SYN).options(&options).frame()
    };
    let out = through(&mut near, &mut ready(false, true), Packet::complete(syn([0x05, 0xb4])));
    assert_eq!(out, [syn(1_402_u16.to_be_bytes())], "as if it went by the IPv6 tunnel");
}

#[test]
fn what_is_not_from_the_other_end_is_nobodys() {
    let (mut near, mut far) = (ready(false, false), ready(false, true));
    assert!(near.send(NOW, PORT, Packet::complete(tcp_v4(0))));
    let frame = sent(&mut near).remove(0);
    for (place, value) in [(29, 9), (33, 9)] {
        let mut strange = frame.clone();
        strange[place] = value;
        assert_eq!(far.handle_packet(NOW, 0, Packet::complete(strange)), Arrival::Taken, "ends");
    }
    for (place, value) in [(34, 0x20), (36, 8), (20, 0x20), (23, 4), (14, 0x41)] {
        let mut strange = frame.clone();
        strange[place] = value;
        let arrival = far.handle_packet(NOW, 0, Packet::complete(strange));
        assert!(matches!(arrival, Arrival::Other(_)), "{place}: {arrival:?}");
    }
    for length in 0..frame.len() {
        let arrival = far.handle_packet(NOW, 0, Packet::complete(frame[..length].to_vec()));
        assert!(matches!(arrival, Arrival::Other(_)), "{length} bytes");
    }
}

#[test]
fn one_next_to_an_uplink_gets_an_echo_and_one_farther_away_does_not() {
    let mut uplinks = edge(false, false);
    let header = |src: Ipv4Addr| {
        let mut ip = [0x45, 0, 0, 36, 0, 0, 0, 0, 64, 1, 0, 0].to_vec();
        ip.extend(src.octets().into_iter().chain(OWN.octets()));
        let sum = !folded(&ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        ip
    };
    let mut icmp = vec![8, 0, 0, 0, 0, 7, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8];
    let sum = !folded(&icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    let ethernet = [&EDGE.octets()[..], &ROUTER.octets(), &[8, 0]].concat();
    let asked = |src| Packet::complete([&ethernet[..], &header(src), &icmp].concat());
    assert_eq!(uplinks.handle_packet(NOW, 0, asked(GATEWAY)), Arrival::Taken);
    let answer = sent(&mut uplinks).remove(0);
    assert_eq!(answer[..12], [ROUTER.octets(), EDGE.octets()].concat());
    assert_eq!((&answer[26..30], &answer[30..34]), (&OWN.octets()[..], &GATEWAY.octets()[..]));
    assert_eq!((answer[34], folded(&answer[14..34]), folded(&answer[34..])), (0, 0xffff, 0xffff));
    let farther = asked(Ipv4Addr::new(198, 51, 100, 1));
    assert_eq!(uplinks.handle_packet(NOW, 0, farther.clone()), Arrival::Other(farther));
}

#[test]
fn what_flows_write_an_uplinks_address_into_goes_to_its_router() {
    let uplinks = ready(false, false);
    let mut packet = Packet::complete(build::tcp(tuple("192.0.2.6", "192.0.2.70")).frame());
    assert!(uplinks.address(0, &mut packet));
    assert_eq!(packet.data[..12], [ROUTER.octets(), EDGE.octets()].concat());
    let (before, mut others) = (Packet::complete(tcp_v4(0)), Packet::complete(tcp_v4(0)));
    assert!(uplinks.address(0, &mut others));
    assert_eq!(others, before, "what is from others stays");
    let mut unknown = Packet::complete(build::tcp(tuple("192.0.2.6", "192.0.2.70")).frame());
    assert!(!edge(false, false).address(0, &mut unknown), "nobody passes it on");
}

#[test]
fn uplinks_that_contradict_each_other_are_refused() {
    let new = |addresses: &[UplinkAddress], ends: &[(&str, &str)]| {
        let tunnels = ends.iter().zip(2..).map(|((src, dst), port)| {
            let ends = Ends { src: ip(src), dst: ip(dst) };
            TunnelSettings { port: PortNo(port), ends, rewrites: false }
        });
        let settings = UplinkSettings { addresses: addresses.to_vec() };
        Uplinks::new(&[settings], &tunnels.collect::<Vec<_>>()).map(drop)
    };
    let own = near_addresses();
    assert_eq!(new(&own, &[("192.0.2.6", "192.0.2.70")]), Ok(()));
    assert_eq!(new(&[own[0], own[0]], &[]), Err(UplinkError::SameAddress(OWN.into())));
    let strange = uplink("192.0.2.6", 30, Some("192.0.2.9"));
    assert_eq!(new(&[strange], &[]), Err(UplinkError::Gateway(OWN.into(), ip("192.0.2.9"))));
    let alone = uplink("192.0.2.6", 30, None);
    assert_eq!(new(&[alone], &[("192.0.2.6", "192.0.2.5")]), Ok(()), "next to each other");
    let no_way = UplinkError::NoWay(OWN.into(), ip("192.0.2.70"));
    assert_eq!(new(&[alone], &[("192.0.2.6", "192.0.2.70")]), Err(no_way));
    assert_eq!(new(&own, &[("192.0.2.9", "192.0.2.70")]), Err(UplinkError::NotOurs(ip("192.0.2.9"))));
    let twice = [("192.0.2.6", "192.0.2.70"); 2];
    assert_eq!(new(&own, &twice), Err(UplinkError::SameEnds(OWN.into(), ip("192.0.2.70"))));
}

fn folded(bytes: &[u8]) -> u16 {
    let mut sum: u32 =
        bytes.chunks(2).map(|it| u32::from(it[0]) << 8 | u32::from(*it.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

proptest! {
    #[test]
    fn no_frame_that_comes_or_leaves_is_too_strange(
        mut frame in prop::collection::vec(any::<u8>(), 0..120),
        start in 0..4_usize,
        offload in any::<[u8; Offload::LEN]>(),
    ) {
        let mut uplinks = ready(false, false);
        let begins: [&[u8]; 4] = [&[], &[8, 0, 0x45], &[0x86, 0xdd, 0x60], &[8, 6]];
        for (place, byte) in begins[start].iter().enumerate() {
            if let Some(it) = frame.get_mut(12 + place) {
                *it = *byte;
            }
        }
        let mut packet = Packet { data: frame, offload: Offload::from_bytes(offload) };
        uplinks.handle_packet(NOW, 0, packet.clone());
        uplinks.address(0, &mut packet);
        uplinks.send(NOW, PORT, packet);
    }
}
