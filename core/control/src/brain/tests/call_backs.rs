//! Call-backs: subflows that answering hosts try to open, mostly in vain.

use std::net::Ipv4Addr;
use std::time::Duration;

use braid_packet::TcpFlags;
use braid_packet::arp::Arp;
use braid_packet::mptcp::Key;
use braid_types::FiveTuple;

use super::mptcp::{KEY, RST_ACK, THREE_WAYS, accept, add, join, open, open_with, reset, ways};
use super::network::{Network, ip, mac, tuple};

/// Lets the server open a subflow to its client's port, where nobody listens.
fn call_back(network: &mut Network, first: FiveTuple) -> FiveTuple {
    let back = FiveTuple { dst_port: first.src_port, ..tuple(ip(9), 4000, ip(1)) };
    network.send_tcp(9, 1, back, TcpFlags::SYN, &join(Key(0x0b0b)));
    assert_eq!(network.received(1).len(), 1, "the SYN arrives");
    back
}

#[test]
fn a_subflow_that_the_answering_host_opens_takes_another_path() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let first = tuple(ip(1), 1000, ip(9));
    open(&mut network, first);
    let back = call_back(&mut network, first);
    accept(&mut network, 1, back);
    let taken = [ways(&mut network, first), ways(&mut network, back.reversed())];
    assert_eq!(taken, [vec![1, 9], vec![1, 2, 9]].map(|way| [way.clone(), way]));
    assert_eq!(network.brain.transfers().len(), 1);
}

#[test]
fn an_attempt_that_is_refused_keeps_no_path_from_the_subflow_that_is_not() {
    for refused_first in [true, false] {
        let mut network = Network::start(&[(1, 9), (1, 2), (2, 9)], &[1, 9]);
        let (first, second) = (tuple(ip(1), 1000, ip(9)), tuple(ip(1), 1001, ip(9)));
        open(&mut network, first);
        let rules = network.rules(1);
        let back = call_back(&mut network, first);
        assert_eq!(network.rules(1), rules, "an attempt costs no rules");
        if refused_first {
            reset(&mut network, 1, 9, back.reversed());
        }
        network.send_tcp(1, 9, second, TcpFlags::SYN, &join(KEY));
        assert_eq!(network.received(9).len(), usize::from(refused_first), "it waits for the refusal");
        if !refused_first {
            network.send_tcp(1, 9, back.reversed(), RST_ACK, &[]);
            assert_eq!(network.received(9).len(), 2, "the reset and then the SYN arrive");
        }
        accept(&mut network, 9, second);
        let taken = [first, second].map(|stream| ways(&mut network, stream)[0].clone());
        assert_eq!(taken, [vec![1, 9], vec![1, 2, 9]], "refused first: {refused_first}");
        assert_eq!(network.brain.sizes().streams, 2, "its place is free");
    }
}

#[test]
fn a_refusal_goes_the_way_of_packets_and_waits_for_nothing() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let first = tuple(ip(1), 1000, ip(9));
    open(&mut network, first);
    let back = call_back(&mut network, first);
    let asked = network.brain.counters().packet_ins;
    reset(&mut network, 1, 9, back.reversed());
    assert_eq!(network.brain.counters().packet_ins, asked + 1, "a copy, and no question for a route");
}

#[test]
fn a_subflow_waits_for_no_more_than_a_quarter_of_a_second() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let (first, second) = (tuple(ip(1), 1000, ip(9)), tuple(ip(1), 1001, ip(9)));
    open(&mut network, first);
    call_back(&mut network, first);
    for _ in 0..2 {
        network.send_tcp(1, 9, second, TcpFlags::SYN, &join(KEY));
        assert_eq!(network.received(9).len(), 0);
    }
    network.advance(Duration::from_millis(100));
    assert_eq!(network.received(9).len(), 1, "once, though it was sent twice");
    assert_eq!(network.brain.wake_at(), None);
}

#[test]
fn a_host_that_calls_back_is_expected_to_do_it_again() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let first = tuple(ip(1), 1000, ip(9));
    open(&mut network, first);
    let back = call_back(&mut network, first);
    reset(&mut network, 1, 9, back.reversed());
    let (next, second) = (tuple(ip(1), 2000, ip(9)), tuple(ip(1), 2001, ip(9)));
    let key = Key(0x7777);
    open_with(&mut network, next, key);
    let sent = network.now;
    network.send_tcp(1, 9, second, TcpFlags::SYN, &join(key));
    assert_eq!(network.received(9).len(), 1);
    assert!(network.now.since(sent) >= Duration::from_millis(20), "its call back may be on its way");
}

#[test]
fn a_host_is_expected_to_call_back_until_many_subflows_have_waited_for_that_in_vain() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let first = tuple(ip(1), 1000, ip(9));
    open(&mut network, first);
    let waits = |network: &mut Network, port| {
        let sent = network.now;
        add(network, tuple(ip(1), port, ip(9)));
        network.now.since(sent) >= Duration::from_millis(20)
    };
    assert_eq!((1001..1201).filter(|port| waits(&mut network, *port)).count(), 100);
    let back = call_back(&mut network, first);
    reset(&mut network, 1, 9, back.reversed());
    assert!(waits(&mut network, 1201), "it does after all");
}

#[test]
fn a_call_back_to_another_address_of_the_opening_host_is_one_too() {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    let first = tuple(ip(1), 1000, ip(9));
    open(&mut network, first);
    let other = Ipv4Addr::new(10, 0, 9, 9);
    network.send(1, &Arp::request(mac(1), other, other).frame());
    let back = FiveTuple { dst_port: first.src_port, ..tuple(ip(9), 4000, other.into()) };
    network.send_tcp(9, 1, back, TcpFlags::SYN, &join(Key(0x0b0b)));
    assert_eq!(network.received(1).len(), 1, "the SYN arrives");
    assert_eq!(network.brain.sizes().streams, 1, "it takes the default path");
}
