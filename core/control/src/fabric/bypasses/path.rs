//! The path that bypasses a link.

use std::collections::VecDeque;

use braid_paths::Path;
use braid_topology::{EdgeIndex, Graph, Link, NodeIndex};
use rustc_hash::FxHashMap;

/// The shortest path from one end of a link to the other without it and, if there is one, without degraded links; of
/// several, the first in the order of ports.
///
/// With this tie break, losing a link changes only the bypasses over it.
pub(super) fn bypass_path(graph: &Graph, link: &Link) -> Option<Path> {
    let is_other = |edge: EdgeIndex| {
        let found = graph.link(edge);
        ![found.src, found.dst].iter().any(|end| [link.src, link.dst].contains(end))
    };
    let is_clean = |edge: EdgeIndex| graph.state(edge).degradation.is_none();
    let [start, goal] = [graph.node(link.src.dpid)?, graph.node(link.dst.dpid)?];
    let clean = shortest(graph, start, goal, |edge| is_other(edge) && is_clean(edge));
    clean.or_else(|| shortest(graph, start, goal, is_other))
}

/// The shortest path over usable links; of several, the first in the order of ports.
fn shortest(
    graph: &Graph,
    start: NodeIndex,
    goal: NodeIndex,
    is_usable: impl Fn(EdgeIndex) -> bool,
) -> Option<Path> {
    let mut distances: FxHashMap<NodeIndex, u32> = FxHashMap::from_iter([(goal, 0)]);
    let mut queue = VecDeque::from([goal]);
    while let Some(node) = queue.pop_front().filter(|node| *node != start) {
        let next = distances.get(&node)? + 1;
        for (edge, tail) in graph.in_edges(node) {
            if is_usable(*edge) && !distances.contains_key(tail) {
                distances.insert(*tail, next);
                queue.push_back(*tail);
            }
        }
    }
    let (mut at, mut links) = (start, Vec::new());
    while at != goal {
        let next = distances.get(&at)?.checked_sub(1)?;
        let closer = |edge: &_| is_usable(*edge) && distances.get(&graph.head(*edge)) == Some(&next);
        let edge = graph.out_edges(at).find(closer)?;
        links.push(*graph.link(edge));
        at = graph.head(edge);
    }
    Path::over(&links)
}
