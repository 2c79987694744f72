//! A controller that was stopped or short of processor time finds its network soon afterwards.

use std::time::Duration;

use braid_topology::generate::{Links, fat_tree};
use braid_types::DatapathId;

use super::Large;
use crate::event::Event;
use crate::settings::Settings;

const SECOND: Duration = Duration::from_secs(1);

fn fat_tree_12() -> Large {
    let blueprint = fat_tree(12, Links::default()).expect("a size that there is");
    Large::of(&blueprint, Settings::default())
}

/// The time until the map is complete.
fn time_to_map(network: &mut Large) -> Duration {
    let start = network.now;
    assert!(network.map_within(SECOND * 120), "{} links", network.links());
    network.now.since(start)
}

/// The controller gets no processor for a while, and hears of it afterwards.
fn stall(network: &mut Large, time: Duration) {
    network.now = network.now + time;
    network.tell(&Event::Stalled { time, idle: time });
}

#[test]
fn a_controller_that_was_stopped_for_five_seconds_is_complete_as_soon_as_one_that_was_not() {
    let mut spared = fat_tree_12();
    spared.join_all();
    let usual = time_to_map(&mut spared);
    let mut stopped = fat_tree_12();
    stopped.join_all();
    for _ in 0..10 {
        stall(&mut stopped, SECOND / 2);
        stopped.advance(SECOND / 10);
    }
    assert!(time_to_map(&mut stopped) <= usual * 2);
}

#[test]
fn a_controller_that_gets_a_fifth_of_the_time_finds_every_link_in_ten_times_the_time() {
    let mut spared = fat_tree_12();
    spared.join_all();
    let usual = time_to_map(&mut spared);
    let mut starved = fat_tree_12();
    starved.join_all();
    let start = starved.now;
    while starved.links() < starved.directed_links() as u64 {
        stall(&mut starved, SECOND * 2 / 5);
        starved.advance(SECOND / 10);
        assert!(starved.now.since(start) < usual * 10 + SECOND * 10, "{} links", starved.links());
    }
    assert_eq!((starved.brain.counters().links_lost, starved.brain.counters().alarms), (0, 0));
}

#[test]
fn a_switch_with_thousands_of_ports_does_not_slow_the_discovery_of_others() {
    let mut usual = fat_tree_12();
    usual.join_all();
    let usual = time_to_map(&mut usual);
    let mut beside = fat_tree_12();
    let giant = DatapathId(1 << 40);
    beside.add_ports(giant, 5_000);
    beside.join(giant);
    beside.join_all();
    assert!(time_to_map(&mut beside) <= usual * 2);
    let lost = beside.brain.counters().links_lost;
    beside.advance(SECOND * 15);
    assert_eq!(beside.brain.counters().links_lost, lost);
}
