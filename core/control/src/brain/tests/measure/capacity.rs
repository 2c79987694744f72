//! Capacity measured by trains of frames, and the cases in which a measurement is refused or has no result.

use std::time::Duration;

use braid_types::BitsPerSec;

use super::latent::{Channel, Latent, millis};
use super::port;
use crate::settings::Settings;

const LONG: Duration = Duration::from_secs(20);

fn pair(settings: Settings) -> Latent {
    let channels = [(1, 1), (40, 15)].map(|(down, up)| Channel { down: millis(down), up: millis(up) });
    let mut network = Latent::new(settings, &channels, &[(1, 2, millis(10))]);
    network.run(LONG);
    network
}

#[test]
fn a_link_carries_what_it_spreads_trains_out_to() {
    for rate in [1_000_000, 30_000_000, 100_000_000, 800_000_000] {
        let mut network = pair(Settings::default());
        network.set_rate(1, 2, rate);
        let delay = |network: &Latent| network.link(1, 2).delay_us.map(|it| (it.base, it.current, it.p50));
        let before = delay(&network);
        network.measure_capacity(1, 2);
        network.run(LONG);
        let link = network.link(1, 2);
        let measured = link.measured_capacity_bps.expect("a reading");
        assert!(measured.abs_diff(rate) * 100 <= rate, "{measured} instead of {rate}");
        assert_eq!(link.capacity_bps, measured);
        assert_eq!(network.link(2, 1).measured_capacity_bps, None, "the other direction is another link");
        // Only a frame that waits behind the train is delayed.
        assert_eq!(delay(&network), before, "trains say nothing of delay");
    }
}

#[test]
fn what_was_configured_counts_before_what_is_measured() {
    let capacities = [(port(1, 2), BitsPerSec(5_000_000))].into();
    let mut network = pair(Settings { capacities, ..Settings::default() });
    network.set_rate(1, 2, 30_000_000);
    network.measure_capacity(1, 2);
    network.run(LONG);
    let link = network.link(1, 2);
    assert_eq!(link.capacity_bps, 5_000_000);
    assert!(link.measured_capacity_bps.is_some());
}

#[test]
fn the_speed_of_the_slower_port_is_the_capacity_also_after_it_has_changed() {
    let mut network = pair(Settings::default());
    let both = |network: &Latent| [network.link(1, 2), network.link(2, 1)].map(|link| link.capacity_bps);
    assert_eq!(both(&network), [100_000_000; 2]);
    for speed in [10_000_000, 50_000_000] {
        network.set_speed(2, 1, speed);
        network.run(LONG);
        assert_eq!(both(&network), [speed; 2]);
    }
}

#[test]
fn a_port_that_is_shaped_is_as_slow_as_its_queue() {
    let mut network = pair(Settings::default());
    let both = |network: &Latent| [network.link(1, 2), network.link(2, 1)].map(|link| link.capacity_bps);
    for (rate, expected) in [(20_000_000, 20_000_000), (7_000_000, 7_000_000), (400_000_000, 100_000_000)] {
        network.shape(1, 2, rate);
        network.run(LONG);
        assert_eq!(both(&network), [expected, 100_000_000], "one direction alone, and never above the ports");
    }
    network.shape(2, 1, 5_000_000);
    network.run(LONG);
    assert_eq!(both(&network), [100_000_000, 5_000_000], "the other one is shaped no more");
}

#[test]
fn what_was_measured_under_another_rate_is_forgotten() {
    let mut network = pair(Settings::default());
    network.set_rate(1, 2, 30_000_000);
    network.measure_capacity(1, 2);
    network.run(LONG);
    let measured = network.link(1, 2).capacity_bps;
    network.shape(2, 1, 5_000_000);
    network.run(LONG);
    assert_eq!(network.link(1, 2).capacity_bps, measured, "the other direction does not matter");
    network.shape(1, 2, 50_000_000);
    network.run(LONG);
    assert_eq!(network.link(1, 2).capacity_bps, 50_000_000);
}

#[test]
fn frames_that_come_in_all_at_once_tell_nothing_but_that_it_was_tried() {
    let mut network = pair(Settings::default());
    let before = network.link(1, 2).capacity_bps;
    network.measure_capacity(1, 2);
    network.run(LONG);
    let link = network.link(1, 2);
    assert_eq!((link.capacity_bps, link.measured_capacity_bps), (before, None));
    assert!(link.measured_capacity_at.is_some());
}

#[test]
fn nothing_is_sent_where_no_link_begins() {
    let mut network = pair(Settings::default());
    network.measure_capacity(1, 7);
    network.measure_capacity(9, 1);
    network.run(LONG);
    assert_eq!(network.brain.links().len(), 2);
    assert!(network.brain.alarms().is_empty());
}
