//! Which ports of edges answer BFD.

use std::time::Duration;

use super::mptcp::THREE_WAYS;
use super::network::{Network, dpid, port};
use crate::command::Command;
use crate::settings::Settings;

fn network() -> Network {
    Network::start_with_edges(Settings::default(), &THREE_WAYS, &[1, 9])
}

fn told(network: &Network) -> Vec<(u64, u32, bool)> {
    let told = network.changes.iter().filter_map(|command| match command {
        Command::SetBfd { dpid, port, is_on } => Some((dpid.0, port.0, *is_on)),
        _ => None,
    });
    told.collect()
}

#[test]
fn edges_answer_at_links_and_not_at_hosts_and_other_switches_are_not_asked() {
    let network = network();
    let links = [(1, 2), (1, 3), (1, 9), (9, 1), (9, 2), (9, 4)].map(|(a, b)| port(a, b));
    let answering: Vec<_> = network.brain.answering_bfd().collect();
    assert_eq!(answering, links);
    assert!(told(&network).iter().all(|(edge, _, is_on)| [1, 9].contains(edge) && *is_on));
}

#[test]
fn a_link_that_is_lost_and_found_is_told_again() {
    let mut network = network();
    network.changes.clear();
    network.unplug(1, 2);
    assert_eq!(told(&network), [], "a dark port must stay so");
    network.plug(1, 2);
    network.advance(Duration::from_secs(5));
    assert_eq!(told(&network), [(1, port(1, 2).port.0, true)]);
}

#[test]
fn a_port_at_which_there_is_a_host_now_answers_no_more() {
    let mut network = network();
    network.changes.clear();
    network.cut_silently(1, 2);
    let at = port(1, 2);
    network.set_port(at, false);
    network.advance(Settings::default().role_hold + Duration::from_secs(1));
    network.set_port(at, true);
    network.advance(Duration::from_secs(60));
    assert_eq!(told(&network), [(1, at.port.0, false)]);
    assert!(!network.brain.answering_bfd().any(|it| it == at));
}

#[test]
fn an_edge_that_comes_back_is_told_again() {
    let mut network = network();
    network.disconnect(1);
    assert!(network.brain.answering_bfd().all(|at| at.dpid == dpid(9)));
    network.changes.clear();
    network.connect(1);
    network.advance(Duration::from_secs(5));
    assert_eq!(network.brain.answering_bfd().filter(|at| at.dpid == dpid(1)).count(), 3);
}
