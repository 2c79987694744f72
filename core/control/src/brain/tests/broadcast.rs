//! Broadcast, ARP and neighbour discovery: every host hears a frame once, known addresses are answered by proxy.

use std::net::IpAddr;

use braid_packet::arp::Arp;
use braid_packet::nd::{Endpoint, NdMessage, NeighborSolicitation};
use braid_packet::{Frame, Payload, Transport};
use braid_types::MacAddr;

use super::network::{Network, ip, ip6, mac};

const MESH: [(u64, u64); 6] = [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];

fn request(from: u64, target: u64) -> Vec<u8> {
    let (IpAddr::V4(sender), IpAddr::V4(target)) = (ip(from), ip(target)) else { unreachable!() };
    Arp::request(mac(from), sender, target).frame()
}

fn arp_in(frame: &[u8]) -> Arp {
    match Frame::parse(frame).map(|frame| frame.payload) {
        Ok(Payload::Arp(arp)) => arp,
        other => panic!("not ARP: {other:?}"),
    }
}

#[test]
fn broadcast_reaches_every_host_once_in_a_network_full_of_loops() {
    let mut network = Network::start(&MESH, &[1, 2, 3, 4]);
    let mut frame = vec![0xff; 6];
    frame.extend(mac(1).octets());
    frame.extend([0x88, 0xb5, 1, 2, 3, 4]);
    network.send(1, &frame);
    assert_eq!([1, 2, 3, 4].map(|host| network.received(host).len()), [0, 1, 1, 1]);
}

#[test]
fn a_question_for_a_known_address_is_answered_on_the_spot() {
    let mut network = Network::start(&MESH, &[1, 4]);
    network.send(1, &request(1, 4));
    let [(answer, _)] = network.received(1) else { panic!("one answer") };
    assert_eq!((arp_in(answer).sender_mac, arp_in(answer).sender_ip.into()), (mac(4), ip(4)));
    assert!(network.received(4).is_empty());
}

#[test]
fn a_question_for_an_unknown_address_goes_to_the_other_hosts_and_the_answer_back() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    network.send(1, &request(1, 9));
    assert_eq!([1, 2, 3].map(|host| network.received(host).len()), [0, 1, 1]);
    let question = arp_in(&network.received(3)[0].0);
    network.send(3, &question.reply(mac(3)).frame());
    let [(answer, _)] = network.received(1) else { panic!("one answer") };
    assert_eq!(arp_in(answer).sender_mac, mac(3));
}

fn endpoint(host: u64) -> Endpoint {
    match ip6(host) {
        IpAddr::V6(ip) => Endpoint { mac: mac(host), ip },
        IpAddr::V4(_) => unreachable!(),
    }
}

fn solicit(from: u64, target: u64) -> Vec<u8> {
    NeighborSolicitation { target: endpoint(target).ip, source_mac: Some(mac(from)) }.frame(endpoint(from))
}

fn advertise(from: u64, to: u64, router: bool) -> Vec<u8> {
    NeighborSolicitation { target: endpoint(from).ip, source_mac: None }.answer(
        endpoint(to),
        mac(from),
        router,
    )
}

#[test]
fn a_solicitation_goes_to_the_owner_until_it_has_advertised_itself() {
    let mut network = Network::start(&MESH, &[1, 2, 4]);
    network.send(4, &solicit(4, 1));
    assert_eq!([1, 2].map(|host| network.received(host).len()), [1, 1], "nobody is known: all are asked");
    network.send(1, &solicit(1, 4));
    assert_eq!([4, 2].map(|host| network.received(host).len()), [1, 0], "the owner is asked alone");
    network.send(4, &advertise(4, 1, true));
    assert_eq!(network.received(1).len(), 1, "its answer arrives");
    network.send(1, &solicit(1, 4));
    assert!(network.received(4).is_empty(), "nobody is asked any more");
}

#[test]
fn an_answer_on_behalf_of_a_router_says_that_it_is_one() {
    let mut network = Network::start(&MESH, &[1, 4]);
    network.send(4, &advertise(4, 1, true));
    network.send(1, &solicit(1, 4));
    let [(answer, _)] = network.received(1) else { panic!("one answer") };
    let frame = Frame::parse(answer).expect("a frame");
    let Some(Transport::Icmpv6(NdMessage::Advertisement(answer))) = frame.ip().map(|ip| ip.transport.clone())
    else {
        panic!("not an advertisement");
    };
    assert!(answer.router);
    assert_eq!((frame.src, answer.target_mac), (mac(4), Some(mac(4))));
}

#[test]
fn a_host_that_moves_is_followed() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    let IpAddr::V4(address) = ip(2) else { unreachable!() };
    network.send(3, &Arp::request(mac(2), address, address).frame());
    network.advance(network.brain.settings().conflict_timeout * 2);
    network.send(1, &request(1, 2));
    assert_eq!(network.received(1).len(), 1);
    let hosts = network.brain.hosts();
    let host = hosts.iter().find(|host| host.mac == mac(2)).expect("known host");
    assert_eq!(host.at.dpid.0, 3);
}

#[test]
fn frames_from_group_addresses_are_not_hosts() {
    let mut network = Network::start(&MESH, &[1]);
    let IpAddr::V4(address) = ip(7) else { unreachable!() };
    network.send(1, &Arp::request(MacAddr::new([1, 0, 0, 0, 0, 7]), address, address).frame());
    assert_eq!(network.brain.hosts().len(), 1);
}

#[test]
fn an_announcement_in_a_large_network_reaches_every_other_host_once() {
    let mut links: Vec<_> = (2..=70).map(|leaf| (1, leaf)).collect();
    links.extend((2..70).map(|leaf| (leaf, leaf + 1)));
    let mut network = Network::start(&links, &[1, 20, 50]);
    network.advance(std::time::Duration::from_secs(3));
    network.announce(20);
    assert_eq!([1, 20, 50].map(|host| network.received(host).len()), [1, 0, 1]);
    let announced = arp_in(&network.received(50)[0].0);
    assert_eq!((announced.sender_mac, announced.sender_ip.into()), (mac(20), ip(20)));
}
