//! The spanning tree on which broadcast is forwarded.

use std::collections::{BTreeSet, VecDeque};

use braid_types::SwitchPort;

use crate::{EdgeIndex, Graph, NodeIndex};

/// The ports of links on which broadcast is forwarded without loops.
///
/// Breadth first from the lowest datapath id, links in the order of their ports; in a network of several parts, a tree
/// in each. A link counts only when both its directions are known. Links that are degraded in either direction are taken
/// only where no other leads on: as few as possible.
///
/// # Arguments
/// * `graph`: the network.
///
/// # Returns
/// Both ends of each link of the tree; ports towards hosts are not among them.
///
/// # Complexity
/// O(V + E) and sorting the result.
///
/// # Example
/// ```
/// use braid_topology::{Graph, Link, spanning_tree};
/// use braid_types::{DatapathId, PortNo, SwitchPort};
///
/// let end = |dpid, port| SwitchPort::new(DatapathId(dpid), PortNo(port));
/// let ring = [[end(1, 1), end(2, 2)], [end(2, 1), end(3, 2)], [end(3, 1), end(1, 2)]];
/// let directions = ring.into_iter().flat_map(|[a, b]| [(a, b), (b, a)]);
/// let graph = Graph::from_links(directions.map(|(src, dst)| Link { src, dst }));
///
/// let tree: Vec<_> = spanning_tree(&graph).into_iter().collect();
/// assert_eq!(tree, [end(1, 1), end(1, 2), end(2, 2), end(3, 1)]);
/// ```
pub fn spanning_tree(graph: &Graph) -> BTreeSet<SwitchPort> {
    let mut reached = vec![false; graph.nodes().len()];
    let mut ports = BTreeSet::new();
    for root in graph.nodes() {
        if !std::mem::replace(&mut reached[root.index()], true) {
            grow(graph, root, &mut reached, &mut ports);
        }
    }
    ports
}

fn grow(graph: &Graph, root: NodeIndex, reached: &mut [bool], ports: &mut BTreeSet<SwitchPort>) {
    let (mut queue, mut degraded) = (VecDeque::from([root]), VecDeque::new());
    let mut take = |edge, queue: &mut VecDeque<_>| {
        let head = graph.head(edge);
        if !std::mem::replace(&mut reached[head.index()], true) {
            let link = graph.link(edge);
            ports.extend([link.src, link.dst]);
            queue.push_back(head);
        }
    };
    loop {
        while let Some(node) = queue.pop_front() {
            for edge in graph.out_edges(node) {
                match is_clean(graph, edge) {
                    Some(true) => take(edge, &mut queue),
                    Some(false) => degraded.push_back(edge),
                    None => {}
                }
            }
        }
        let Some(edge) = degraded.pop_front() else { return };
        take(edge, &mut queue);
    }
}

/// Whether both directions of a link work; `None` if only one is known.
fn is_clean(graph: &Graph, edge: EdgeIndex) -> Option<bool> {
    let both = [edge, graph.reverse(edge)?];
    Some(both.iter().all(|edge| graph.state(*edge).degradation.is_none()))
}
