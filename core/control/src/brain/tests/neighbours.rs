//! Probes of known neighbours by hosts, with a controller and without.

use std::net::{IpAddr, Ipv4Addr};

use braid_packet::TcpFlags;
use braid_packet::arp::{Arp, ArpOp};
use braid_packet::nd::{Endpoint, NeighborAdvertisement};
use braid_packet::{Frame, Payload};

use super::network::{Network, ip, ip6, mac, port, tuple};

const LADDER: [(u64, u64); 7] = [(1, 2), (2, 3), (4, 5), (5, 6), (1, 4), (2, 5), (3, 6)];

fn ip4(number: u64) -> Ipv4Addr {
    match ip(number) {
        IpAddr::V4(ip) => ip,
        IpAddr::V6(_) => unreachable!(),
    }
}

fn endpoint(host: u64) -> Endpoint {
    match ip6(host) {
        IpAddr::V6(ip) => Endpoint { mac: mac(host), ip },
        IpAddr::V4(_) => unreachable!(),
    }
}

/// Hosts 1 and 3, which have communicated over both protocols.
fn acquainted() -> Network {
    let mut network = Network::start(&LADDER, &[1, 3]);
    for (from, to) in [(1, 3), (3, 1), (1, 3)] {
        network.send_tcp(from, to, tuple(ip(from), 1000, ip(to)), TcpFlags::ACK, &[]);
        network.send_tcp(from, to, tuple(ip6(from), 1000, ip6(to)), TcpFlags::ACK, &[]);
    }
    network
}

fn question() -> Arp {
    Arp::request(mac(1), ip4(1), ip4(3))
}

#[test]
fn neighbours_find_each_other_alive_without_a_controller() {
    let mut network = acquainted();
    network.kill();
    network.send(1, &question().frame_to(mac(3)));
    assert_eq!(network.way_to(3), [1, 2, 3]);
    assert_eq!(network.received(3)[0].0[..6], mac(3).octets());
    network.send(3, &question().reply(mac(3)).frame());
    assert_eq!(network.way_to(1).last(), Some(&1));
}

#[test]
fn ipv6_neighbours_do_too() {
    let mut network = acquainted();
    network.kill();
    let target = endpoint(3).ip;
    let answer = NeighborAdvertisement {
        target,
        target_mac: Some(mac(3)),
        router: false,
        solicited: true,
        overrides: true,
    };
    network.send(3, &answer.frame(endpoint(3), endpoint(1)));
    assert_eq!(network.way_to(1).last(), Some(&1));
}

#[test]
fn a_question_to_a_known_neighbour_is_answered_by_it_alone() {
    let mut network = acquainted();
    network.send(1, &question().frame_to(mac(3)));
    assert_eq!((network.received(1).len(), network.received(3).len()), (0, 1));
}

#[test]
fn a_question_to_a_neighbour_without_a_route_is_answered_by_the_controller() {
    let mut network = Network::start(&LADDER, &[1, 3]);
    network.send(1, &question().frame_to(mac(3)));
    let [(answer, _)] = network.received(1) else { panic!("one answer") };
    let Ok(Payload::Arp(answer)) = Frame::parse(answer).map(|frame| frame.payload) else { panic!("not ARP") };
    assert_eq!((answer.op, answer.sender_mac), (ArpOp::Reply, mac(3)));
}

#[test]
fn arp_follows_its_host_as_packets_do() {
    let mut network = acquainted();
    network.unplug(1, 2);
    network.send(1, &question().frame_to(mac(3)));
    assert_eq!(network.way_to(3)[..2], [1, 4]);
}

#[test]
fn ports_that_are_not_known_yet_let_no_neighbours_talk() {
    let mut network = acquainted();
    network.set_port(port(1, 100), false);
    network.set_port(port(1, 100), true);
    network.send(1, &question().frame_to(mac(3)));
    assert!(network.received(3).is_empty());
}
