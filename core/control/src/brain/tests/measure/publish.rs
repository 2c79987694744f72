//! Publication of measurements: at a bounded rate, and followed by default paths that cost latency.

use std::net::IpAddr;
use std::time::Duration;

use braid_packet::arp::Arp;
use braid_packet::{TcpFlags, build};
use braid_paths::Weight;
use braid_types::{DatapathId, PortNo};

use super::latent::{Channel, Latent, millis};
use super::{ip, mac, port, tuple};
use crate::command::Command;
use crate::pipeline::Rule;
use crate::settings::Settings;

const CHANNELS: [Channel; 3] = [Channel { down: millis(1), up: millis(1) }; 3];
/// The indirect path has less delay than the direct one.
const LINKS: [(u64, u64, Duration); 3] = [(1, 3, millis(20)), (1, 2, millis(5)), (2, 3, millis(5))];
const LONG: Duration = Duration::from_secs(30);

fn measured(settings: Settings) -> Latent {
    let mut network = Latent::new(settings, &CHANNELS, &LINKS);
    network.run(LONG);
    network
}

fn version(network: &Latent) -> u64 {
    network.brain.path_sets().graph().version()
}

#[test]
fn the_graph_knows_delay_and_load() {
    let mut network = measured(Settings::default());
    network.send(1, 3, 5_000.0, 0.0);
    network.run(LONG);
    let graph = network.brain.path_sets().graph().clone();
    let state = graph.state(graph.edge(port(1, 3)).expect("a link"));
    assert_eq!(state.delay, Some(millis(20)));
    assert!((45_000_000..=50_000_000).contains(&state.load.0), "{state:?}");
}

#[test]
fn a_network_that_stays_as_it_is_leaves_the_graph_alone() {
    let mut network = measured(Settings::default()).with_jitter(millis(5), 1);
    network.send(1, 3, 5_000.0, 0.0);
    network.run(LONG);
    let before = version(&network);
    for second in 0..60 {
        network.run(millis(1_000));
        network.send(1, 3, if second & 1 == 0 { 4_800.0 } else { 5_200.0 }, 0.0);
    }
    assert_eq!(version(&network), before);
}

#[test]
fn the_graph_hears_of_a_change_at_most_once_an_interval() {
    let mut network = measured(Settings::default());
    let before = version(&network);
    for second in 0..20 {
        network.send(1, 3, if second & 1 == 0 { 10_000.0 } else { 0.0 }, 0.0);
        network.run(millis(1_000));
    }
    assert!((1..=10).contains(&(version(&network) - before)));
}

/// Hosts at 1 and 3, with a route between them.
fn with_route(weight: Weight) -> Latent {
    let mut network = measured(Settings { weight, ..Settings::default() });
    for host in [1, 3] {
        let IpAddr::V4(address) = ip(host) else { unreachable!() };
        network.send_frame(host, &Arp::request(mac(host), address, address).frame());
    }
    let syn = build::tcp(tuple(ip(1), 1_000, ip(3))).macs(mac(1), mac(3)).flags(TcpFlags::SYN).frame();
    network.send_frame(1, &syn);
    network.run(LONG);
    network
}

/// The port by which the latest route leaves switch 1.
fn route(network: &Latent) -> PortNo {
    let mut ports = network.sent.iter().rev().filter_map(|order| match order {
        Command::Add { dpid: DatapathId(1), rule: Rule::Route { hop, .. } } => Some(hop.port),
        _ => None,
    });
    ports.next().expect("a route")
}

#[test]
fn by_hops_nothing_is_rewritten_because_of_a_measurement() {
    let mut network = with_route(Weight::HOPS);
    assert_eq!(route(&network), port(1, 3).port);
    network.sent.clear();
    let before = version(&network);
    network.send(1, 3, 10_000.0, 0.0);
    network.set_delay(1, 3, millis(60));
    network.run(LONG);
    assert!(version(&network) > before);
    assert_eq!(network.sent, []);
}

#[test]
fn by_latency_routes_follow_what_is_measured() {
    let mut network = with_route(Weight::LATENCY);
    assert_eq!(route(&network), port(1, 2).port);
    network.set_delay(1, 3, millis(4));
    network.run(LONG);
    assert_eq!(route(&network), port(1, 3).port);
    network.set_delay(1, 2, millis(40));
    network.sent.clear();
    network.run(LONG);
    let written = network.sent.iter().any(|order| matches!(order, Command::Add { .. }));
    assert!(!written, "the route is the shortest still, and only what was left behind is removed");
}
