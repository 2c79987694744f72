use std::collections::BTreeSet;

use braid_packet::TcpFlags;
use braid_packet::mptcp::{Key, Keys, MpCapable, MpCapableFlags, MpJoin, Version};
use braid_steering::StreamId;
use braid_types::FiveTuple;

use super::network::{Network, ip, tuple};

/// Three edge-disjoint ways from 1 to 9: one hop, two hops, three hops.
pub(super) const THREE_WAYS: [(u64, u64); 6] = [(1, 9), (1, 2), (2, 9), (1, 3), (3, 4), (4, 9)];
const KEY: Key = Key(0x0123_4567_89ab_cdef);
const SYN_ACK: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0);

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

/// Both hosts' packets of an MP_CAPABLE handshake.
pub(super) fn open(network: &mut Network, tuple: FiveTuple) {
    open_with(network, tuple, KEY);
}

/// A connection of its own for each number.
pub(super) fn open_with_key(network: &mut Network, tuple: FiveTuple, number: u64) {
    open_with(network, tuple, Key(number));
}

fn open_with(network: &mut Network, tuple: FiveTuple, key: Key) {
    network.send_tcp(1, 9, tuple, TcpFlags::SYN, &capable(Keys::None));
    assert_eq!(network.received(9).len(), 1, "the SYN arrives");
    network.send_tcp(9, 1, tuple.reversed(), SYN_ACK, &capable(Keys::Sender(key)));
    assert_eq!(network.received(1).len(), 1, "the SYN/ACK arrives");
}

/// One more subflow's SYN.
pub(super) fn add(network: &mut Network, tuple: FiveTuple) {
    network.send_tcp(1, 9, tuple, TcpFlags::SYN, &join(KEY));
    assert_eq!(network.received(9).len(), 1, "the SYN arrives");
}

/// The ways of a stream's data and of its acknowledgements.
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
fn a_subflow_that_the_answering_host_opens_takes_another_path() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let first = tuple(ip(1), 1000, ip(9));
    open(&mut network, first);
    let back = FiveTuple { dst_port: first.src_port, ..tuple(ip(9), 4000, ip(1)) };
    network.send_tcp(9, 1, back, TcpFlags::SYN, &join(Key(0x0b0b)));
    assert_eq!(network.received(1).len(), 1, "the SYN arrives");
    let taken = [ways(&mut network, first), ways(&mut network, back.reversed())];
    assert_eq!(taken, [vec![1, 9], vec![1, 2, 9]].map(|way| [way.clone(), way]));
    assert_eq!(network.brain.transfers().len(), 1);
}

#[test]
fn the_first_packet_of_a_subflow_takes_its_path_already() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    add(&mut network, tuple(ip(1), 1001, ip(9)));
    add(&mut network, tuple(ip(1), 1002, ip(9)));
    let placed = network.brain.transfers();
    let paths: BTreeSet<_> = placed[0].streams.iter().map(|stream| stream.path.clone()).collect();
    assert_eq!(paths.len(), 3);
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
    let transfers = network.brain.transfers();
    let hops = |count| transfers[0].streams.iter().filter(|stream| stream.path.len() == count).count();
    assert_eq!([2, 3, 4].map(hops), [2, 2, 2]);
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
    let before = network.brain.transfers();
    network.send_tcp(1, 9, stream, TcpFlags::SYN, &capable(Keys::None));
    assert_eq!(network.received(9).len(), 1);
    assert_eq!(network.brain.transfers(), before);
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
fn malformed_options_fall_back_to_the_default_route() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    for (port, option) in (2000..).zip([vec![30, 3, 0], vec![30, 0], vec![30, 13, 0], vec![30, 41], vec![30]])
    {
        network.send_tcp(1, 9, tuple(ip(1), port, ip(9)), TcpFlags::SYN, &option);
        assert_eq!(network.received(9).len(), 1, "{option:?}");
    }
    assert!(network.brain.transfers().is_empty());
}
