//! Protection against hosts that forge links.

use std::time::Duration;

use braid_packet::lldp::{LldpProbe, ProbeKey};
use braid_types::{MacAddr, SwitchPort};

use super::network::{HOST_PORT, Network, dpid, port};
use crate::event::Event;
use crate::notice::Notice;
use crate::role::Role;
use crate::settings::Settings;
use crate::threat::{AlarmSource, Threat};

const PAIRS: [(u64, u64); 2] = [(1, 2), (3, 4)];
const LINKS: usize = 4;

fn host_port(host: u64) -> SwitchPort {
    SwitchPort::new(dpid(host), HOST_PORT)
}

/// A frame that this controller could have sent from a port at this moment.
fn genuine(network: &Network, of: SwitchPort) -> Vec<u8> {
    let probe = LldpProbe { dpid: of.dpid, port: of.port, sent_at: network.now };
    probe.encode(&network.brain.settings().lldp_key.clone(), MacAddr::from_u64(1))
}

fn alarms(network: &Network, kind: &str) -> Vec<u64> {
    let of_kind = network.notices.iter().filter_map(|notice| match notice {
        Notice::Alarm { threat, count, .. } if threat.kind() == kind => Some(*count),
        _ => None,
    });
    of_kind.collect()
}

fn role(network: &Network, at: SwitchPort) -> Option<Role> {
    let switches = network.brain.switches();
    let switch = switches.iter().find(|switch| switch.dpid == at.dpid)?;
    switch.ports.iter().find(|port| port.port == at.port)?.role
}

#[test]
fn a_genuine_frame_that_a_host_passes_on_makes_no_link() {
    let mut network = Network::start(&PAIRS, &[1, 3]);
    let frame = genuine(&network, host_port(1));
    network.send(3, &frame);
    assert_eq!(network.brain.links().len(), LINKS);
    assert_eq!(role(&network, host_port(3)), Some(Role::Host));
    assert_eq!(alarms(&network, "relayed_lldp"), [1]);
}

#[test]
fn a_frame_of_a_link_that_a_host_sends_makes_no_link_and_breaks_none() {
    let mut network = Network::start(&PAIRS, &[1, 3]);
    let before = network.brain.links();
    network.now = network.now + Duration::from_millis(1);
    let frame = genuine(&network, port(1, 2));
    network.send(3, &frame);
    assert_eq!(network.brain.links().len(), before.len());
    assert_eq!(alarms(&network, "relayed_lldp"), [1]);
}

#[test]
fn a_frame_counts_once() {
    let mut network = Network::start(&PAIRS, &[1, 3]);
    network.now = network.now + Duration::from_millis(1);
    let frame = genuine(&network, port(1, 2));
    network.arrive_at(port(2, 1), &frame);
    assert!(alarms(&network, "replayed_lldp").is_empty());
    network.arrive_at(port(2, 1), &frame);
    network.arrive_at(port(4, 3), &frame);
    assert_eq!(network.brain.links().len(), LINKS);
    assert_eq!(network.brain.counters().lldp_refused, 2);
}

#[test]
fn a_port_that_sends_its_own_frame_back_is_told_of() {
    let mut network = Network::start(&PAIRS, &[1]);
    let frame = genuine(&network, host_port(1));
    network.send(1, &frame);
    assert_eq!(alarms(&network, "reflected_lldp"), [1]);
}

#[test]
fn ten_thousand_lies_make_no_link_and_a_notice_at_once_and_one_a_second() {
    let settings = Settings { punt_rate: 0, ..Settings::default() };
    let mut network = Network::start_with(settings, &PAIRS, &[1, 3]);
    let relayed = genuine(&network, host_port(1));
    let probe = LldpProbe { dpid: dpid(1), port: port(1, 2).port, sent_at: network.now };
    let forged = probe.encode(&ProbeKey::new([7; 32]), MacAddr::from_u64(1));
    for number in 0..10_000 {
        network.send(3, if number % 2 == 0 { &forged } else { &relayed });
        if number == 0 {
            assert_eq!(alarms(&network, "forged_lldp"), [1], "told at once");
        }
    }
    network.advance(Duration::from_secs(2));
    assert_eq!(network.brain.links().len(), LINKS);
    assert_eq!(alarms(&network, "forged_lldp"), [1, 4_999]);
    assert_eq!(alarms(&network, "replayed_lldp").iter().sum::<u64>(), 4_999);
    let counts: u64 = network.brain.alarms().iter().map(|alarm| alarm.count).sum();
    assert_eq!(counts, 10_000);
}

#[test]
fn a_port_of_hosts_becomes_a_link_only_after_it_was_down_for_long_enough() {
    let mut network = Network::start(&PAIRS, &[1, 3]);
    for (seconds, becomes) in [(1, Role::Host), (6, Role::Link)] {
        network.set_port(host_port(1), false);
        network.advance(Duration::from_secs(seconds));
        network.set_port(host_port(1), true);
        network.now = network.now + Duration::from_millis(1);
        let frame = genuine(&network, host_port(1));
        network.arrive_at(port(4, 9), &frame);
        let frame = genuine(&network, port(3, 4));
        network.send(1, &frame);
        network.advance(Duration::from_secs(1));
        assert_eq!(role(&network, host_port(1)), Some(becomes), "after {seconds} s");
    }
}

#[test]
fn a_port_that_led_to_a_switch_is_no_port_for_hosts_until_it_was_down_for_long_enough() {
    let mut network = Network::start(&PAIRS, &[1]);
    network.cut_silently(1, 2);
    for (seconds, becomes) in [(1, Role::Silent), (6, Role::Host)] {
        network.set_port(port(1, 2), false);
        network.advance(Duration::from_secs(seconds));
        network.set_port(port(1, 2), true);
        network.advance(Duration::from_secs(2));
        assert_eq!(role(&network, port(1, 2)), Some(becomes), "after {seconds} s");
    }
    assert!(network.notices.iter().any(|notice| matches!(notice, Notice::PortHeld { .. })));
}

#[test]
fn what_a_switch_forwarded_that_is_not_connected_shows_no_host() {
    let mut network = Network::start(&PAIRS, &[1, 3]);
    let before = network.brain.hosts().len();
    let label = crate::Label(7).mac();
    let tuple = super::network::tuple(super::network::ip(9), 1, super::network::ip(1));
    let frame = braid_packet::build::tcp(tuple).macs(MacAddr::from_u64(9), label).frame();
    network.send(3, &frame);
    assert_eq!(network.brain.hosts().len(), before);
}

#[test]
fn alarms_about_peers_are_bounded_and_leave_those_about_ports() {
    let mut network = Network::start(&PAIRS, &[1]);
    let frame = genuine(&network, host_port(1));
    network.send(1, &frame);
    for number in 0..5_000_u32 {
        let peer = std::net::Ipv4Addr::from(0x0a00_0000 + number).into();
        network.tell(&Event::PeerAlarm { peer, threat: Threat::WrongToken, count: 3 });
    }
    let alarms = network.brain.alarms();
    let (ports, peers): (Vec<_>, Vec<_>) =
        alarms.iter().partition(|alarm| matches!(alarm.source, AlarmSource::Port(_)));
    assert_eq!((ports.len(), peers.len()), (1, 1_024));
    assert!(peers.iter().all(|alarm| alarm.count == 3));
}
