//! Take-overs by a controller that was told which plain connections belong together.

use std::time::Duration;

use braid_assign::PromisedAssignment;
use braid_packet::TcpFlags;
use braid_steering::TransferKind;
use braid_types::FiveTuple;

use super::assignments::{claim, owner};
use super::facts::{connect_all, known, settle, take_all, take_over};
use super::mptcp::THREE_WAYS;
use super::network::{Network, ip, tuple};
use crate::event::Event;
use crate::request::{AssignmentView, Reply, Request};
use crate::settings::Settings;

fn stream(port: u16) -> FiveTuple {
    tuple(ip(1), port, ip(9))
}

/// The number of connections on each path of the only assignment.
fn distributed(network: &Network) -> Vec<usize> {
    network.brain.assignments()[0].paths.iter().map(|path| path.streams).collect()
}

/// An assignment of two paths with three connections.
fn led_network() -> (Network, AssignmentView) {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    network.brain.publish_facts(true);
    let made = network.assign(claim("alice", 2));
    for port in 1_000..1_003 {
        network.place(made.id, "alice", stream(port)).expect("a path");
    }
    network.advance(Duration::from_secs(1));
    (network, made)
}

#[test]
fn connections_that_were_announced_stay_those_of_their_assignment() {
    let (mut network, made) = led_network();
    let before = distributed(&network);
    let facts = known(take_all(&mut network));
    take_over(&mut network, facts);
    let promised = vec![PromisedAssignment { id: made.id, claim: claim("alice", 2) }];
    network.tell(&Event::Assignments { promised });
    connect_all(&mut network);
    settle(&mut network);
    assert_eq!(network.changes, [], "no rule is written again");
    let transfers = network.brain.transfers();
    assert_eq!((transfers.len(), transfers[0].kind), (1, TransferKind::Parallel));
    assert_eq!(distributed(&network), before);
    let end = Request::End { assignment: made.id, owner: Some(owner("alice")), tuple: stream(1_000) };
    assert_eq!(network.ask(end), Some(Reply::Ended));
}

#[test]
fn without_facts_connections_that_were_announced_are_nobodys() {
    let (mut network, made) = led_network();
    take_over(&mut network, Vec::new());
    let promised = vec![PromisedAssignment { id: made.id, claim: claim("alice", 2) }];
    network.tell(&Event::Assignments { promised });
    connect_all(&mut network);
    settle(&mut network);
    assert_eq!(distributed(&network), [0, 0]);
}

#[test]
fn a_connection_to_be_sprayed_that_has_one_path_at_the_take_over_is_sprayed_when_there_are_more() {
    let mut network = Network::start_with_edges(Settings::default(), &THREE_WAYS, &[1, 9]);
    network.brain.publish_facts(true);
    network.send_tcp(1, 9, stream(1_000), TcpFlags::SYN, &[]);
    // It loses all its paths, and gets a single one.
    for (a, b) in [(1, 2), (1, 3), (1, 9)] {
        network.unplug(a, b);
    }
    network.advance(Duration::from_secs(1));
    network.plug(1, 9);
    network.advance(Duration::from_secs(10));
    let facts = known(take_all(&mut network));
    take_over(&mut network, facts);
    connect_all(&mut network);
    settle(&mut network);
    let kind = |network: &Network| network.brain.transfers()[0].kind;
    assert_eq!(kind(&network), TransferKind::Spray);
    network.plug(1, 2);
    network.plug(1, 3);
    network.advance(Duration::from_secs(10));
    assert_eq!(network.brain.transfers()[0].streams[0].spray_paths.len(), 3);
}
