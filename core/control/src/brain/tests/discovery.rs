//! Link discovery: links found and lost by LLDP, forged and replayed frames refused, roles of ports.

use std::borrow::Cow;
use std::time::Duration;

use braid_packet::lldp::{LldpProbe, ProbeKey};
use braid_types::MacAddr;

use super::network::{HOST_PORT, Network, dpid, port};
use crate::event::Event;
use crate::notice::{LinkLoss, Notice};
use crate::role::Role;

const RING: [(u64, u64); 4] = [(1, 2), (2, 3), (3, 4), (4, 1)];

#[test]
fn every_link_is_found_in_both_directions() {
    let network = Network::start(&RING, &[1, 3]);
    let mut links: Vec<_> = network.brain.links().into_iter().map(|link| (link.src, link.dst)).collect();
    links.sort();
    let both = RING.iter().flat_map(|(a, b)| [(port(*a, *b), port(*b, *a)), (port(*b, *a), port(*a, *b))]);
    let mut expected: Vec<_> = both.collect();
    expected.sort();
    assert_eq!(links, expected);
}

#[test]
fn ports_without_a_switch_become_host_ports() {
    let network = Network::start(&RING, &[1]);
    let ports = network.brain.switches().swap_remove(0).ports;
    let roles: Vec<_> = ports.into_iter().map(|port| (port.port, port.role)).collect();
    let (two, four) = (port(1, 2).port, port(1, 4).port);
    assert_eq!(roles, [(two, Some(Role::Link)), (four, Some(Role::Link)), (HOST_PORT, Some(Role::Host))]);
}

#[test]
fn a_link_that_carries_nothing_any_more_is_lost() {
    let mut network = Network::start(&RING, &[]);
    network.cut_silently(1, 2);
    network.advance(Duration::from_secs(6));
    assert_eq!(network.brain.links().len(), 6);
    let (src, dst) = (port(1, 2), port(2, 1));
    assert!(network.notices.contains(&Notice::LinkDown { src, dst, why: LinkLoss::Silent }));
}

#[test]
fn a_frame_with_a_foreign_key_makes_no_link() {
    let mut network = Network::start(&[(1, 2), (3, 4)], &[1, 3]);
    let probe = LldpProbe { dpid: dpid(1), port: HOST_PORT, sent_at: network.now };
    let forged = probe.encode(&ProbeKey::new([7; 32]), MacAddr::from_u64(1));
    network.send(3, &forged);
    assert_eq!(network.brain.links().len(), 4);
    assert_eq!(network.brain.counters().lldp_refused, 1);
}

#[test]
fn a_frame_that_is_sent_again_much_later_makes_no_link() {
    let mut network = Network::start(&[(1, 2), (3, 4)], &[1, 3]);
    let probe = LldpProbe { dpid: dpid(1), port: HOST_PORT, sent_at: network.now };
    let genuine = probe.encode(&network.brain.settings().lldp_key.clone(), MacAddr::from_u64(1));
    network.advance(Duration::from_secs(10));
    network.send(3, &genuine);
    assert_eq!(network.brain.links().len(), 4);
    assert_eq!(network.brain.counters().lldp_refused, 1);
}

#[test]
fn a_switch_that_leaves_takes_its_links_along() {
    let mut network = Network::start(&RING, &[]);
    network.disconnect(2);
    assert_eq!(network.brain.links().len(), 4);
    assert_eq!(network.brain.switches().len(), 3);
}

#[test]
fn a_link_that_leads_elsewhere_replaces_the_old_link() {
    let mut network = Network::start(&[(1, 2), (2, 3)], &[]);
    // A frame from 1 arrives at 3, as if the link from 1 had been moved there.
    let probe = LldpProbe { dpid: dpid(1), port: port(1, 2).port, sent_at: network.now };
    let frame = probe.encode(&network.brain.settings().lldp_key.clone(), MacAddr::from_u64(1));
    let (at, data) = (port(3, 2), Cow::Owned(frame));
    network.tell(&Event::PacketIn { dpid: at.dpid, in_port: at.port, table: 0, data });
    let links: Vec<_> = network.brain.links().into_iter().map(|link| (link.src, link.dst)).collect();
    assert!(links.contains(&(port(1, 2), port(3, 2))), "{links:?}");
    assert!(!links.contains(&(port(1, 2), port(2, 1))), "{links:?}");
}

#[test]
fn unreadable_frames_are_counted_and_harmless() {
    let mut network = Network::start(&RING, &[1]);
    let (in_port, data) = (HOST_PORT, Cow::Borrowed(&[0_u8; 5][..]));
    network.tell(&Event::PacketIn { dpid: dpid(1), in_port, table: 0, data });
    assert_eq!(network.brain.counters().unreadable, 1);
}
