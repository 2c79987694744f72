//! Label groups: rules in the middle of a network do not grow with the paths over it.

use std::time::Duration;

use braid_packet::TcpFlags;

use super::network::{Network, dpid, ip, tuple};
use crate::event::Event;
use crate::pipeline::{Hop, Rule, Table};
use crate::settings::Settings;

const STAR: [(u64, u64); 6] = [(1, 5), (2, 5), (3, 5), (5, 6), (5, 7), (5, 8)];
const ENDS: [u64; 6] = [1, 2, 3, 6, 7, 8];

/// Checks that all of these hosts reach each other.
fn assert_all_meet(network: &mut Network, hosts: &[u64]) {
    for from in hosts {
        for to in hosts.iter().filter(|to| *to != from) {
            network.send_tcp(*from, *to, tuple(ip(*from), 7, ip(*to)), TcpFlags::ACK, &[]);
            assert_eq!(network.way_to(*to), [*from, 5, *to]);
        }
    }
}

/// A star whose hosts are all known, and its number of fabric rules before any traffic.
fn star(groups: u32) -> (Network, usize) {
    let mut network = Network::start_on(groups, Settings::default(), &STAR, &ENDS);
    ENDS.iter().for_each(|host| network.announce(*host));
    let before = fabric_rules(&mut network);
    assert_all_meet(&mut network, &ENDS);
    (network, before)
}

fn start_again(network: &mut Network) {
    network.start_again();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    network.advance(Duration::from_secs(12));
}

fn fabric_rules(network: &mut Network) -> usize {
    network.switch(5).rules(Table::Fabric as u8)
}

#[test]
fn a_switch_in_the_middle_has_one_rule_for_all_paths_over_a_link() {
    let (mut network, before) = star(0);
    assert_eq!(network.brain.sizes().labels, 30);
    assert_eq!(fabric_rules(&mut network) - before, 6);
}

#[test]
fn where_links_are_guarded_it_has_one_for_each_port_besides() {
    let (mut network, before) = star(u32::MAX);
    let (links, from_ports, returns) = (6, 6 * 5, 6);
    assert_eq!(fabric_rules(&mut network) - before, links + from_ports + returns);
}

#[test]
fn the_rules_of_a_label_group_leave_with_its_last_path() {
    for groups in [0, u32::MAX] {
        let (mut network, before) = star(groups);
        let all = fabric_rules(&mut network);
        network.unplug(5, 8);
        network.advance(Duration::from_secs(3));
        let fewer = fabric_rules(&mut network);
        assert!(before < fewer && fewer < all, "{before} {fewer} {all}");
        assert_all_meet(&mut network, &ENDS[..5]);
        network.plug(5, 8);
        network.advance(Duration::from_secs(3));
        assert_all_meet(&mut network, &ENDS);
        assert_eq!(fabric_rules(&mut network), all);
        STAR.iter().for_each(|(a, b)| network.unplug(*a, *b));
        network.advance(Duration::from_secs(3));
        assert_eq!(fabric_rules(&mut network), before);
    }
}

#[test]
fn a_controller_that_starts_goes_on_with_label_groups() {
    for groups in [0, u32::MAX] {
        let (mut network, _) = star(groups);
        let rules = fabric_rules(&mut network);
        start_again(&mut network);
        assert_eq!((network.brain.sizes().labels, fabric_rules(&mut network)), (30, rules));
        assert_all_meet(&mut network, &ENDS);
    }
}

#[test]
fn rules_do_not_grow_with_the_starts_of_controllers() {
    for groups in [0, u32::MAX] {
        let (mut network, _) = star(groups);
        let rules = fabric_rules(&mut network);
        for start in 1..=5 {
            start_again(&mut network);
            for end in [1, 8] {
                network.unplug(5, end);
                network.advance(Duration::from_secs(3));
                network.plug(5, end);
                network.advance(Duration::from_secs(3));
            }
            assert_all_meet(&mut network, &ENDS);
            assert_eq!(fabric_rules(&mut network), rules, "start {start}");
        }
    }
}

#[test]
fn paths_that_are_new_while_others_are_taken_up_join_their_label_groups() {
    for groups in [0, u32::MAX] {
        let rules = { star(groups) }.0.switch(5).rules(Table::Fabric as u8);
        let mut network = Network::start_on(groups, Settings::default(), &STAR, &ENDS);
        ENDS.iter().for_each(|host| network.announce(*host));
        for hosts in [3, 4, 5, 6] {
            assert_all_meet(&mut network, &ENDS[..hosts]);
            network.start_again();
            network.numbers().into_iter().for_each(|number| network.connect(number));
            // Links are heard, and unwanted rules still exist.
            network.advance(Duration::from_secs(1));
        }
        assert_all_meet(&mut network, &ENDS);
        network.advance(Duration::from_secs(12));
        assert_all_meet(&mut network, &ENDS);
        assert_eq!((network.brain.sizes().labels, fabric_rules(&mut network)), (30, rules));
    }
}

#[test]
fn new_paths_after_a_start_do_not_take_the_labels_of_old_ones() {
    let mut network = Network::start_on(0, Settings::default(), &STAR, &ENDS);
    ENDS.iter().for_each(|host| network.announce(*host));
    assert_all_meet(&mut network, &ENDS[..3]);
    start_again(&mut network);
    assert_all_meet(&mut network, &ENDS);
    assert_eq!(network.brain.sizes().labels, 30);
}

#[test]
fn a_switch_in_the_middle_that_has_lost_all_gets_it_again() {
    let (mut network, _) = star(0);
    network.disconnect(5);
    network.connect(5);
    network.advance(Duration::from_secs(10));
    ENDS.iter().for_each(|host| network.announce(*host));
    assert_all_meet(&mut network, &ENDS);
}

#[test]
fn a_label_group_that_is_refused_is_given_up_with_all_its_paths() {
    let (mut network, _) = star(0);
    let is_of_group = |rule: &Rule| matches!(rule, Rule::Transit(Hop { label, .. }) if label.is_group());
    let rule = network.find_rule(is_of_group);
    network.tell(&Event::Refused { dpid: dpid(5), rule: Some(rule), reason: "table full".to_owned() });
    network.advance(Duration::from_secs(1));
    assert!(network.brain.sizes().labels <= 25, "five paths lead over a link of the star");
}

#[test]
fn a_rule_for_packets_that_return_is_written_again_after_it_was_refused() {
    let (mut network, _) = star(u32::MAX);
    let rule = network.find_rule(|rule| matches!(rule, Rule::Hairpin { label, .. } if label.is_group()));
    let bar = network.brain.settings().path_suspend_time;
    for _ in 0..2 {
        network.switch(5).lose_rule(rule);
        network.refuse(5, rule);
        network.advance(bar / 2);
        assert!(!network.switch(5).has(rule), "a switch that is full is left alone for a while");
        network.advance(bar);
        assert!(network.switch(5).has(rule));
    }
    network.switch(5).lose_rule(rule);
    network.refuse(5, rule);
    STAR.iter().for_each(|(a, b)| network.unplug(*a, *b));
    network.advance(bar * 2);
    assert!(!network.switch(5).has(rule), "there is nothing that could return");
}
