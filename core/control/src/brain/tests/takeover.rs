//! Address takeover: hosts that use addresses of others, and hosts that move.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use braid_packet::arp::{Arp, ArpOp};
use braid_packet::{Frame, Payload, TcpFlags};
use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort};

use super::network::{HOST_PORT, Network, dpid, ip, mac, tuple};
use crate::notice::Notice;
use crate::pipeline::Rule;
use crate::threat::Threat;

const MESH: [(u64, u64); 3] = [(1, 2), (1, 3), (2, 3)];

fn ip4(number: u64) -> Ipv4Addr {
    match ip(number) {
        IpAddr::V4(ip) => ip,
        IpAddr::V6(_) => unreachable!(),
    }
}

fn host_port(host: u64) -> SwitchPort {
    SwitchPort::new(dpid(host), HOST_PORT)
}

/// An ARP announcement of host `whose`'s IPv4 address by `who`.
fn claim(who: MacAddr, whose: u64) -> Vec<u8> {
    Arp::request(who, ip4(whose), ip4(whose)).frame()
}

/// The ARP requests that a host has received.
fn questions(network: &mut Network, host: u64) -> Vec<Arp> {
    let frames = network.take_received(host);
    let arps = frames.iter().filter_map(|(frame, _)| match Frame::parse(frame).map(|frame| frame.payload) {
        Ok(Payload::Arp(arp)) if arp.op == ArpOp::Request => Some(arp),
        _ => None,
    });
    arps.collect()
}

/// Lets a host answer its ARP requests.
fn answer(network: &mut Network, host: u64) {
    for question in questions(network, host) {
        network.send(host, &question.reply(mac(host)).frame());
    }
}

fn place(network: &Network, address: IpAddr) -> Option<DatapathId> {
    let hosts = network.brain.hosts();
    hosts.iter().find(|host| host.addresses.contains(&address)).map(|host| host.at.dpid)
}

fn threats(network: &Network) -> Vec<Threat> {
    let threats = network.notices.iter().filter_map(|notice| match notice {
        Notice::Alarm { threat, .. } => Some(threat.clone()),
        _ => None,
    });
    threats.collect()
}

#[test]
fn a_host_that_answers_keeps_its_addresses() {
    for claimant in [mac(2), mac(3)] {
        let mut network = Network::start(&MESH, &[1, 2, 3]);
        network.send(3, &claim(claimant, 2));
        assert_eq!(questions(&mut network, 2).len(), 1, "it is asked at once");
        network.send(3, &claim(claimant, 2));
        network.advance(Duration::from_millis(100));
        answer(&mut network, 2);
        network.advance(Duration::from_secs(1));
        assert_eq!(place(&network, ip(2)), Some(dpid(2)));
        network.send_tcp(1, 2, tuple(ip(1), 1000, ip(2)), TcpFlags::ACK, &[]);
        assert_eq!(network.received(2).len(), 1);
        let holder = host_port(2);
        let expected = match claimant == mac(2) {
            true => Threat::StolenMac { mac: mac(2), holder },
            false => Threat::StolenIp { ip: ip(2), holder },
        };
        assert_eq!(threats(&network), [expected]);
    }
}

#[test]
fn a_host_that_moves_is_followed_when_nobody_answers_at_the_old_place() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    network.send(3, &claim(mac(2), 2));
    assert_eq!(place(&network, ip(2)), Some(dpid(2)));
    network.advance(Duration::from_millis(500));
    assert_eq!(place(&network, ip(2)), Some(dpid(3)));
    assert!(threats(&network).is_empty());
}

#[test]
fn a_host_whose_old_port_is_down_is_followed_at_once() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    network.set_port(host_port(2), false);
    network.send(3, &claim(mac(2), 2));
    assert_eq!(place(&network, ip(2)), Some(dpid(3)));
}

#[test]
fn two_moves_that_settle_at_once_leave_no_rule_at_the_old_port() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    // Both claims are of host 2: one of its interface, one of its address.
    network.send(3, &claim(mac(2), 2));
    network.send(1, &claim(mac(1), 2));
    network.set_port(host_port(2), false);
    network.advance(Duration::from_secs(1));
    let stale = Rule::Deliver { dst: ip(2), mac: mac(2), port: HOST_PORT };
    assert!(!network.switch(2).has(stale), "the address is at another host");
}

#[test]
fn a_packet_from_an_unknown_port_is_dropped_without_an_alarm() {
    let mut network = Network::start(&MESH, &[1, 2]);
    let nowhere = SwitchPort::new(dpid(1), PortNo(99));
    network.arrive_at(nowhere, &claim(mac(7), 7));
    assert!(threats(&network).is_empty());
    assert_eq!(network.brain.counters().packets_over_limit, 0);
}

#[test]
fn an_address_whose_owner_is_gone_passes_to_another_host() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    network.send(3, &claim(mac(3), 2));
    network.advance(Duration::from_millis(500));
    let hosts = network.brain.hosts();
    let host = hosts.iter().find(|host| host.addresses.contains(&ip(2))).expect("a host");
    assert_eq!((host.mac, host.at), (mac(3), host_port(3)));
}

#[test]
fn hosts_behind_one_port_share_addresses_freely() {
    let mut network = Network::start(&MESH, &[1, 2]);
    network.send(2, &claim(mac(70), 7));
    network.send(2, &claim(mac(71), 7));
    let hosts = network.brain.hosts();
    let owner = hosts.iter().find(|host| host.addresses.contains(&ip(7))).map(|host| host.mac);
    assert_eq!(owner, Some(mac(71)));
}

#[test]
fn what_a_claimant_sends_goes_nowhere_meanwhile() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    network.send_tcp(3, 1, tuple(ip(2), 1000, ip(1)), TcpFlags::SYN, &[]);
    assert!(network.received(1).is_empty());
    network.send(3, &Arp::request(mac(3), ip4(2), ip4(1)).frame());
    assert!(network.received(3).is_empty(), "it is not answered either");
}

#[test]
fn a_holder_that_has_answered_is_not_asked_for_every_lie() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    network.send(3, &claim(mac(3), 2));
    answer(&mut network, 2);
    let mut asked = 0;
    for _ in 0..100 {
        network.send(3, &claim(mac(3), 2));
        asked += questions(&mut network, 2).len();
    }
    assert_eq!(asked, 0);
    assert_eq!(network.brain.counters().claims_refused, 101);
}

#[test]
fn invented_addresses_are_taken_up_at_a_bounded_rate_and_routers_have_room() {
    let mut network = Network::start(&MESH, &[1, 2]);
    let limit = network.brain.settings().new_addresses as usize;
    let before = network.brain.hosts().iter().map(|host| host.addresses.len()).sum::<usize>();
    let invent = |network: &mut Network, from: u16, to: u16| {
        for number in from..to {
            let src = IpAddr::from([172, 16, (number >> 8) as u8, number as u8]);
            network.send_tcp(2, 1, tuple(src, 1000, ip(1)), TcpFlags::SYN, &[]);
        }
    };
    invent(&mut network, 0, 2_000);
    let known = |network: &Network| {
        network.brain.hosts().iter().map(|host| host.addresses.len()).sum::<usize>() - before
    };
    assert!((limit / 2..=limit).contains(&known(&network)), "{}", known(&network));
    assert_eq!(threats(&network)[0], Threat::TooManyAddresses);
    for second in 1..=4 {
        network.advance(Duration::from_secs(1));
        invent(&mut network, 10_000 * second, 10_000 * second + 50);
    }
    assert!(known(&network) > 3 * limit, "a router with many hosts behind it is served: {}", known(&network));
}

#[test]
fn a_port_that_asks_too_much_is_not_heard_and_others_are() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    let limit = network.brain.settings().punt_rate as usize;
    network.advance(Duration::from_secs(1));
    let mut passed = 0;
    for number in 0..2_000 {
        network.send_tcp(3, 1, tuple(ip(3), number, ip(1)), TcpFlags::SYN, &[]);
        passed += network.received(1).len();
    }
    assert!((limit..=limit + 1).contains(&passed), "{passed}");
    assert!(threats(&network).contains(&Threat::TooManyPackets));
    network.send_tcp(2, 1, tuple(ip(2), 1000, ip(1)), TcpFlags::SYN, &[]);
    assert_eq!(network.received(1).len(), 1);
}

#[test]
fn the_switch_drops_packets_with_an_address_that_was_claimed_in_vain_for_a_while() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    network.send(3, &claim(mac(3), 2));
    answer(&mut network, 2);
    let rule = Rule::SourceFilter { port: HOST_PORT, src: ip(2) };
    assert!(network.switch(3).has(rule));
    network.send_tcp(3, 1, tuple(ip(2), 1000, ip(1)), TcpFlags::SYN, &[]);
    assert!(network.received(1).is_empty());
    network.send_tcp(3, 1, tuple(ip(3), 1000, ip(1)), TcpFlags::SYN, &[]);
    assert_eq!(network.received(1).len(), 1, "its own address is free");
    network.advance(network.brain.settings().source_filter_time * 2);
    assert!(!network.switch(3).has(rule));
}

#[test]
fn a_host_that_moves_after_all_is_let_in() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    network.send(3, &claim(mac(2), 2));
    answer(&mut network, 2);
    network.advance(Duration::from_secs(2));
    network.send(3, &claim(mac(2), 2));
    network.advance(Duration::from_millis(600));
    assert_eq!(place(&network, ip(2)), Some(dpid(3)));
    assert!(!network.switch(3).has(Rule::SourceFilter { port: HOST_PORT, src: ip(2) }));
    network.send_tcp(3, 1, tuple(ip(2), 1000, ip(1)), TcpFlags::SYN, &[]);
    assert_eq!(network.received(1).len(), 1);
}

#[test]
fn connections_above_the_limit_of_their_port_get_through_without_a_path_of_their_own() {
    let mut network = Network::start(&MESH, &[1, 2, 3]);
    let limit = 10 * network.brain.settings().new_streams as usize;
    let capable = [30, 4, 0x01, 0x01];
    for number in 0..2 * limit as u16 {
        network.send_tcp(3, 1, tuple(ip(3), number, ip(1)), TcpFlags::SYN, &capable);
        assert_eq!(network.received(1).len(), 1, "{number}");
    }
    assert_eq!(network.brain.sizes().streams, limit as u64);
    assert_eq!(network.brain.counters().streams_over_limit, limit as u64);
    network.send_tcp(2, 1, tuple(ip(2), 1, ip(1)), TcpFlags::SYN, &capable);
    assert_eq!(network.brain.sizes().streams, limit as u64 + 1, "others have a limit of their own");
}
