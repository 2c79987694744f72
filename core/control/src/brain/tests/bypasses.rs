//! Bypasses: switches use them when links lose their carrier, before the controller reacts or without one.

use std::time::Duration;

use super::mptcp::{THREE_WAYS, add, open, ways};
use super::network::{Network, dpid, ip, tuple};
use crate::command::Command;
use crate::event::Event;
use crate::pipeline::Rule;
use crate::settings::Settings;

const RING: [(u64, u64); 5] = [(1, 2), (2, 9), (9, 4), (4, 5), (5, 1)];

fn streams() -> [braid_types::FiveTuple; 2] {
    [1000, 1001].map(|port| tuple(ip(1), port, ip(9)))
}

/// Two streams on separate paths, and other traffic on the shortest.
fn busy(links: &[(u64, u64)]) -> Network {
    busy_on(u32::MAX, links)
}

fn busy_on(groups: u32, links: &[(u64, u64)]) -> Network {
    let mut network = Network::start_on(groups, Settings::default(), links, &[1, 9]);
    open(&mut network, streams()[0]);
    add(&mut network, streams()[1]);
    ways(&mut network, tuple(ip(1), 7, ip(9)));
    network.advance(Duration::from_secs(3));
    network
}

#[test]
fn without_a_controller_packets_go_round_any_one_link() {
    for links in [&THREE_WAYS[..], &RING] {
        for (a, b) in links {
            let mut network = busy(links);
            let before = streams().map(|stream| ways(&mut network, stream));
            network.kill();
            network.unplug(*a, *b);
            for stream in streams().into_iter().chain([tuple(ip(1), 7, ip(9))]) {
                for way in ways(&mut network, stream) {
                    let crossed = way.windows(2).any(|hop| hop == [*a, *b] || hop == [*b, *a]);
                    assert!(!crossed, "{way:?} over {a}-{b}");
                }
            }
            network.plug(*a, *b);
            assert_eq!(streams().map(|stream| ways(&mut network, stream)), before);
        }
    }
}

#[test]
fn a_bypass_may_lead_back_where_the_packet_came_from() {
    let mut network = busy(&RING);
    network.kill();
    network.unplug(2, 9);
    let [there, back] = ways(&mut network, streams()[0]);
    assert_eq!(there, [1, 2, 1, 5, 4, 9]);
    assert_eq!(back, [1, 2, 1, 5, 4, 9], "and it may come from where the packet goes on");
}

#[test]
fn the_controller_then_moves_everything_and_nothing_is_left() {
    let mut network = busy(&THREE_WAYS);
    let labels = network.brain.sizes().labels;
    network.unplug(1, 9);
    assert_eq!(ways(&mut network, streams()[0])[0], [1, 3, 4, 9], "the new path, not the bypass over 2");
    network.advance(Duration::from_secs(40));
    assert!(network.brain.sizes().labels <= labels);
    network.plug(1, 9);
    network.advance(Duration::from_secs(60));
    let bypassed_links = network.brain.topology.links().count();
    assert!(network.rules(3) <= bypassed_links * 3, "{} rules of bypasses", network.rules(3));
}

#[test]
fn no_rule_of_a_stream_is_missing_while_it_moves() {
    let mut network = busy(&THREE_WAYS);
    network.changes.clear();
    network.unplug(1, 9);
    let deletes = |command: &Command| {
        matches!(command, Command::Delete { rule: Rule::Stream { .. } | Rule::Route { .. }, .. })
    };
    assert!(!network.changes.iter().any(deletes), "{:?}", network.changes);
}

#[test]
fn paths_are_repaired_before_bypasses_are_planned_anew() {
    let mut network = busy(&THREE_WAYS);
    network.changes.clear();
    network.unplug(1, 9);
    network.tell(&Event::Tick);
    let writes = |network: &Network, is_it: fn(&Rule) -> bool| {
        network.changes.iter().any(|command| matches!(command, Command::Add { rule, .. } if is_it(rule)))
    };
    let is_bypass = |rule: &Rule| matches!(rule, Rule::Bypass { .. } | Rule::BypassEnd { .. });
    assert!(writes(&network, |rule| matches!(rule, Rule::Stream { .. })), "{:?}", network.changes);
    assert!(!writes(&network, is_bypass), "{:?}", network.changes);
    network.advance(Duration::from_millis(200));
    assert!(writes(&network, is_bypass), "{:?}", network.changes);
}

#[test]
fn switches_without_such_groups_have_no_guards() {
    let mut network = busy_on(0, &THREE_WAYS);
    let is_protected_port = |command: &Command| {
        matches!(command, Command::AddProtectedPort { .. } | Command::SetProtectedPort { .. })
    };
    assert!(!network.changes.iter().any(is_protected_port));
    network.unplug(1, 9);
    assert_eq!(ways(&mut network, streams()[0])[0], [1, 3, 4, 9]);
}

#[test]
fn a_link_without_a_way_round_is_just_a_link() {
    let mut network = busy(&[(1, 2), (2, 9)]);
    assert_eq!(network.rules(3), 0);
    network.unplug(2, 9);
    network.plug(2, 9);
    network.advance(Duration::from_secs(3));
    assert_eq!(ways(&mut network, streams()[0])[0], [1, 2, 9]);
}

#[test]
fn a_bypass_that_a_switch_refuses_or_does_not_confirm_is_not_taken() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.mute.insert(dpid(2));
    open(&mut network, streams()[0]);
    network.advance(Duration::from_secs(1));
    let led = |network: &Network| {
        let mut told = network.changes.iter().filter_map(|command| match command {
            Command::SetProtectedPort { dpid, protected } => {
                Some((*dpid, protected.port, protected.bypass.is_some()))
            }
            _ => None,
        });
        told.rfind(|(at, port, _)| (at.0, port.0) == (1, 9)).is_some_and(|(.., led)| led)
    };
    assert!(!led(&network), "the way over 2 is not confirmed");
    network.mute.clear();
    network.advance(Duration::from_secs(5));
    assert!(led(&network), "it was tried again");
    let bypass = network.find_rule(|rule| matches!(rule, Rule::Bypass { .. }));
    network.refuse(2, bypass);
    network.advance(Duration::from_secs(5));
    assert_eq!(ways(&mut network, streams()[0])[0], [1, 9]);
}

#[test]
fn after_a_restart_packets_still_go_round() {
    let mut network = busy(&THREE_WAYS);
    network.kill();
    network.start_again();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    network.advance(Duration::from_secs(20));
    assert_eq!(network.changes, []);
    network.kill();
    network.unplug(1, 9);
    assert_eq!(ways(&mut network, streams()[0])[0], [1, 2, 9]);
}
