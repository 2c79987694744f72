//! Policies: traffic selection and its steering.

use std::collections::BTreeMap;

use braid_packet::TcpFlags;
use braid_steering::AdviceRequest;

use super::advice::{ask, from_1_to_9, way};
use super::mptcp::{THREE_WAYS, add, open, ways};
use super::network::{Network, ip, tuple};
use crate::event::Event;

fn with_policy(text: &str) -> Network {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.tell(&Event::Policy { text: text.to_owned() });
    network
}

/// How many subflows take each path, by its switches, shortest first.
fn taken(network: &mut Network, ports: impl IntoIterator<Item = u16>) -> Vec<usize> {
    let mut taken = BTreeMap::new();
    for port in ports {
        let [there, _] = ways(network, tuple(ip(1), port, ip(9)));
        *taken.entry((there.len(), there)).or_insert(0) += 1;
    }
    taken.into_values().collect()
}

#[test]
fn what_is_to_be_single_takes_the_default_path_and_is_no_transfer() {
    let mut network =
        with_policy("[[rule]]\nname = \"a\"\nto = [\"10.0.0.9\"]\nports = [5201]\nkind = \"single\"\n");
    let rules = network.rules(1);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    assert!(network.brain.transfers().is_empty());
    assert_eq!(ask(&mut network, &from_1_to_9()), []);
    assert_eq!(network.rules(1), rules);
    let mut other = tuple(ip(1), 1000, ip(9));
    other.dst_port = 80;
    open(&mut network, other);
    assert_eq!(network.brain.transfers().len(), 1);
}

#[test]
fn connections_that_are_to_be_parallel_are_dealt_from_their_first_packets_and_others_are_not() {
    let mut network = with_policy(
        "[[rule]]\nname = \"bulk\"\nto = [\"10.0.0.9\"]\nports = [5201]\nkind = \"parallel\"\nk = 2\n",
    );
    for (src_port, path) in (1000..).zip([vec![1, 9], vec![1, 2, 9], vec![1, 9]]) {
        let stream = tuple(ip(1), src_port, ip(9));
        network.send_tcp(1, 9, stream, TcpFlags::SYN, &[]);
        assert_eq!(network.way_to(9), path, "the first packet");
        assert_eq!(ways(&mut network, stream), [path.clone(), path]);
    }
    let mut other = tuple(ip(1), 1100, ip(9));
    other.dst_port = 80;
    network.send_tcp(1, 9, other, TcpFlags::SYN, &[]);
    assert_eq!(network.way_to(9), [1, 9]);
    assert_eq!((network.brain.transfers().len(), network.brain.transfers()[0].streams.len()), (1, 3));
    network.tell(&Event::Policy { text: String::new() });
    network.send_tcp(1, 9, tuple(ip(1), 1200, ip(9)), TcpFlags::SYN, &[]);
    network.way_to(9);
    assert_eq!(network.brain.transfers()[0].streams.len(), 3, "as the policy says now");
}

#[test]
fn deterministic_fills_the_set_before_any_path_twice_and_spreads_the_rest() {
    let mut network = with_policy("[default]\nplacement = \"deterministic\"\n");
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    assert_eq!(taken(&mut network, [1000]), [1]);
    (1001..1007).for_each(|port| add(&mut network, tuple(ip(1), port, ip(9))));
    assert_eq!(taken(&mut network, 1000..1007), [3, 2, 2]);
}

#[test]
fn k_bounds_the_paths_that_streams_take() {
    let mut network = with_policy("[default]\nk = 2\n");
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    (1001..1004).for_each(|port| add(&mut network, tuple(ip(1), port, ip(9))));
    assert_eq!(taken(&mut network, 1000..1004), [2, 2]);
}

#[test]
fn all_shortest_paths_of_a_set_with_one_leave_one() {
    let mut network = with_policy("[default]\npaths = \"shortest\"\n");
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    (1001..1004).for_each(|port| add(&mut network, tuple(ip(1), port, ip(9))));
    assert_eq!(taken(&mut network, 1000..1004), [4]);
}

#[test]
fn a_host_is_told_of_as_many_subflows_as_the_policy_wants() {
    let mut network = with_policy("[default]\nsubflows = 6\nplacement = \"deterministic\"\n");
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let advised = ask(&mut network, &from_1_to_9());
    assert_eq!(advised.len(), 5);
    let mut counts: BTreeMap<Vec<u64>, usize> = [(vec![1, 9], 1)].into();
    advised.iter().for_each(|ends| *counts.entry(way(&mut network, ends)).or_default() += 1);
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [2, 2, 2]);
    let again = ask(&mut network, &AdviceRequest { subflows: advised.clone(), ..from_1_to_9() });
    assert_eq!(again.len(), 5, "all of them stay");
    assert_eq!(ask(&mut network, &AdviceRequest { most: 3, ..from_1_to_9() }).len(), 3);
}

#[test]
fn streams_that_are_open_keep_their_paths_when_the_policy_changes() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    add(&mut network, tuple(ip(1), 1001, ip(9)));
    let before = network.brain.transfers();
    network.tell(&Event::Policy { text: "[default]\nkind = \"single\"\npaths = \"shortest\"\n".to_owned() });
    network.advance(std::time::Duration::from_secs(5));
    assert_eq!(network.brain.transfers(), before);
    network.send_tcp(1, 9, tuple(ip(1), 1001, ip(9)), TcpFlags::ACK, &[]);
    assert_eq!(network.way_to(9), [1, 2, 9]);
}

#[test]
fn what_is_no_policy_changes_nothing() {
    let mut network = with_policy("[default]\nk = 2\n");
    let before = network.brain.policies().clone();
    network.tell(&Event::Policy { text: "[default]\nk = 0\n".to_owned() });
    assert_eq!(*network.brain.policies(), before);
}
