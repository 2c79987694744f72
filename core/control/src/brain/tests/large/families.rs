//! Networks other than FatTrees come up and stay up.

use std::time::Duration;

use braid_topology::generate::{Jellyfish, Links, jellyfish, line, ring};
use braid_types::{DatapathId, PortNo, SwitchPort};

use super::Large;
use crate::settings::Settings;

const LIMIT: Duration = Duration::from_secs(60);

/// The network comes up, and for 12 s afterwards it loses no link and raises no alarm.
fn comes_up_and_stays(mut network: Large) {
    network.join_all();
    assert!(network.map_within(LIMIT), "{} of {} links", network.links(), network.directed_links());
    network.advance(Duration::from_secs(12));
    let counters = network.brain.counters();
    assert_eq!(network.links(), network.directed_links() as u64);
    assert_eq!((counters.links_lost, counters.alarms), (0, 0));
}

fn star(leaves: u64) -> Large {
    let links = (1..=leaves).map(|leaf| {
        [
            SwitchPort::new(DatapathId(1), PortNo(leaf as u32)),
            SwitchPort::new(DatapathId(leaf + 1), PortNo(1)),
        ]
    });
    Large::wire(Settings::default(), [], links)
}

#[test]
fn a_jellyfish_of_1000_switches_stays_up() {
    let blueprint =
        jellyfish(Jellyfish { switches: 1_000, ports: 6, hosts: 2_000, seed: 7 }, Links::default());
    comes_up_and_stays(Large::of(&blueprint.expect("a network that there is"), Settings::default()));
}

#[test]
fn a_line_of_500_switches_stays_up() {
    comes_up_and_stays(Large::of(&line(500, Links::default()).expect("a line"), Settings::default()));
}

#[test]
fn a_ring_of_500_switches_stays_up() {
    comes_up_and_stays(Large::of(&ring(500, Links::default()).expect("a ring"), Settings::default()));
}

#[test]
fn a_star_of_1000_switches_stays_up() {
    comes_up_and_stays(star(999));
}

#[test]
fn switches_half_a_second_away_stay_up() {
    let mut network = Large::of(&ring(100, Links::default()).expect("a ring"), Settings::default());
    network.delay = Duration::from_millis(500);
    comes_up_and_stays(network);
}

#[test]
fn one_lost_frame_in_ten_loses_no_link() {
    let mut network = Large::of(&ring(100, Links::default()).expect("a ring"), Settings::default());
    network.loss = 10;
    comes_up_and_stays(network);
}
