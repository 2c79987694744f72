//! Link load and loss computed from port counters that restart, arrive in parts or are missing.

use std::time::Duration;

use braid_types::DatapathId;

use super::latent::{Channel, Latent, PACKET, millis};
use crate::settings::Settings;

/// Packets a second: 10 Mbit/s.
const RATE: f64 = 1_000.0;
const LOAD: u64 = 1_000 * PACKET * 8;
const LONG: Duration = Duration::from_secs(30);

fn pair() -> Latent {
    let channels = [(1, 1), (40, 15)].map(|(down, up)| Channel { down: millis(down), up: millis(up) });
    let mut network = Latent::new(Settings::default(), &channels, &[(1, 2, millis(10))]);
    network.run(LONG);
    network
}

fn load(network: &Latent, a: u64, b: u64) -> u64 {
    network.link(a, b).load_bps.expect("a reading")
}

#[track_caller]
fn assert_about(measured: u64, truth: u64) {
    assert!(measured.abs_diff(truth) * 100 <= LOAD, "{measured} instead of {truth}");
}

#[test]
fn each_direction_has_its_own_load() {
    let mut network = pair();
    network.send(1, 2, RATE, 0.0);
    network.run(LONG);
    assert_about(load(&network, 1, 2), LOAD);
    assert_eq!(load(&network, 2, 1), 0);
    assert_about(network.link(1, 2).available_bps.expect("a reading"), 100_000_000 - LOAD);
}

#[test]
fn a_load_comes_and_goes_smoothly() {
    let mut network = pair();
    network.send(1, 2, RATE, 0.0);
    network.run(millis(500));
    let mut last = 0;
    for _ in 0..4 {
        network.run(millis(1_000));
        let now = load(&network, 1, 2);
        assert!(now > last && now < LOAD * 95 / 100, "{now} after {last}");
        last = now;
    }
    network.run(LONG);
    network.send(1, 2, 0.0, 0.0);
    network.run(millis(1_500));
    assert!((LOAD / 3..LOAD).contains(&load(&network, 1, 2)));
    network.run(LONG);
    assert_about(load(&network, 1, 2), 0);
}

#[test]
fn counters_that_start_anew_give_no_false_load() {
    let mut network = pair();
    network.send(1, 2, RATE, 0.0);
    network.run(LONG);
    let before = network.link(1, 2).counters;
    network.restart_counters(1);
    for _ in 0..10 {
        network.run(millis(500));
        assert_about(load(&network, 1, 2), LOAD);
        assert!(network.link(1, 2).counters.packets >= before.packets);
    }
}

#[test]
fn counters_may_come_in_parts() {
    let channels = [Channel { down: millis(1), up: millis(1) }; 3];
    let links = [(1, 2, millis(1)), (2, 3, millis(1)), (3, 1, millis(1))];
    let mut network = Latent::new(Settings::default(), &channels, &links);
    network.in_parts = true;
    network.send(2, 1, RATE, 0.0);
    network.send(2, 3, RATE * 2.0, 0.0);
    network.run(LONG);
    assert_about(load(&network, 2, 1), LOAD);
    assert_about(load(&network, 2, 3), LOAD * 2);
}

#[test]
fn what_a_switch_does_not_tell_is_unknown_or_old_and_not_zero() {
    let mut network = pair();
    network.send(1, 2, RATE, 0.0);
    network.run(LONG);
    network.mute.insert(DatapathId(1));
    network.run(millis(500));
    let fresh = network.link(1, 2);
    network.run(LONG);
    let old = network.link(1, 2);
    assert_eq!((old.load_bps, old.load_at), (fresh.load_bps, fresh.load_at));

    let mut silent = Latent::new(
        Settings::default(),
        &[Channel { down: millis(1), up: millis(1) }; 2],
        &[(1, 2, millis(1))],
    );
    silent.mute.extend([DatapathId(1), DatapathId(2)]);
    silent.run(LONG);
    let link = silent.link(1, 2);
    assert_eq!((link.load_bps, link.available_bps, link.loss), (None, None, None));
}

#[test]
fn lost_packets_are_found_though_the_ends_are_read_at_different_times() {
    for truth in [0.0, 0.001, 0.01, 0.2, 1.0] {
        let mut network = pair();
        network.send(1, 2, RATE, truth);
        network.run(LONG);
        let loss = network.link(1, 2).loss.expect("a reading");
        assert!((loss - truth).abs() < 0.0005, "{loss} instead of {truth}");
    }
}

#[test]
fn a_burst_is_not_mistaken_for_loss() {
    let mut network = pair();
    for _ in 0..20 {
        network.send(1, 2, RATE * 8.0, 0.0);
        network.run(millis(700));
        network.send(1, 2, RATE, 0.0);
        network.run(millis(1_700));
        assert!(network.link(1, 2).loss.unwrap_or_default() < 0.01, "{:?}", network.link(1, 2));
    }
}

#[test]
fn a_link_without_traffic_keeps_its_last_loss() {
    let mut network = pair();
    assert_eq!(network.link(1, 2).loss, None);
    network.send(1, 2, RATE, 0.1);
    network.run(LONG);
    network.send(1, 2, 0.0, 0.0);
    network.run(LONG);
    let link = network.link(1, 2);
    assert!((link.loss.expect("a reading") - 0.1).abs() < 0.005, "{link:?}");
    assert!(network.now.since(link.loss_at.expect("a reading")) > Duration::from_secs(15));
}
