//! Discovery frames of neighbouring ports leave together in large networks, and one by one in small ones.
//! That none is sent twice shows in alarms, here and where whole networks come up.

use std::time::Duration;

use braid_topology::generate::{Links, fat_tree, ring};

use super::Large;
use crate::settings::Settings;

/// The discovery frames of a FatTree with k = 8 in a minute at rest, and the writes that they take. It has 640 ports.
fn sent(settings: Settings) -> (u64, u64) {
    let mut network = Large::of(&fat_tree(8, Links::default()).expect("a size that there is"), settings);
    network.join_all();
    assert!(network.map_within(Duration::from_secs(120)), "{} links", network.links());
    network.advance(Duration::from_secs(60));
    let (probes, writes) = (network.probes, network.writes);
    network.advance(Duration::from_secs(60));
    assert_eq!((network.brain.counters().links_lost, network.brain.counters().alarms), (0, 0));
    (network.probes - probes, network.writes - writes)
}

/// Every 10 s, each port is probed.
fn large() -> Settings {
    Settings { probe_rate: 64, ..Settings::default() }
}

#[test]
fn frames_of_neighbouring_ports_leave_together_in_a_large_network() {
    let (frames, writes) = sent(large());
    assert!(frames > 6 * writes, "{frames} frames in {writes} writes");
}

#[test]
fn frames_that_leave_together_are_no_more_than_frames_that_leave_one_by_one() {
    // Jitter shortens intervals by a tenth on average.
    let (frames, expected) = (sent(large()).0, 640 * 60 / 9);
    assert!(frames.abs_diff(expected) < expected / 20, "{frames} frames, about {expected} were expected");
}

#[test]
fn frames_of_a_small_network_leave_one_by_one() {
    // Of 8 ports of a switch, some two are due in each tick.
    let (frames, writes) = sent(Settings::default());
    assert!(frames < 3 * writes, "{frames} frames in {writes} writes");
}

#[test]
fn frames_that_measure_round_trips_leave_with_those_of_a_block() {
    // 66 ports a switch and each probed every 10 s: a block a second.
    let settings = Settings { probe_rate: 256, ..Settings::default() };
    let mut network = Large::of(&ring(40, Links::default()).expect("a ring"), settings);
    network.dpids().into_iter().for_each(|dpid| network.add_ports(dpid, 64));
    network.join_all();
    assert!(network.map_within(Duration::from_secs(120)), "{} links", network.links());
    network.advance(Duration::from_secs(60));
    let (returns, lone) = (network.returns, network.lone_returns);
    network.advance(Duration::from_secs(60));
    let (returns, lone) = (network.returns - returns, network.lone_returns - lone);
    assert!(returns > 40 * 60 / 2, "each switch has one in 2 s or more often: {returns}");
    assert!(lone < returns / 2, "{lone} of {returns} had a write of their own");
}
