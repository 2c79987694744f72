use std::collections::BinaryHeap;

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::{BitsPerSec, DatapathId};

use crate::finder::BARRED;
use crate::max_flow::refill;
use crate::queue::Queue;
use crate::{Path, PathFinder};

impl PathFinder {
    /// One path whose slowest link is the fastest; of those, one of least cost; of those, of fewest links; of those,
    /// the one that leaves each switch, from the ingress on, through the lowest port.
    ///
    /// # Arguments
    /// * `ingress`, `egress`: the switches where it begins and ends.
    /// * `rate`: how much each link can take, such as its available bandwidth. Asked once for each link that is not
    ///   barred.
    ///
    /// # Returns
    /// The path and the rate of its slowest link, which is not zero. When both switches are the same, the path without
    /// links, which nothing limits: `u64::MAX` bits per second. Nothing when a switch is unknown or no path exists.
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
    pub fn widest(
        &mut self,
        ingress: DatapathId,
        egress: DatapathId,
        rate: impl Fn(EdgeIndex) -> BitsPerSec,
    ) -> Option<(Path, BitsPerSec)> {
        let (from, to) = self.ends(ingress, egress)?;
        let Self { graph, lengths, distances, queue, widths, .. } = self;
        let barred = |edge: EdgeIndex| lengths[edge.index()] == BARRED;
        widths.rates.clear();
        widths.rates.extend(graph.edges().map(|edge| if barred(edge) { 0 } else { rate(edge).0 }));
        let width = widths.measure(graph, to, from);
        if width == 0 {
            return None;
        }
        let rates = &widths.rates;
        let mut wide = Wide { graph, lengths, rates, width, distances, queue };
        wide.measure_distances(to, from);
        let edges = wide.descend(from, to)?;
        Some((Path::from_edges(graph, ingress, &edges), BitsPerSec(width)))
    }
}

/// Room to find the greatest rate.
#[derive(Debug, Default)]
pub(crate) struct Widths {
    // By edge; zero if it is barred.
    rates: Vec<u64>,
    // By node: the greatest rate of a path from there that was found.
    widths: Vec<u64>,
    widest: BinaryHeap<(u64, NodeIndex)>,
}

impl Widths {
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

/// The links whose rate is `width` or more.
struct Wide<'a> {
    graph: &'a Graph,
    lengths: &'a [i64],
    rates: &'a [u64],
    width: u64,
    distances: &'a mut [i64],
    queue: &'a mut Queue,
}

impl Wide<'_> {
    fn length(&self, edge: EdgeIndex) -> Option<i64> {
        (self.rates[edge.index()] >= self.width).then_some(self.lengths[edge.index()])
    }

    /// Sets `distances` of the nodes that are nearer to `to` than `until` is.
    fn measure_distances(&mut self, to: NodeIndex, until: NodeIndex) {
        self.distances.fill(BARRED);
        self.distances[to.index()] = 0;
        self.queue.restart(to);
        while let Some((distance, node)) = self.queue.pop() {
            if node == until {
                return;
            }
            if distance > self.distances[node.index()] {
                continue;
            }
            for (edge, tail) in self.graph.in_edges(node) {
                let through = self.length(*edge).map_or(BARRED, |length| distance + length);
                if through < self.distances[tail.index()] {
                    self.distances[tail.index()] = through;
                    self.queue.push(through, *tail);
                }
            }
        }
    }

    fn descend(&self, from: NodeIndex, to: NodeIndex) -> Option<Vec<EdgeIndex>> {
        let mut edges = Vec::new();
        let mut node = from;
        while node != to {
            let edge = self.graph.out_edges(node).find(|edge| self.is_tight(*edge))?;
            node = self.graph.head(edge);
            edges.push(edge);
        }
        Some(edges)
    }

    fn is_tight(&self, edge: EdgeIndex) -> bool {
        let [tail, head] =
            [self.graph.tail(edge), self.graph.head(edge)].map(|node| self.distances[node.index()]);
        head != BARRED && self.length(edge).is_some_and(|length| tail == head + length)
    }
}
