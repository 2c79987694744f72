//! All shortest paths between two switches, in the order of their ports.

use braid_topology::{EdgeIndex, NodeIndex};
use braid_types::DatapathId;

use crate::algorithm::{Algorithm, FoundSet, Problem, Properties};
use crate::latency_bounded::LatencyBound;
use crate::network::Network;
use crate::{Path, PathSet};

/// The paths that are as short as the shortest: of the same cost and the same number of links.
///
/// # Arguments
/// * `ingress`, `egress`: the switches where all paths begin and end.
/// * `limit`: the greatest number of paths; there may be exponentially many.
///
/// # Returns
/// The paths in the order of the ports through which they leave each switch, from the ingress on; the first is
/// the shortest path. When both switches are the same, the one path without links. Nothing
/// when either is unknown or no path exists.
///
/// # Complexity
/// O(V + E) when all links cost the same, from both ends at once, else O((V + E) log V); and O(h d) for each path
/// of h links past switches with d links.
///
/// # Source
/// The links on shortest paths form a graph without cycles, in which every walk is a path; this walks through it
/// depth first.
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// # use braid_paths::PathFinder;
/// # use braid_topology::{Graph, Link};
/// # use braid_types::{DatapathId, PortNo, SwitchPort};
/// let pairs = [(1, 2), (2, 4), (1, 3), (3, 4), (1, 5), (5, 6), (6, 4)];
/// let links = pairs.into_iter().zip(1..).map(|((a, b), port)| Link {
///     src: SwitchPort::new(DatapathId(a), PortNo(port)),
///     dst: SwitchPort::new(DatapathId(b), PortNo(port)),
/// });
/// let mut finder = PathFinder::by_hops(Arc::new(Graph::from_links(links)));
/// assert_eq!(finder.all_shortest(DatapathId(1), DatapathId(4), 16).len(), 2);
/// ```
#[derive(Debug, Default)]
pub(crate) struct AllShortest;

impl Algorithm for AllShortest {
    const PROPERTIES: Properties =
        Properties { is_listing: true, ..Properties::new("shortest", "up to k paths with the lowest cost") };

    fn solve(&mut self, network: &mut Network, problem: Problem) -> PathSet {
        self.paths(network, (problem.ingress, problem.egress), problem.k).into()
    }

    fn solve_bounded(&mut self, network: &mut Network, problem: Problem, bound: &LatencyBound) -> PathSet {
        bound.first_in_time(network, problem, true)
    }

    fn max_length_of_interest(found: &FoundSet<'_>) -> Option<i64> {
        found.lengths.first().copied()
    }
}

impl AllShortest {
    pub(crate) fn paths(
        &self,
        network: &mut Network,
        (ingress, egress): (DatapathId, DatapathId),
        limit: usize,
    ) -> Vec<Path> {
        let Some((from, to)) = network.ends(ingress, egress) else { return Vec::new() };
        let Network { graph, lengths, distances, queue, .. } = network;
        distances.measure_between(graph, lengths, queue, (from, to));
        if limit == 0 || !distances.reaches(from) {
            return Vec::new();
        }
        let mut walk = Walk { network, to, route: Vec::new() };
        walk.descend(from);
        let mut paths = vec![walk.path(ingress)];
        while paths.len() < limit && walk.advance() {
            paths.push(walk.path(ingress));
        }
        paths
    }
}

/// Goes through the shortest paths in the order of their ports.
struct Walk<'a> {
    network: &'a Network,
    to: NodeIndex,
    route: Vec<EdgeIndex>,
}

impl Walk<'_> {
    fn path(&self, ingress: DatapathId) -> Path {
        Path::from_edges(&self.network.graph, ingress, &self.route)
    }

    /// Goes on from `node` to the egress over the lowest ports.
    fn descend(&mut self, mut node: NodeIndex) {
        while let Some(edge) = self.network.tight_edges(node).next().filter(|_| node != self.to) {
            self.route.push(edge);
            node = self.network.graph.head(edge);
        }
    }

    /// Goes back to the last switch with another next link, and takes that; `false` when there is none.
    fn advance(&mut self) -> bool {
        while let Some(last) = self.route.pop() {
            let node = self.network.graph.tail(last);
            if let Some(edge) = self.network.tight_edges(node).find(|edge| *edge > last) {
                self.route.push(edge);
                self.descend(self.network.graph.head(edge));
                return true;
            }
        }
        false
    }
}
