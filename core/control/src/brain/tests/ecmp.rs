//! Default paths over equal-cost paths: how flows spread, what a failure moves, and what a restart rewrites.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use braid_packet::TcpFlags;
use braid_packet::arp::Arp;

use super::network::{Network, dpid, ip, mac, tuple};
use crate::command::Command;
use crate::event::Event;
use crate::pipeline::{Exit, Hop, Rule};
use crate::settings::Settings;

/// Four paths of equal cost from 1 to 9, and a longer one.
const FOUR_EQUAL: [(u64, u64); 11] =
    [(1, 2), (2, 9), (1, 3), (3, 9), (1, 4), (4, 9), (1, 5), (5, 9), (1, 6), (6, 7), (7, 9)];
const FLOWS: u16 = 64;

fn network() -> Network {
    start(Settings::default())
}

fn start(settings: Settings) -> Network {
    let mut network = Network::start_with_ecmp(true, settings, &FOUR_EQUAL, &[1, 9]);
    ways(&mut network);
    network.advance(Duration::from_secs(1));
    network
}

/// The way of each flow from 1 to 9.
fn ways(network: &mut Network) -> BTreeMap<u16, Vec<u64>> {
    let way = |port| {
        let flow = tuple(ip(1), port, ip(9));
        network.send_tcp(1, 9, flow, TcpFlags::ACK, &[]);
        (port, network.way_to(9))
    };
    (0..FLOWS).map(way).collect()
}

fn middles(ways: &BTreeMap<u16, Vec<u64>>) -> BTreeSet<u64> {
    ways.values().map(|way| way[1]).collect()
}

fn is_route(command: &Command) -> bool {
    let is_route = |rule: &Rule| matches!(rule, Rule::Route { .. } | Rule::ArpRoute { .. });
    matches!(command, Command::Add { rule, .. } | Command::Delete { rule, .. } if is_route(rule))
}

#[test]
fn flows_spread_over_all_paths_of_equal_cost_and_over_no_longer_one() {
    let mut network = network();
    let first = ways(&mut network);
    assert_eq!(middles(&first), BTreeSet::from([2, 3, 4, 5]));
    assert_eq!(ways(&mut network), first, "a flow keeps its path");
}

#[test]
fn a_failure_moves_the_flows_of_its_path_only_and_rewrites_no_rule() {
    let mut network = network();
    let before = ways(&mut network);
    network.changes.clear();
    network.unplug(3, 9);
    network.advance(Duration::from_secs(1));
    let after = ways(&mut network);
    let moved = before.iter().filter(|(flow, way)| after[flow] != **way);
    assert!(moved.clone().count() > 0 && moved.clone().all(|(_, way)| way[1] == 3));
    assert_eq!(middles(&after), BTreeSet::from([2, 4, 5]));
    assert_eq!(network.changes.iter().filter(|it| is_route(it)).count(), 0);
}

#[test]
fn flows_use_a_link_again_when_it_is_back() {
    let mut network = network();
    network.unplug(3, 9);
    network.advance(Duration::from_secs(1));
    let without = ways(&mut network);
    network.changes.clear();
    network.plug(3, 9);
    network.advance(Duration::from_secs(3));
    let with = ways(&mut network);
    assert_eq!(middles(&with), BTreeSet::from([2, 3, 4, 5]));
    let moved = without.iter().filter(|(flow, way)| with[flow] != **way);
    assert!(moved.clone().all(|(flow, _)| with[flow][1] == 3), "only to the path that is back");
    assert_eq!(network.changes.iter().filter(|it| is_route(it)).count(), 0);
}

#[test]
fn the_last_equal_path_and_then_a_longer_one_carry_everything() {
    let mut network = network();
    for middle in [2, 3, 4] {
        network.unplug(middle, 9);
        network.advance(Duration::from_secs(1));
    }
    assert_eq!(middles(&ways(&mut network)), BTreeSet::from([5]));
    network.unplug(5, 9);
    network.advance(Duration::from_secs(1));
    assert_eq!(middles(&ways(&mut network)), BTreeSet::from([6]));
}

#[test]
fn without_a_controller_flows_leave_a_port_that_is_down() {
    let mut network = Network::start_with_ecmp(false, Settings::default(), &FOUR_EQUAL, &[1, 9]);
    let before = ways(&mut network);
    network.kill();
    network.unplug(1, 4);
    let after = ways(&mut network);
    let moved = before.iter().filter(|(flow, way)| after[flow] != **way);
    assert!(moved.clone().count() > 0 && moved.clone().all(|(_, way)| way[1] == 4));
}

#[test]
fn one_path_is_enough_if_ecmp_is_off_or_a_switch_has_no_select_groups() {
    let mut off = start(Settings { ecmp_paths: 1, ..Settings::default() });
    assert_eq!(middles(&ways(&mut off)).len(), 1);
    let mut without = Network::start(&FOUR_EQUAL, &[1, 9]);
    assert_eq!(middles(&ways(&mut without)).len(), 1);
}

#[test]
fn a_limit_of_paths_holds() {
    let mut network = start(Settings { ecmp_paths: 2, ..Settings::default() });
    assert_eq!(middles(&ways(&mut network)).len(), 2);
}

#[test]
fn groups_grow_with_pairs_of_switches_and_not_with_addresses() {
    let mut network = network();
    network.changes.clear();
    for address in 100..120 {
        let address = Ipv4Addr::new(10, 0, 1, address);
        network.send(9, &Arp::request(mac(9), address, address).frame());
        network.send_tcp(1, 9, tuple(ip(1), 7, address.into()), TcpFlags::ACK, &[]);
        assert_eq!(network.received(9).len(), 1);
    }
    let groups = network.changes.iter().filter(|it| matches!(it, Command::SetEcmp { .. })).count();
    let labels =
        network.changes.iter().filter(|it| matches!(it, Command::Add { rule: Rule::Transit(_), .. }));
    assert_eq!((groups, labels.count()), (0, 0));
}

#[test]
fn a_restart_writes_nothing_and_moves_no_flow() {
    let mut network = network();
    network.send_tcp(9, 1, tuple(ip(9), 7, ip(1)), TcpFlags::ACK, &[]);
    let before = ways(&mut network);
    network.kill();
    network.start_again();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    assert_eq!(ways(&mut network), before);
    network.advance(Duration::from_secs(20));
    assert_eq!(ways(&mut network), before);
    let is_new = |command: &&Command| {
        is_route(command)
            || matches!(command, Command::SetEcmp { .. } | Command::RemoveEcmp { .. })
            || matches!(command, Command::Add { rule: Rule::Transit(_) | Rule::Egress { .. }, .. })
    };
    assert_eq!(network.changes.iter().filter(is_new).collect::<Vec<_>>(), Vec::<&Command>::new());
    network.unplug(3, 9);
    network.advance(Duration::from_secs(1));
    assert_eq!(middles(&ways(&mut network)), BTreeSet::from([2, 4, 5]), "the group is looked after again");
}

#[test]
fn a_controller_without_ecmp_removes_the_groups_of_an_earlier_one() {
    let mut network = network();
    network.kill();
    network.start_again_with(Settings { ecmp_paths: 0, ..Settings::default() });
    network.numbers().into_iter().for_each(|number| network.connect(number));
    network.advance(Duration::from_secs(20));
    assert_eq!(middles(&ways(&mut network)).len(), 1);
    let removed = network.changes.iter().filter(|it| matches!(it, Command::RemoveEcmp { .. }));
    assert!(removed.count() > 0);
    let found = network.switch(1).found();
    assert!(found.ecmp_groups.is_empty());
}

#[test]
fn a_failure_while_no_controller_runs_is_repaired_by_the_next_one() {
    let mut network = network();
    network.kill();
    network.unplug(3, 9);
    network.start_again();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    network.advance(Duration::from_secs(20));
    assert_eq!(middles(&ways(&mut network)), BTreeSet::from([2, 4, 5]));
    assert_eq!(network.switch(1).found().ecmp_groups.len(), 1);
}

#[test]
fn a_switch_that_refuses_the_group_gets_one_path() {
    let mut network = network();
    let refused = network.changes.iter().find_map(|command| match command {
        Command::Add {
            dpid,
            rule: rule @ Rule::Route { hop: Hop { exit: Exit::Balanced { .. }, .. }, .. },
        } => Some((*dpid, *rule)),
        _ => None,
    });
    let (switch, rule) = refused.expect("a route over several paths");
    assert_eq!(switch, dpid(1));
    network.tell(&Event::Refused { dpid: switch, rule: Some(rule), reason: "BadOutGroup".to_owned() });
    network.switch(1).lose_rule(rule);
    assert_eq!(middles(&ways(&mut network)).len(), 1);
}

#[test]
fn groups_of_hosts_that_are_gone_are_removed() {
    let mut network = network();
    assert_eq!(network.switch(1).found().ecmp_groups.len(), 1);
    network.disconnect(9);
    network.advance(Duration::from_secs(60));
    assert!(network.switch(1).found().ecmp_groups.is_empty());
}
