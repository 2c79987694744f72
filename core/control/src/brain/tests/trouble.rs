//! Faulty switches: lost rules, refused rules, and missing barrier replies.

use std::time::Duration;

use braid_packet::TcpFlags;
use braid_packet::arp::Arp;

use super::mptcp::{THREE_WAYS, open, ways};
use super::network::{Network, dpid, ip, mac, port, tuple};
use crate::command::Command;
use crate::event::Event;
use crate::pipeline::Rule;
use crate::role::Role;
use crate::settings::Settings;

#[test]
fn a_route_that_a_switch_has_lost_is_written_anew_for_the_second_packet() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    assert_eq!(ways(&mut network, stream)[0].last(), Some(&9));
    assert!(network.brain.route_rule(ip(9), dpid(1)).is_some_and(|rule| network.switch(1).has(rule)));
    assert_eq!(network.brain.route_rule(ip(9), dpid(2)), None);
    network.lose_rules(1, 2, 50);
    let asked = network.brain.counters().packet_ins;
    network.send_tcp(1, 9, stream, TcpFlags::ACK, &[]);
    assert!(network.brain.counters().packet_ins - asked <= 2, "the packet does not circle");
    network.send_tcp(1, 9, stream, TcpFlags::ACK, &[]);
    assert_eq!(network.received(9).len(), 1);
}

#[test]
fn a_port_whose_switch_is_not_heard_any_more_is_not_taken_for_a_host_s() {
    let mut network = Network::start(&[(1, 2), (2, 3), (3, 1)], &[1]);
    network.tell(&Event::SwitchDown { dpid: dpid(2) });
    network.advance(Duration::from_secs(20));
    let ports = network.brain.switches().into_iter().flat_map(|switch| {
        switch.ports.into_iter().map(move |it| (braid_types::SwitchPort::new(switch.dpid, it.port), it.role))
    });
    let facing: Vec<_> = ports.filter(|(at, _)| [port(1, 2), port(3, 2)].contains(at)).collect();
    assert!(facing.iter().all(|(_, role)| *role == Some(Role::Silent)), "{facing:?}");
    network.send(1, &broadcast());
    assert!(network.received(1).is_empty(), "nothing comes back round the loop");
}

#[test]
fn a_refused_stream_rule_leaves_the_stream_on_its_default_path() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut network, stream);
    let refused = network.find_rule(|rule| matches!(rule, Rule::Stream { reverse: false, .. }));
    network.refuse(1, refused);
    assert!(network.brain.transfers().is_empty());
    assert_eq!(ways(&mut network, stream)[0].last(), Some(&9));
}

#[test]
fn a_rule_of_one_path_for_packets_that_return_is_written_again_after_it_was_refused() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    [(1, 9), (1, 2)].into_iter().for_each(|(a, b)| network.unplug(a, b));
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut network, stream);
    assert_eq!(ways(&mut network, stream)[0], [1, 3, 4, 9]);
    let rule = network.find_rule(|rule| matches!(rule, Rule::Hairpin { label, .. } if !label.is_group()));
    let at = [3, 4].into_iter().find(|number| network.switch(*number).has(rule)).expect("on the way");
    network.switch(at).lose_rule(rule);
    network.refuse(at, rule);
    network.advance(network.brain.settings().path_suspend_time * 2);
    assert!(network.switch(at).has(rule));
}

#[test]
fn a_refused_label_moves_its_streams_to_another_path() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut network, stream);
    let hop = network.find_rule(|rule| matches!(rule, Rule::Stream { reverse: false, .. }));
    let Rule::Stream { hop, .. } = hop else { unreachable!() };
    network.refuse(9, Rule::Egress { label: hop.label });
    network.advance(Duration::from_millis(200));
    assert_eq!(ways(&mut network, stream)[0], [1, 2, 9]);
}

#[test]
fn the_streams_of_a_host_that_moves_follow_it() {
    let mut network = Network::start(&THREE_WAYS, &[1, 4, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut network, stream);
    let std::net::IpAddr::V4(address) = ip(9) else { unreachable!() };
    network.send(4, &Arp::request(mac(9), address, address).frame());
    network.advance(network.brain.settings().conflict_timeout * 2);
    network.send_tcp(1, 9, stream, TcpFlags::ACK, &[]);
    assert_eq!(network.way_to(4).last(), Some(&4));
}

#[test]
fn an_offer_reaches_a_dhcp_client_that_has_no_address_yet() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let mut frame = braid_packet::build::tcp(tuple(ip(1), 67, ip(77))).macs(mac(1), mac(9)).frame();
    // The same header with UDP in place of TCP: ports 67 and 68, 8 bytes, no checksum.
    frame[23] = 17;
    frame.splice(34.., [0, 67, 0, 68, 0, 8, 0, 0]);
    frame[16..18].copy_from_slice(&[0, 28]);
    network.send(1, &frame);
    assert_eq!(network.received(9).len(), 1);
}

#[test]
fn a_stream_that_finds_no_room_to_wait_is_not_remembered() {
    let settings = Settings { max_waiting: 0, ..Settings::default() };
    let mut network = Network::start_with(settings, &THREE_WAYS, &[1, 9]);
    network.mute.insert(dpid(9));
    let capable = [30, 4, 1, 1];
    network.send_tcp(1, 9, tuple(ip(1), 1000, ip(9)), TcpFlags::SYN, &capable);
    assert!(network.brain.transfers().is_empty());
    assert_eq!(network.brain.sizes().routes, 0);
    assert_eq!(network.received(9).len(), 1, "its SYN goes straight to the host");
}

/// A network where a SYN from 1 waits for a path to 9, by the link between them.
fn waiting(option: &[u8]) -> Network {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.mute.insert(dpid(9));
    network.send_tcp(1, 9, tuple(ip(1), 1000, ip(9)), TcpFlags::SYN, option);
    assert!(network.received(9).is_empty());
    network.mute.clear();
    network
}

/// The options of plain TCP, and of MPTCP.
const SYNS: [&[u8]; 2] = [&[], &[30, 4, 1, 1]];

#[test]
fn a_syn_that_waits_for_a_path_that_a_switch_refuses_takes_another() {
    for option in SYNS {
        let mut network = waiting(option);
        let refused = network.find_rule(|rule| matches!(rule, Rule::Egress { .. }));
        let Rule::Egress { label } = refused else { unreachable!() };
        let at = network.brain.fabric.labels().path(label).expect("a path").egress();
        network.refuse(at.0, refused);
        assert_eq!(network.way_to(9), [1, 2, 9]);
    }
}

#[test]
fn a_syn_that_waits_for_a_path_that_is_not_confirmed_takes_another() {
    for option in SYNS {
        let mut network = waiting(option);
        network.advance(network.brain.settings().install_timeout * 2);
        assert_eq!(network.way_to(9), [1, 2, 9]);
    }
}

#[test]
fn a_syn_that_waits_for_a_path_whose_link_breaks_takes_another() {
    for option in SYNS {
        let mut network = waiting(option);
        network.unplug(1, 9);
        network.advance(network.brain.settings().install_timeout * 2);
        assert_eq!(network.way_to(9), [1, 2, 9]);
    }
}

fn broadcast() -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend(mac(1).octets());
    frame.extend([0x88, 0xb5, 0, 0]);
    frame
}

#[test]
fn a_route_stays_where_it_was_when_a_switch_has_no_room_for_its_better_path() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    network.unplug(1, 9);
    assert_eq!(ways(&mut network, stream)[0], [1, 2, 9]);
    let rules = network.rules(4);
    network.mute.insert(dpid(9));
    network.plug(1, 9);
    network.advance(Duration::from_millis(500));
    let refused = network.find_rule(|rule| matches!(rule, Rule::Egress { .. }));
    assert_eq!(ways(&mut network, stream)[0], [1, 2, 9], "nothing moves before it is confirmed");
    network.changes.clear();
    network.refuse(9, refused);
    assert_eq!(ways(&mut network, stream)[0], [1, 2, 9]);
    network.advance(Duration::from_secs(3));
    assert_eq!(ways(&mut network, stream)[0], [1, 2, 9]);
    assert_eq!(network.rules(4), rules, "nothing of the refused path is left");
    let of_routes = |command: &Command| {
        matches!(
            command,
            Command::Add { rule: Rule::Route { .. }, .. } | Command::Delete { rule: Rule::Route { .. }, .. }
        )
    };
    assert!(!network.changes.iter().any(of_routes), "{:?}", network.changes);
}
