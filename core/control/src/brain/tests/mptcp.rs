//! MPTCP subflows: a path for each, refused and reversed joins, rules at the edge switches only.

use std::time::Duration;

use braid_packet::TcpFlags;
use braid_packet::mptcp::{Key, Keys, MpCapable, MpCapableFlags, MpJoin, Version};
use braid_steering::StreamId;
use braid_types::FiveTuple;

use super::network::{Network, ip, tuple};

/// Three edge-disjoint paths from 1 to 9, of one, two and three hops.
pub(super) const THREE_WAYS: [(u64, u64); 6] = [(1, 9), (1, 2), (2, 9), (1, 3), (3, 4), (4, 9)];
pub(super) const KEY: Key = Key(0x0123_4567_89ab_cdef);
const SYN_ACK: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0);
pub(super) const RST_ACK: TcpFlags = TcpFlags(TcpFlags::RST.0 | TcpFlags::ACK.0);

fn capable(keys: Keys) -> Vec<u8> {
    let mut option = Vec::new();
    MpCapable { version: Version::V1, flags: MpCapableFlags(1), keys }.encode(&mut option);
    option
}

pub(super) fn join(key: Key) -> Vec<u8> {
    let mut option = Vec::new();
    let token = key.token(Version::V1);
    MpJoin::Syn { backup: false, address_id: 1, token, nonce: 7 }.encode(&mut option);
    option
}

/// The packets of both hosts in an MP_CAPABLE handshake.
pub(super) fn open(network: &mut Network, tuple: FiveTuple) {
    open_with(network, tuple, KEY);
}

/// A separate connection for each number.
pub(super) fn open_with_key(network: &mut Network, tuple: FiveTuple, number: u64) {
    open_with(network, tuple, Key(number));
}

pub(super) fn open_with(network: &mut Network, tuple: FiveTuple, key: Key) {
    network.send_tcp(1, 9, tuple, TcpFlags::SYN, &capable(Keys::None));
    assert_eq!(network.received(9).len(), 1, "the SYN arrives");
    network.send_tcp(9, 1, tuple.reversed(), SYN_ACK, &capable(Keys::Sender(key)));
    assert_eq!(network.received(1).len(), 1, "the SYN/ACK arrives");
}

fn join_answer() -> Vec<u8> {
    let mut option = Vec::new();
    MpJoin::SynAck { backup: false, address_id: 1, hmac: 7, nonce: 7 }.encode(&mut option);
    option
}

/// Opens another subflow, which the answering host accepts.
pub(super) fn add(network: &mut Network, tuple: FiveTuple) {
    attempt(network, tuple);
    accept(network, 9, tuple);
}

/// Sends the SYN of another subflow.
pub(super) fn attempt(network: &mut Network, tuple: FiveTuple) {
    network.send_tcp(1, 9, tuple, TcpFlags::SYN, &join(KEY));
    assert_eq!(network.received(9).len(), 1, "the SYN arrives");
}

/// Lets a host answer a subflow's SYN.
pub(super) fn accept(network: &mut Network, host: u64, tuple: FiveTuple) {
    let opener = 10 - host;
    network.send_tcp(host, opener, tuple.reversed(), SYN_ACK, &join_answer());
    assert_eq!(network.received(opener).len(), 1, "the SYN/ACK arrives");
}

/// Lets a host refuse or close a subflow.
pub(super) fn reset(network: &mut Network, from: u64, to: u64, tuple: FiveTuple) {
    network.send_tcp(from, to, tuple, RST_ACK, &[]);
    assert_eq!(network.received(to).len(), 1, "the reset arrives");
}

/// The paths of a stream's data and of its acknowledgements.
pub(super) fn ways(network: &mut Network, tuple: FiveTuple) -> [Vec<u64>; 2] {
    network.send_tcp(1, 9, tuple, TcpFlags::ACK, &[]);
    let there = network.way_to(9);
    network.send_tcp(9, 1, tuple.reversed(), TcpFlags::ACK, &[]);
    let mut back = network.way_to(1);
    back.reverse();
    [there, back]
}

#[test]
fn the_rules_of_a_stream_are_known_by_its_number() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let id = network.brain.transfers()[0].streams[0].id;
    for (number, reverse) in [(1, false), (9, true)] {
        let rule = network.brain.stream_rule(id, reverse).expect("it has a path");
        assert!(network.switch(number).has(rule));
    }
    assert_eq!(network.brain.stream_rule(StreamId(id.0 + 1), false), None);
}

#[test]
fn each_subflow_takes_another_path_in_both_directions() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let streams = [1000, 1001, 1002].map(|port| tuple(ip(1), port, ip(9)));
    open(&mut network, streams[0]);
    add(&mut network, streams[1]);
    add(&mut network, streams[2]);
    let taken = streams.map(|stream| ways(&mut network, stream));
    let expected = [vec![1, 9], vec![1, 2, 9], vec![1, 3, 4, 9]];
    assert_eq!(taken, expected.map(|way| [way.clone(), way]));
    assert_eq!(network.brain.transfers().len(), 1);
}

#[test]
fn the_first_packet_of_a_subflow_takes_its_path_already() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let ways = [1001, 1002].map(|port| {
        attempt(&mut network, tuple(ip(1), port, ip(9)));
        network.way_to(9)
    });
    assert_eq!(ways, [vec![1, 2, 9], vec![1, 3, 4, 9]]);
}

#[test]
fn a_subflow_that_was_accepted_and_then_refused_leaves_its_path_to_others() {
    let mut network = Network::start(&[(1, 9), (1, 2), (2, 9)], &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let rules = network.rules(1);
    let (rejected, next) = (tuple(ip(1), 1001, ip(9)), tuple(ip(1), 1002, ip(9)));
    add(&mut network, rejected);
    reset(&mut network, 9, 1, rejected.reversed());
    assert_eq!(network.rules(1), rules, "without waiting for it to be idle");
    add(&mut network, next);
    assert_eq!(ways(&mut network, next)[0], [1, 2, 9]);
}

#[test]
fn an_answer_without_mptcp_refuses_a_subflow() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let stream = tuple(ip(1), 1001, ip(9));
    attempt(&mut network, stream);
    network.send_tcp(9, 1, stream.reversed(), SYN_ACK, &[]);
    assert_eq!(network.brain.sizes().streams, 1);
}

#[test]
fn what_is_not_answered_yet_is_no_part_of_a_transfer() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let (first, second) = (tuple(ip(1), 1000, ip(9)), tuple(ip(1), 1001, ip(9)));
    network.send_tcp(1, 9, first, TcpFlags::SYN, &capable(Keys::None));
    assert_eq!(network.brain.transfers(), []);
    open(&mut network, first);
    attempt(&mut network, second);
    assert_eq!(network.brain.transfers()[0].streams.len(), 1);
    accept(&mut network, 9, second);
    assert_eq!(network.brain.transfers()[0].streams.len(), 2);
}

#[test]
fn subflows_that_opened_at_once_are_spread_evenly_soon_after_they_are_accepted() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let joins = [1001, 1002, 1003, 1004, 1005].map(|port| tuple(ip(1), port, ip(9)));
    joins.iter().for_each(|join| attempt(&mut network, *join));
    joins.iter().for_each(|join| accept(&mut network, 9, *join));
    network.advance(Duration::from_secs(1));
    assert_eq!(subflows_by_hops(&network), [2, 2, 2]);
}

#[test]
fn a_subflow_takes_the_path_of_one_that_ends() {
    let mut network = Network::start(&[(1, 9), (1, 2), (2, 9)], &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let joins = [1001, 1002, 1003].map(|port| tuple(ip(1), port, ip(9)));
    joins.iter().for_each(|join| add(&mut network, *join));
    assert_eq!(subflows_by_hops(&network), [2, 2, 0]);
    let on_second = joins.map(|join| (ways(&mut network, join)[0].len() == 3, join));
    for (_, join) in on_second.into_iter().filter(|(is_on, _)| *is_on) {
        reset(&mut network, 1, 9, join);
    }
    network.advance(Duration::from_secs(1));
    assert_eq!(subflows_by_hops(&network), [1, 1, 0]);
}

/// The number of subflows on paths of one, two and three links.
fn subflows_by_hops(network: &Network) -> [usize; 3] {
    let transfers = network.brain.transfers();
    [2, 3, 4].map(|count| transfers[0].streams.iter().filter(|stream| stream.path.len() == count).count())
}

#[test]
fn only_the_edge_switches_have_rules_for_streams() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let before = network.rules(1);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    (1001..1009).for_each(|port| add(&mut network, tuple(ip(1), port, ip(9))));
    assert_eq!(network.rules(1) - before, 2 * 9);
}

#[test]
fn more_subflows_than_paths_are_spread_evenly() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    (1001..1006).for_each(|port| add(&mut network, tuple(ip(1), port, ip(9))));
    assert_eq!(subflows_by_hops(&network), [2, 2, 2]);
}

#[test]
fn a_join_that_overtakes_the_token_is_moved_to_a_path_of_its_own() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let (first, early) = (tuple(ip(1), 1000, ip(9)), tuple(ip(1), 1001, ip(9)));
    network.send_tcp(1, 9, first, TcpFlags::SYN, &capable(Keys::None));
    add(&mut network, early);
    assert_eq!(ways(&mut network, early)[0], [1, 9]);
    network.send_tcp(9, 1, first.reversed(), SYN_ACK, &capable(Keys::Sender(KEY)));
    assert_eq!(ways(&mut network, early)[0], [1, 2, 9]);
    assert_eq!(network.brain.transfers().len(), 1);
}

#[test]
fn joins_whose_connection_was_never_seen_still_avoid_each_other() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let streams = [1001, 1002].map(|port| tuple(ip(1), port, ip(9)));
    streams.iter().for_each(|stream| add(&mut network, *stream));
    let taken = streams.map(|stream| ways(&mut network, stream)[0].clone());
    assert_eq!(taken, [vec![1, 9], vec![1, 2, 9]]);
}

#[test]
fn a_receiver_without_mptcp_ends_the_transfer() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let (stream, rules) = (tuple(ip(1), 1000, ip(9)), network.rules(1));
    network.send_tcp(1, 9, stream, TcpFlags::SYN, &capable(Keys::None));
    network.send_tcp(9, 1, stream.reversed(), SYN_ACK, &[]);
    assert_eq!(network.received(1).len(), 1);
    assert!(network.brain.transfers().is_empty());
    assert_eq!(network.rules(1), rules);
}

#[test]
fn a_repeated_syn_changes_nothing_and_arrives() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    network.send_tcp(1, 9, stream, TcpFlags::SYN, &capable(Keys::None));
    let before = network.brain.sizes();
    network.send_tcp(1, 9, stream, TcpFlags::SYN, &capable(Keys::None));
    assert_eq!(network.received(9).len(), 1);
    assert_eq!(network.brain.sizes(), before);
}

#[test]
fn ports_that_are_used_again_open_a_transfer_of_their_own() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let stream = tuple(ip(1), 1000, ip(9));
    open(&mut network, stream);
    add(&mut network, tuple(ip(1), 1001, ip(9)));
    open_with(&mut network, stream, Key(7));
    assert_eq!(network.brain.transfers().len(), 2);
}

#[test]
fn a_stream_that_times_out_in_one_switch_leaves_the_other_too() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let rules = network.rules(1);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    let id = network.brain.transfers()[0].streams[0].id;
    let cookie = crate::Cookie::new(crate::Purpose::Stream { id, reverse: false });
    let dpid = super::network::dpid(1);
    network.tell(&crate::Event::FlowRemoved { dpid, cookie, bytes: 4711 });
    assert!(network.brain.transfers().is_empty());
    assert!(network.rules(1) <= rules + 1, "the switch itself removes the one that timed out");
}

#[test]
fn malformed_options_fall_back_to_the_default_path() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    for (port, option) in (2000..).zip([vec![30, 3, 0], vec![30, 0], vec![30, 13, 0], vec![30, 41], vec![30]])
    {
        network.send_tcp(1, 9, tuple(ip(1), port, ip(9)), TcpFlags::SYN, &option);
        assert_eq!(network.received(9).len(), 1, "{option:?}");
    }
    assert!(network.brain.transfers().is_empty());
}
