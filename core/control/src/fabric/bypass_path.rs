//! The path that bypasses a link.

use std::collections::VecDeque;

use braid_paths::Path;
use braid_topology::{Graph, Link, NodeIndex};
use rustc_hash::FxHashMap;

/// The shortest path from one end of a link to the other without it; of several, the first in the order of
/// ports.
///
/// With this tie break, losing a link changes only the bypasses over it.
pub(super) fn bypass_path(graph: &Graph, link: &Link) -> Option<Path> {
    let (start, goal) = (graph.node(link.src.dpid)?, graph.node(link.dst.dpid)?);
    let is_other =
        |found: &Link| ![found.src, found.dst].iter().any(|end| [link.src, link.dst].contains(end));
    let mut distances: FxHashMap<NodeIndex, u32> = FxHashMap::from_iter([(goal, 0)]);
    let mut queue = VecDeque::from([goal]);
    while let Some(node) = queue.pop_front().filter(|node| *node != start) {
        let next = distances.get(&node)? + 1;
        for (edge, tail) in graph.in_edges(node) {
            if is_other(graph.link(*edge)) && !distances.contains_key(tail) {
                distances.insert(*tail, next);
                queue.push_back(*tail);
            }
        }
    }
    let (mut at, mut links) = (start, Vec::new());
    while at != goal {
        let next = distances.get(&at)?.checked_sub(1)?;
        let closer =
            |edge: &_| is_other(graph.link(*edge)) && distances.get(&graph.head(*edge)) == Some(&next);
        let edge = graph.out_edges(at).find(closer)?;
        links.push(*graph.link(edge));
        at = graph.head(edge);
    }
    Path::over(&links)
}
