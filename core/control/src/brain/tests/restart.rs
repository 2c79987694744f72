//! Restarts of the controller or a switch: traffic continues, and only differences are written.

use std::collections::BTreeSet;
use std::time::Duration;

use braid_openflow::{Cookie as WireCookie, FlowMod, Match, OxmField, TableId};
use braid_packet::TcpFlags;
use braid_steering::StreamId;
use braid_types::{FiveTuple, PortNo};

use super::mptcp::{THREE_WAYS, add, open, ways};
use super::network::{Network, dpid, ip, mac, port, tuple};
use crate::command::{Command, Commands};
use crate::cookie::{Cookie, OURS, Purpose};
use crate::event::Event;
use crate::label::Label;
use crate::pipeline::{Hop, Rule};
use crate::role::Role;

const WAYS: [&[u64]; 3] = [&[1, 9], &[1, 2, 9], &[1, 3, 4, 9]];

fn streams() -> [FiveTuple; 3] {
    [1000, 1001, 1002].map(|port| tuple(ip(1), port, ip(9)))
}

/// Another connection of the same two hosts, on the path of the first.
fn unrelated() -> FiveTuple {
    tuple(ip(1), 3000, ip(9))
}

/// Three subflows, each on its own path, and another host.
fn busy_network() -> Network {
    let mut network = Network::start(&THREE_WAYS, &[1, 3, 9]);
    let [first, second, third] = streams();
    open(&mut network, first);
    add(&mut network, second);
    add(&mut network, third);
    open(&mut network, unrelated());
    for (from, to) in [(1, 3), (3, 1), (3, 9), (9, 3)] {
        network.send_tcp(from, to, tuple(ip(from), 7, ip(to)), TcpFlags::ACK, &[]);
    }
    network.advance(Duration::from_secs(1));
    network
}

fn broadcast() -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend(mac(1).octets());
    frame.extend([0x88, 0xb5, 0, 0]);
    frame
}

/// Checks that all traffic takes its previous paths.
fn assert_unmoved(network: &mut Network) {
    let taken = streams().map(|stream| ways(network, stream));
    assert_eq!(taken, WAYS.map(|way| [way.to_vec(), way.to_vec()]));
    assert_eq!(ways(network, unrelated()), [WAYS[0], WAYS[0]]);
    network.send_tcp(3, 9, tuple(ip(3), 7, ip(9)), TcpFlags::ACK, &[]);
    assert_eq!(network.way_to(9), [3, 1, 9]);
    network.send(1, &broadcast());
    assert_eq!([1, 3, 9].map(|host| network.received(host).len()), [0, 1, 1]);
}

fn restart(network: &mut Network, order: &[u64]) {
    network.kill();
    assert_unmoved(network);
    network.start_again();
    for number in order {
        network.connect(*number);
        assert_unmoved(network);
    }
}

fn settle(network: &mut Network) {
    network
        .advance(network.brain.settings().reconcile_timeout + network.brain.settings().install_timeout * 2);
}

#[test]
fn a_controller_that_starts_again_writes_nothing_and_moves_nothing() {
    for order in [[1, 2, 3, 4, 9], [9, 4, 3, 2, 1], [3, 9, 1, 4, 2]] {
        let mut network = busy_network();
        let ends = |network: &Network| {
            network.brain.links().iter().map(|link| (link.src, link.dst)).collect::<Vec<_>>()
        };
        let before = (ends(&network), network.brain.sizes());
        restart(&mut network, &order);
        for _ in 0..200 {
            network.advance(Duration::from_millis(100));
            assert_unmoved(&mut network);
        }
        assert_eq!(network.changes, []);
        let (links, mut sizes) = before;
        assert_eq!(ends(&network), links);
        // The transfer of each stream is not known, only that all are between the same two hosts.
        sizes.transfers = 1;
        assert_eq!(network.brain.sizes(), sizes);
        assert!(network.brain.hosts().iter().all(|host| host.at.port == super::network::HOST_PORT));
    }
}

#[test]
fn a_controller_that_leads_again_after_another_one_moves_nothing() {
    for (order, away) in
        [([1, 2, 3, 4, 9], 0), ([1, 2, 3, 4, 9], 1), ([9, 4, 3, 2, 1], 30), ([3, 9, 1, 4, 2], 90)]
    {
        let mut network = busy_network();
        let bypasses = network.rules(3);
        assert!(bypasses > 0);
        network.depose();
        network.advance(Duration::from_secs(away));
        network.changes.clear();
        for number in order {
            network.connect(number);
            assert_unmoved(&mut network);
            network.advance(Duration::from_millis(300));
            assert_unmoved(&mut network);
        }
        settle(&mut network);
        assert_unmoved(&mut network);
        assert_eq!(network.changes, [], "after {away} s");
        network.advance(network.brain.settings().label_linger);
        assert_eq!(network.rules(3), bypasses, "after {away} s");
    }
}

/// The rules of the third stream, each with its switch.
fn third(network: &mut Network) -> [(u64, Rule); 2] {
    let is_third = |rule: &Rule| match rule {
        Rule::Stream { tuple, .. } => [tuple.src_port, tuple.dst_port].contains(&1002),
        _ => false,
    };
    [1, 9].map(|number| {
        let rules = network.switch(number).found().rules;
        (number, rules.into_iter().find(is_third).expect("the third stream"))
    })
}

#[test]
fn a_stream_that_ended_under_another_controller_gets_no_rules_when_this_one_leads_again() {
    let mut network = busy_network();
    network.depose();
    for (number, rule) in third(&mut network) {
        network.switch(number).lose_rule(rule);
    }
    network.advance(Duration::from_secs(1));
    network.changes.clear();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    settle(&mut network);
    let is_written = |command: &Command| matches!(command, Command::Add { .. });
    assert!(!network.changes.iter().any(is_written), "{:?}", network.changes);
    assert_eq!(network.brain.sizes().streams, 3);
}

#[test]
fn of_two_streams_with_the_same_ends_the_one_of_the_controller_between_is_known() {
    let mut network = busy_network();
    network.depose();
    for (number, rule) in third(&mut network) {
        let Rule::Stream { id, reverse, tuple, hop } = rule else { unreachable!() };
        let rule = Rule::Stream { id: StreamId(id.0 + 100), reverse, tuple, hop };
        network.obey_now(&Command::Add { dpid: dpid(number), rule }, &Commands::default());
    }
    network.changes.clear();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    settle(&mut network);
    assert_eq!(network.changes, []);
    assert_unmoved(&mut network);
    assert_eq!(network.brain.sizes().streams, 4);
}

#[test]
fn the_rule_of_a_stream_that_lost_the_other_one_is_not_written_again() {
    for (lost, left) in [(0, 1), (1, 0)] {
        let mut network = busy_network();
        network.kill();
        let rules = third(&mut network);
        let ((number, lost), (_, left)) = (rules[lost], rules[left]);
        network.switch(number).lose_rule(lost);
        network.start_again();
        network.numbers().into_iter().for_each(|number| network.connect(number));
        settle(&mut network);
        assert_unmoved(&mut network);
        let is_written = |it: &Command| matches!(it, Command::Add { rule, .. } if *rule == left);
        assert!(!network.changes.iter().any(is_written), "{:?}", network.changes);
    }
}

#[test]
fn new_streams_find_their_way_after_a_restart_and_get_numbers_of_their_own() {
    let mut network = busy_network();
    restart(&mut network, &[1, 2, 3, 4, 9]);
    settle(&mut network);
    let known: Vec<_> = network.brain.transfers()[0].streams.iter().map(|stream| stream.id).collect();
    let stream = tuple(ip(1), 2000, ip(9));
    open(&mut network, stream);
    let opened = network.brain.transfers().last().expect("a transfer").streams[0].id;
    assert!(!known.contains(&opened));
    network.send_tcp(9, 3, tuple(ip(9), 2001, ip(3)), TcpFlags::SYN, &[30, 4, 1, 1]);
    assert_eq!(network.received(3).len(), 1);
    assert_unmoved(&mut network);
}

#[test]
fn a_link_that_broke_meanwhile_moves_its_streams_and_no_others() {
    let mut network = busy_network();
    network.kill();
    network.unplug(1, 2);
    network.start_again();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    settle(&mut network);
    let [first, second, third] = streams();
    assert_eq!(ways(&mut network, first)[0], WAYS[0]);
    assert_eq!(ways(&mut network, second)[0].last(), Some(&9));
    assert_eq!(ways(&mut network, third)[0], WAYS[2]);
    let of = |wanted: FiveTuple| {
        network.changes.iter().any(|command| match command {
            Command::Add { rule: Rule::Stream { tuple, .. }, .. } => {
                [wanted, wanted.reversed()].contains(tuple)
            }
            _ => false,
        })
    };
    assert_eq!([of(first), of(second), of(third)], [false, true, false]);
}

#[test]
fn a_switch_that_lost_its_rules_meanwhile_gets_them_back() {
    for lost in [1, 2, 9] {
        let mut network = busy_network();
        let rules = [0, 1].map(|table| network.rules(table));
        network.kill();
        *network.switch(lost) = Default::default();
        network.start_again();
        network.numbers().into_iter().for_each(|number| network.connect(number));
        network.advance(Duration::from_secs(3));
        [1, 3, 9].into_iter().for_each(|host| network.announce(host));
        settle(&mut network);
        let sorted = streams().map(|stream| ways(&mut network, stream)[0].clone());
        assert!(sorted.iter().all(|way| way.last() == Some(&9)), "{sorted:?}");
        assert_eq!([0, 1].map(|table| network.rules(table)), rules, "switch {lost}");
    }
}

#[test]
fn a_switch_that_never_comes_back_is_gone_round() {
    let mut network = busy_network();
    network.kill();
    network.start_again();
    [1, 3, 4, 9].into_iter().for_each(|number| network.connect(number));
    assert_unmoved(&mut network);
    settle(&mut network);
    let way = ways(&mut network, streams()[1])[0].clone();
    assert!(way == WAYS[0] || way == WAYS[2], "{way:?}");
    let roles = network.brain.switches().swap_remove(0).ports;
    let towards_2 = roles.iter().find(|it| it.port == port(1, 2).port).and_then(|it| it.role);
    assert_eq!(towards_2, Some(Role::Silent));
}

#[test]
fn what_nobody_wants_is_removed_and_what_is_foreign_stays() {
    let mut network = busy_network();
    let rules = [0, 1, 2, 3, 4].map(|table| network.rules(table));
    network.kill();
    let (fields, table_id) = ([OxmField::InPort(PortNo(77))], TableId(3));
    let plain = FlowMod { matching: Match::new(&fields), table_id, ..FlowMod::default() };
    network.switch(1).plant(FlowMod { cookie: WireCookie(OURS.0), ..plain });
    let label = OxmField::EthDst(Label(0xdead).mac().into());
    let cookie = WireCookie(Cookie::new(Purpose::Fabric(Label(0xdead))).0);
    let table = braid_openflow::Instruction::GotoTable(TableId(4));
    network.switch(4).plant(FlowMod {
        cookie,
        priority: 50,
        table_id,
        matching: Match::new(&[label]),
        instructions: braid_openflow::List::new(&[table]),
        ..FlowMod::default()
    });
    network.switch(9).plant(FlowMod { cookie: WireCookie(0x1234), ..plain });
    network.start_again();
    network.numbers().into_iter().for_each(|number| network.connect(number));
    settle(&mut network);
    let [admit, stream, route, fabric, deliver] = rules;
    assert_eq!(
        [0, 1, 2, 3, 4].map(|table| network.rules(table)),
        [admit, stream, route, fabric + 1, deliver]
    );
    let deleted = network.changes.iter().all(|command| {
        matches!(
            command,
            Command::Remove { .. } | Command::Delete { rule: Rule::Egress { label: Label(0xdead) }, .. }
        )
    });
    assert!(deleted && network.changes.len() == 2, "{:?}", network.changes);
    assert_unmoved(&mut network);
}

#[test]
fn a_rule_that_times_out_before_it_is_adopted_ends_its_stream() {
    let mut network = busy_network();
    network.kill();
    network.start_again();
    [1, 2, 3, 9].into_iter().for_each(|number| network.connect(number));
    let is_third = |rule: &Rule| matches!(rule, Rule::Stream { tuple, .. } if tuple.src_port == 1002);
    let rule = network.switch(1).found().rules.into_iter().find(is_third).expect("the third stream");
    network.switch(1).lose_rule(rule);
    let cookie = Cookie::new(rule.purpose());
    network.tell(&Event::FlowRemoved { dpid: dpid(1), cookie, bytes: 1 });
    network.connect(4);
    settle(&mut network);
    let stream = streams()[2];
    let followed = network.brain.transfers()[0].streams.iter().any(|it| it.src_port == stream.src_port);
    let written = network.switch(1).found().rules.into_iter().any(|rule| is_third(&rule));
    assert_eq!(followed, written, "a stream that is known has its rule");
}

#[test]
fn a_switch_whose_channel_breaks_is_compared_and_mended_when_it_is_back() {
    for away in [2, 4, 9] {
        let mut network = busy_network();
        network.break_channel(away);
        network.advance(Duration::from_secs(5));
        network.connect(away);
        settle(&mut network);
        [1, 3, 9].into_iter().for_each(|host| network.announce(host));
        let mut taken = streams().map(|stream| ways(&mut network, stream)[0].clone());
        taken.sort();
        assert_eq!(taken, [WAYS[1], WAYS[2], WAYS[0]], "each has a way of its own again, switch {away}");
        let found = network.numbers().into_iter().flat_map(|number| network.switch(number).found().rules);
        let labels: Vec<_> = found.filter_map(|rule| label_of(&rule)).collect();
        let used = network.brain.sizes().labels as usize;
        let distinct: BTreeSet<_> = labels.iter().copied().collect();
        let (groups, labels): (BTreeSet<_>, BTreeSet<_>) = distinct.into_iter().partition(|it| it.is_group());
        assert_eq!(labels.len(), used, "no rule of a forgotten label is left");
        assert_eq!(groups, labels.iter().filter_map(|label| label.group()).collect(), "and of no group");
        network.send(1, &broadcast());
        assert_eq!([1, 3, 9].map(|host| network.received(host).len()), [0, 1, 1]);
    }
}

fn label_of(rule: &Rule) -> Option<Label> {
    match rule {
        Rule::Transit(Hop { label, .. }) | Rule::Egress { label } => Some(*label),
        _ => None,
    }
}
