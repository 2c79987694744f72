//! One path taken out of a set of marked links.

use braid_topology::{EdgeIndex, Graph, NodeIndex};

/// Takes one path out of the links marked in `used`, which must form no cycle.
pub(crate) fn take_path(graph: &Graph, used: &mut [bool], from: NodeIndex, to: NodeIndex) -> Vec<EdgeIndex> {
    let mut route = Vec::new();
    let mut node = from;
    while node != to {
        let Some(edge) = graph.out_edges(node).find(|edge| used[edge.index()]) else { break };
        used[edge.index()] = false;
        route.push(edge);
        node = graph.head(edge);
    }
    route
}
