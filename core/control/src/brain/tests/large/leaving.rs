//! Many switches leave at once.

use std::time::Duration;

use braid_topology::generate::{Links, fat_tree};

use super::Large;
use crate::settings::Settings;

/// A FatTree of 180 switches and 1,728 directed links, all known.
fn fat_tree_12() -> Large {
    let blueprint = fat_tree(12, Links::default()).expect("a size that there is");
    let mut network = Large::of(&blueprint, Settings::default());
    network.join_all();
    assert!(network.map_within(Duration::from_secs(20)), "{} links", network.links());
    network
}

#[test]
fn switches_that_leave_at_once_cost_a_few_recomputations_and_not_one_each() {
    let mut network = fat_tree_12();
    network.advance(Duration::from_secs(5));
    let before = network.brain.counters().graph_updates;
    network.dpids().into_iter().for_each(|dpid| network.leave(dpid));
    network.advance(Duration::from_secs(2));
    assert_eq!((network.links(), network.brain.sizes().switches), (0, 0));
    let updates = network.brain.counters().graph_updates - before;
    assert!(updates <= 4, "{updates} recomputations for 180 switches");
}

#[test]
fn a_pod_that_leaves_and_returns_at_once_loses_no_link_of_others() {
    let mut network = fat_tree_12();
    let pod: Vec<_> = network.dpids().into_iter().rev().take(12).collect();
    let lost = network.brain.counters().links_lost;
    pod.iter().for_each(|dpid| network.leave(*dpid));
    let of_pod = network.brain.counters().links_lost - lost;
    pod.iter().for_each(|dpid| network.join(*dpid));
    assert!(network.map_within(Duration::from_secs(20)), "{} links", network.links());
    network.advance(Duration::from_secs(10));
    assert_eq!(network.brain.counters().links_lost - lost, of_pod);
    assert_eq!(network.brain.counters().alarms, 0);
}
