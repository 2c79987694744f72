//! Default forwarding: shortest paths for both IP versions, held packets to unknown hosts, unconfirmed paths.

use std::net::IpAddr;

use braid_packet::TcpFlags;
use braid_packet::arp::Arp;

use super::network::{Network, ip, ip6, mac, tuple};
use crate::notice::Notice;

const LADDER: [(u64, u64); 7] = [(1, 2), (2, 3), (4, 5), (5, 6), (1, 4), (2, 5), (3, 6)];

#[test]
fn packets_take_the_shortest_way_and_only_the_first_asks_the_controller() {
    let mut network = Network::start(&LADDER, &[1, 3]);
    network.send_tcp(1, 3, tuple(ip(1), 1000, ip(3)), TcpFlags::ACK, &[]);
    assert_eq!(network.way_to(3).last(), Some(&3));
    let asked = network.brain.counters().packet_ins;
    network.send_tcp(1, 3, tuple(ip(1), 1001, ip(3)), TcpFlags::ACK, &[]);
    assert_eq!(network.way_to(3), [1, 2, 3]);
    assert_eq!(network.brain.counters().packet_ins, asked);
}

#[test]
fn the_receiver_gets_the_frame_under_its_own_address() {
    let mut network = Network::start(&LADDER, &[1, 3]);
    network.send_tcp(1, 3, tuple(ip(1), 1000, ip(3)), TcpFlags::ACK, &[]);
    assert_eq!(network.received(3)[0].0[..6], mac(3).octets());
}

#[test]
fn ipv6_is_forwarded_alike() {
    let mut network = Network::start(&LADDER, &[1, 6]);
    // Each host is first heard with its IPv6 address.
    network.send_tcp(1, 6, tuple(ip6(1), 1, ip6(9)), TcpFlags::ACK, &[]);
    network.send_tcp(6, 1, tuple(ip6(6), 1, ip6(1)), TcpFlags::ACK, &[]);
    assert_eq!(network.received(1).len(), 1);
    network.send_tcp(1, 6, tuple(ip6(1), 2, ip6(6)), TcpFlags::ACK, &[]);
    assert_eq!(network.received(6).len(), 1);
}

#[test]
fn a_packet_to_an_address_never_heard_waits_until_its_host_is_found() {
    let mut network = Network::start(&LADDER, &[1, 6]);
    network.send_tcp(1, 6, tuple(ip(1), 1000, ip(60)), TcpFlags::SYN, &[]);
    assert_eq!(network.received(6).len(), 1, "host 6 is asked");
    let IpAddr::V4(address) = ip(60) else { unreachable!() };
    network.send(6, &Arp::request(mac(60), address, address).frame());
    let arrived = network.received(6);
    assert_eq!(arrived.len(), 1, "{arrived:?}");
    assert_eq!(arrived[0].0[..6], mac(60).octets());
}

#[test]
fn plain_tcp_gets_no_stream_rule() {
    let mut network = Network::start(&LADDER, &[1, 3]);
    let rules = network.rules(1);
    network.send_tcp(1, 3, tuple(ip(1), 1000, ip(3)), TcpFlags::SYN, &[]);
    assert_eq!(network.received(3).len(), 1);
    assert_eq!(network.rules(1), rules);
    assert!(network.brain.transfers().is_empty());
}

#[test]
fn a_path_that_a_switch_does_not_confirm_is_taken_back() {
    let mut network = Network::start(&LADDER, &[1, 3]);
    network.mute.insert(super::network::dpid(2));
    let before = network.switch(2).rules(4);
    network.send_tcp(1, 3, tuple(ip(1), 1000, ip(3)), TcpFlags::ACK, &[]);
    assert!(network.received(3).is_empty(), "no packet leaves on half a path");
    network.advance(network.brain.settings().install_timeout * 2);
    assert_eq!(network.switch(2).rules(4), before);
    assert!(network.notices.iter().any(|notice| matches!(notice, Notice::InstallFailed { .. })));
    network.send_tcp(1, 3, tuple(ip(1), 1001, ip(3)), TcpFlags::ACK, &[]);
    assert_eq!(network.way_to(3), [1, 4, 5, 6, 3], "another path is taken meanwhile");
}
