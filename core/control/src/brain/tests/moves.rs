//! Moves of streams whose rules are not in the switches yet.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_packet::{TcpFlags, build};
use braid_paths::Path;
use braid_steering::{AdviceRequest, StreamId};

use super::advice::{answer, from_1_to_9, open_unheard, put};
use super::mptcp::{KEY, THREE_WAYS, join, open};
use super::network::{Network, dpid, ip, mac, port, tuple};
use crate::brain::{Dispatch, stream_deps};
use crate::command::{Command, Commands};
use crate::fabric::Replaces;
use crate::pipeline::Rule;
use crate::request::Asker;
use crate::streams::{NetworkChange, PlaceOn};

/// Slow switches: what the controller says waits until they read it.
fn slow() -> Network {
    let mut network = Network::start(&THREE_WAYS, &[1, 9]);
    open(&mut network, tuple(ip(1), 1000, ip(9)));
    network.late = Some(BTreeMap::new());
    network
}

/// Lets these switches read everything and answer.
fn catch_up(network: &mut Network, switches: &[u64]) {
    let next = |network: &Network| {
        let mut busy = network.late.iter().flatten().filter(|(_, queue)| !queue.is_empty());
        busy.position(|(dpid, _)| switches.contains(&dpid.0))
    };
    while let Some(place) = next(network) {
        network.act_late(place);
        network.apply_late();
    }
}

/// Moves a stream to the way over these switches, as its transfer spreads.
fn move_to(network: &mut Network, id: StreamId, switches: &[u64]) {
    let paths = network.brain.paths.disjoint(dpid(1), dpid(9));
    let is_it = |path: &&Path| path.switches().eq(switches.iter().copied().map(dpid));
    let path = paths.paths.iter().find(is_it).expect("such a path").clone();
    let (now, mut commands) = (network.now, Commands::default());
    let dispatch = Dispatch { brain: &mut network.brain, now, out: &mut commands };
    let (deps, mut batch) = (&mut stream_deps!(dispatch), Commands::default());
    let hops = dispatch.brain.streams.place(deps, id, PlaceOn::Path(&path), &mut batch).expect("a place");
    dispatch.brain.streams.submit(deps, &hops, batch, Replaces::Working);
    network.carry_out_all(&commands);
}

/// The stream that has no rules yet.
fn newest(network: &Network) -> StreamId {
    network.brain.transfers.streams().map(|stream| stream.id).max().expect("a stream")
}

/// Lets a host open a subflow, whose SYN waits for its rules.
fn hold_syn(network: &mut Network) -> (StreamId, Vec<u8>) {
    let subflow = tuple(ip(1), 1001, ip(9));
    let syn = build::tcp(subflow).macs(mac(1), mac(9)).flags(TcpFlags::SYN).options(&join(KEY)).frame();
    network.send(1, &syn);
    (newest(network), syn)
}

#[test]
fn what_is_moved_before_it_has_rules_gets_those_it_was_to_have() {
    let mut network = slow();
    let ticket = put(&mut network, &AdviceRequest { most: 1, ..from_1_to_9() }, Asker::Trusted);
    let stream = newest(&network);
    move_to(&mut network, stream, &[1, 3, 4, 9]);
    catch_up(&mut network, &[1, 2, 9]);
    network.advance(Duration::from_millis(100));
    let advice = answer(&network, ticket).expect("an answer").clone().expect("advice");
    let [ends] = advice.subflows.as_slice() else { panic!("{advice:?}") };
    network.late = None;
    open_unheard(&mut network, ends);
}

#[test]
fn what_was_to_lead_to_where_a_host_has_left_is_not_written() {
    let mut network = slow();
    let (stream, _) = hold_syn(&mut network);
    let dispatch = Dispatch { brain: &mut network.brain, now: network.now, out: &mut Commands::default() };
    let deps = &mut stream_deps!(dispatch);
    dispatch.brain.streams.handle_change(deps, NetworkChange::AddressMoved(ip(9)));
    move_to(&mut network, stream, &[1, 3, 4, 9]);
    catch_up(&mut network, &[1, 2, 9]);
    let old = port(1, 2);
    let leads_there = |change: &&Command| match change {
        Command::Add { dpid, rule: Rule::Stream { id, hop, .. } } => {
            *id == stream && *dpid == old.dpid && hop.port == old.port
        }
        _ => false,
    };
    assert_eq!(network.changes.iter().filter(leads_there).count(), 0);
}

#[test]
fn a_packet_that_is_held_for_its_rules_leaves_with_them_though_its_stream_is_moved() {
    let mut network = slow();
    let (stream, syn) = hold_syn(&mut network);
    move_to(&mut network, stream, &[1, 3, 4, 9]);
    catch_up(&mut network, &[1, 2, 9]);
    while network.flying() > 0 {
        network.fly(0);
    }
    assert_eq!(network.take_received(9), [(syn, [1, 2, 9].map(dpid).to_vec())]);
}
