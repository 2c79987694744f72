//! The widest path: the one whose slowest link is the fastest.

use std::collections::BinaryHeap;

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::{BitsPerSec, DatapathId};

use crate::algorithm::{Algorithm, Problem, Properties};
use crate::latency_bounded::LatencyBound;
use crate::network::Network;
use crate::search::refill;
use crate::{Path, PathSet};

/// One path whose slowest link is the fastest; of those, one of least cost; of those, of fewest links; of those,
/// the one that leaves each switch, from the ingress on, through the lowest port.
///
/// # Arguments
/// * `ingress`, `egress`: the switches where it begins and ends.
/// * `rate`: the capacity that each link offers, such as its available bandwidth. Called once for each link that is not
///   barred.
///
/// # Returns
/// The path and the rate of its slowest link, which is not zero. When both switches are the same, the path without
/// links at an unlimited rate: `u64::MAX` bits per second. Nothing when a switch is unknown or no path exists.
///
/// # Complexity
/// O((V + E) log V).
///
/// # Source
/// M. Pollack, The Maximum Capacity Through a Network, 1960; found as by E. W. Dijkstra, 1959, first by rate, and
/// then by cost among the links that are fast enough.
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// # use braid_paths::PathFinder;
/// # use braid_topology::{Graph, Link, LinkState};
/// # use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPort};
/// let link = |src, port, dst, bits| {
///     let [src, dst] = [src, dst].map(|dpid| SwitchPort::new(DatapathId(dpid), PortNo(port)));
///     (Link { src, dst }, LinkState::of_capacity(BitsPerSec(bits)))
/// };
/// let graph = Arc::new(Graph::new(0, [], [link(1, 1, 3, 10), link(1, 2, 2, 80), link(2, 3, 3, 50)]));
/// let available = |edge| graph.state(edge).available();
/// let mut finder = PathFinder::by_hops(graph.clone());
/// let (path, rate) = finder.widest(DatapathId(1), DatapathId(3), available).unwrap();
/// assert_eq!((path.hops(), rate), (2, BitsPerSec(50)));
/// ```
#[derive(Debug, Default)]
pub(crate) struct Widest {
    // By edge; zero if it is barred.
    rates: Vec<u64>,
    // By node: the greatest rate of a path from there that was found.
    widths: Vec<u64>,
    widest: BinaryHeap<(u64, NodeIndex)>,
}

impl Algorithm for Widest {
    const PROPERTIES: Properties = Properties {
        by_capacity: true,
        ..Properties::new("widest", "the path with the most spare capacity")
    };

    fn solve(&mut self, network: &mut Network, problem: Problem) -> PathSet {
        let available = |edge| network.available(edge);
        let widest = self.path(network, (problem.ingress, problem.egress), available);
        widest.map(|(path, _)| path).into_iter().collect::<Vec<_>>().into()
    }

    /// The shortest of the widest paths in time. The wider the links must be, the longer the fastest path takes.
    fn solve_bounded(&mut self, network: &mut Network, problem: Problem, bound: &LatencyBound) -> PathSet {
        let usable = network.graph.edges().filter(|edge| !network.lengths.is_barred(*edge));
        let mut rates: Vec<_> =
            usable.map(|edge| network.available(edge)).filter(|rate| rate.0 > 0).collect();
        rates.sort_unstable();
        rates.dedup();
        let of_rate = |least: BitsPerSec| network.restricted(|edge| network.available(edge) >= least);
        let in_time = rates.partition_point(|least| bound.fastest(&of_rate(*least), problem).is_some());
        let widest = in_time.checked_sub(1).and_then(|last| rates.get(last));
        let network = widest.and_then(|least| bound.without_late_links(&of_rate(*least), problem));
        let one = Problem { k: 1, ..problem };
        network.map(|mut network| bound.first_in_time(&mut network, one, false)).unwrap_or_default()
    }
}

impl Widest {
    pub(crate) fn path(
        &mut self,
        network: &Network,
        (ingress, egress): (DatapathId, DatapathId),
        rate: impl Fn(EdgeIndex) -> BitsPerSec,
    ) -> Option<(Path, BitsPerSec)> {
        let (from, to) = network.ends(ingress, egress)?;
        let Network { graph, lengths, .. } = network;
        let barred = |edge| lengths.is_barred(edge);
        self.rates.clear();
        self.rates.extend(graph.edges().map(|edge| if barred(edge) { 0 } else { rate(edge).0 }));
        let width = self.measure(graph, to, from);
        if width == 0 {
            return None;
        }
        let wide = |edge: EdgeIndex| self.rates[edge.index()] >= width;
        let path = network.restricted(wide).shortest(ingress, egress)?;
        Some((path, BitsPerSec(width)))
    }

    /// The greatest rate of a path; zero if there is none.
    fn measure(&mut self, graph: &Graph, to: NodeIndex, from: NodeIndex) -> u64 {
        refill(&mut self.widths, graph.nodes().len(), 0);
        self.widths[to.index()] = u64::MAX;
        self.widest.clear();
        self.widest.push((u64::MAX, to));
        while let Some((width, node)) = self.widest.pop() {
            if width <= self.widths[from.index()] {
                break;
            }
            if width == self.widths[node.index()] {
                self.widen_to(graph, node, width);
            }
        }
        self.widths[from.index()]
    }

    fn widen_to(&mut self, graph: &Graph, node: NodeIndex, width: u64) {
        for (edge, tail) in graph.in_edges(node) {
            let through = width.min(self.rates[edge.index()]);
            let known = &mut self.widths[tail.index()];
            if through > *known {
                *known = through;
                self.widest.push((through, *tail));
            }
        }
    }
}
