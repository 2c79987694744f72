//! Export to the node-link JSON of NetworkX.

use braid_types::DatapathId;
use serde::Serialize;

use super::{lines, value};
use crate::LinkState;
use crate::blueprint::{self, Blueprint};

/// The network as node-link JSON for `networkx.node_link_graph(document, edges="links")`, a directed multigraph.
///
/// Nodes are named by their id; hosts have the type `host`, switches `switch`. Every direction of a link is an edge, both
/// of a link with the same key, capacity in bit/s and delay in seconds. Ports and loads are not in it.
pub fn node_link(network: &Blueprint) -> String {
    let switches = network.switches().iter().map(switch);
    let nodes = switches.chain(network.hosts().iter().map(host));
    let links = network.links().iter().map(|link| {
        let ends = link.ends.map(|end| network.switches()[end.switch].name.as_str());
        (ends, link.states)
    });
    let attached = network.hosts().iter().flat_map(|host| {
        let ends = |it: &blueprint::Interface| [host.name.as_str(), &network.switches()[it.end.switch].name];
        host.interfaces.iter().map(move |it| (ends(it), it.states.map(Some)))
    });
    let links = links.chain(attached).enumerate().flat_map(|(key, (ends, states))| edges(key, ends, states));
    format!(
        "{{\"directed\":true,\"multigraph\":true,\"graph\":{{\"name\":{}}},\n\"nodes\":{},\n\"links\":{}}}\n",
        value(&network.name()),
        lines(nodes),
        lines(links),
    )
}

#[derive(Serialize)]
struct Node<'a> {
    id: &'a str,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dpid: Option<DatapathId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lat: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lon: Option<f64>,
}

#[derive(Serialize)]
struct Edge<'a> {
    source: &'a str,
    target: &'a str,
    key: usize,
    capacity: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<f64>,
}

fn switch(switch: &blueprint::Switch) -> Node<'_> {
    Node {
        id: &switch.name,
        r#type: "switch",
        dpid: Some(switch.dpid),
        group: switch.group.as_deref(),
        lat: switch.position.map(blueprint::Position::latitude),
        lon: switch.position.map(blueprint::Position::longitude),
    }
}

fn host(host: &blueprint::Host) -> Node<'_> {
    Node { id: &host.name, r#type: "host", dpid: None, group: None, lat: None, lon: None }
}

fn edges<'a>(
    key: usize,
    [a, b]: [&'a str; 2],
    [there, back]: [Option<LinkState>; 2],
) -> impl Iterator<Item = Edge<'a>> {
    let edge = move |source, target, state: LinkState| {
        let delay = state.delay.map(|delay| delay.as_secs_f64());
        Edge { source, target, key, capacity: state.capacity.0, delay }
    };
    let there = there.map(|state| edge(a, b, state));
    there.into_iter().chain(back.map(|state| edge(b, a, state)))
}
