//! Link delay measured over OpenFlow connections of unequal latency, with queues, slow switches and echoes.

use std::time::Duration;

use braid_packet::lldp::LldpProbe;
use braid_types::{MacAddr, PortNo};

use super::latent::{Channel, Latent, millis};
use super::{dpid, port};
use crate::settings::Settings;

/// Unequal connections, from near to far.
const CHANNELS: [Channel; 4] = [even(200), even(3_000), even(900), even(25_000)];
const LINKS: [(u64, u64, Duration); 4] =
    [(1, 2, millis(1)), (2, 3, millis(7)), (3, 4, millis(30)), (4, 1, millis(100))];
const WHILE: Duration = Duration::from_secs(30);

const fn even(micros: u64) -> Channel {
    Channel { down: Duration::from_micros(micros), up: Duration::from_micros(micros) }
}

/// The base and current delay of a link in milliseconds.
fn delay(network: &Latent, a: u64, b: u64) -> (f64, f64) {
    let delay = network.link(a, b).delay_us.expect("a reading");
    (delay.base / 1e3, delay.current / 1e3)
}

fn assert_near(measured: f64, truth: Duration, tolerance: f64) {
    let truth = truth.as_secs_f64() * 1e3;
    assert!((measured - truth).abs() <= tolerance, "{measured} ms instead of {truth} ms");
}

#[test]
fn the_delay_of_every_link_is_found_through_channels_near_and_far() {
    let mut network = Latent::new(Settings::default(), &CHANNELS, &LINKS);
    network.run(WHILE);
    for (a, b, truth) in LINKS {
        for (base, current) in [delay(&network, a, b), delay(&network, b, a)] {
            assert_near(base, truth, 0.001);
            assert_near(current, truth, 0.001);
        }
    }
}

#[test]
fn messages_that_wait_now_and_then_spoil_no_base_delay() {
    for seed in 0..50 {
        let network = Latent::new(Settings::default(), &CHANNELS, &LINKS);
        let mut network = network.with_jitter(millis(20), seed);
        network.run(WHILE);
        for (a, b, truth) in LINKS {
            assert_near(delay(&network, a, b).0, truth, (truth.as_secs_f64() * 20.0).max(0.5));
        }
    }
}

#[test]
fn what_a_switch_takes_to_handle_packets_is_not_taken_for_the_link() {
    let mut network = Latent::new(Settings::default(), &CHANNELS, &LINKS);
    network.handling = millis(2);
    network.run(WHILE);
    for (a, b, truth) in LINKS {
        assert_near(delay(&network, a, b).0, truth, 0.001);
    }
}

#[test]
fn echoes_do_where_switches_send_no_frame_back() {
    let mut network = Latent::new(Settings::default(), &CHANNELS, &LINKS);
    network.no_returns = true;
    network.run(WHILE);
    for (a, b, truth) in LINKS {
        assert_near(delay(&network, a, b).0, truth, 0.001);
    }
}

#[test]
fn a_frame_to_be_sent_back_makes_no_link_elsewhere() {
    let mut network = Latent::new(Settings::default(), &CHANNELS[..2], &LINKS[..1]);
    network.run(WHILE);
    let probe = LldpProbe { dpid: dpid(1), port: PortNo::CONTROLLER, sent_at: network.now };
    let frame = probe.encode(&network.brain.settings().lldp_key.clone(), MacAddr::ZERO);
    network.send_frame(2, &frame);
    assert_eq!(network.brain.links().len(), 2);
}

#[test]
fn of_a_channel_whose_directions_differ_half_the_difference_remains() {
    let channels = [Channel { down: millis(3), up: millis(1) }, even(1_000)];
    let mut network = Latent::new(Settings::default(), &channels, &[(1, 2, millis(10))]);
    network.run(WHILE);
    assert_near(delay(&network, 1, 2).0, millis(11), 0.001);
    assert_near(delay(&network, 2, 1).0, millis(9), 0.001);
}

#[test]
fn a_queue_shows_at_once_and_a_longer_way_when_the_window_has_passed() {
    let mut network = Latent::new(Settings::default(), &CHANNELS[..2], &LINKS[..1]);
    network.run(WHILE);
    network.set_delay(1, 2, millis(50));
    network.run(millis(4_500));
    let (base, current) = delay(&network, 1, 2);
    assert_near(base, millis(1), 0.001);
    assert_near(current, millis(50), 0.001);
    network.run(WHILE);
    assert_near(delay(&network, 1, 2).0, millis(50), 0.001);
    network.set_delay(1, 2, millis(2));
    network.run(millis(1_500));
    assert_near(delay(&network, 1, 2).0, millis(2), 0.001);
}

#[test]
fn a_reading_grows_old_when_no_frame_comes() {
    let settings = Settings { link_timeout: Duration::from_secs(60), ..Settings::default() };
    let mut network = Latent::new(settings, &CHANNELS[..2], &LINKS[..1]);
    network.run(WHILE);
    let fresh = network.link(1, 2);
    assert!(network.now.since(fresh.delay_at.expect("a reading")) <= millis(1_200));
    network.set_delay(1, 2, Duration::from_secs(500));
    network.run(millis(10_000));
    let old = network.link(1, 2);
    assert_eq!(old.delay_us, fresh.delay_us);
    assert!(network.now.since(old.delay_at.expect("a reading")) >= millis(9_000));
}

#[test]
fn a_link_is_without_delay_until_it_is_measured() {
    let mut network = Latent::new(Settings::default(), &CHANNELS[..2], &LINKS[..1]);
    network.run(millis(50));
    assert_eq!(network.link(1, 2).src, port(1, 2));
    assert_eq!(network.link(1, 2).delay_us, None);
}
