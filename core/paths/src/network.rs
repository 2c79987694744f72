//! The network that algorithms search: a graph, a length for each link, and the memory that all searches share.

use std::sync::Arc;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::{BitsPerSec, DatapathId};

use crate::Path;
use crate::latency::nanos;
use crate::search::{Distances, Queue};

/// The length of a link that no path may use, and the distance of a node without a path.
pub(crate) const BARRED: i64 = i64::MAX;

/// A graph with one length for each link.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) graph: Arc<Graph>,
    pub(crate) lengths: Lengths,
    /// Memory of searches by distance; each search overwrites it.
    pub(crate) distances: Distances,
    pub(crate) queue: Queue,
    /// The number of links that a search of exponentially many paths visits.
    pub(crate) budget: u64,
}

/// By edge: cost and hop count in one number, so that one comparison orders by both, and no length is zero.
#[derive(Debug)]
pub(crate) struct Lengths {
    by_edge: Vec<i64>,
    scale: i64,
    // The length of all links that are not barred, if it is the same.
    unit: Option<i64>,
}

impl Network {
    /// The cost of a link is `cost`; `None` bars it.
    pub(crate) fn new(graph: Arc<Graph>, cost: impl Fn(EdgeIndex) -> Option<u32>, budget: u64) -> Self {
        // A set of disjoint paths has no more links than the graph, so hops never outweigh a unit of cost.
        let lengths = Lengths::new(&graph, graph.edges().len(), |edge| cost(edge).map(u64::from));
        Self::of(graph, lengths, budget)
    }

    fn of(graph: Arc<Graph>, lengths: Lengths, budget: u64) -> Self {
        let distances = Distances::new(graph.nodes().len());
        Self { graph, lengths, distances, queue: Queue::default(), budget }
    }

    /// Other costs for the links that are not barred here, to find single paths with. O(V + E).
    pub(crate) fn with_costs(&self, cost: impl Fn(EdgeIndex) -> u64) -> Self {
        let cost = |edge| (!self.lengths.is_barred(edge)).then(|| cost(edge));
        let lengths = Lengths::new(&self.graph, self.graph.nodes().len(), cost);
        Self::of(self.graph.clone(), lengths, self.budget)
    }

    /// The links that are not barred here, at a cost of a nanosecond of delay each. O(V + E).
    pub(crate) fn by_latency(&self, unknown: Duration) -> Self {
        self.with_costs(|edge| nanos(self.graph.state(edge).delay.unwrap_or(unknown)))
    }

    /// The same costs, and only the links that `keep` names. O(V + E).
    pub(crate) fn restricted(&self, keep: impl Fn(EdgeIndex) -> bool) -> Self {
        let cost = |edge| u32::try_from(self.lengths.cost(self.lengths.of(edge))).unwrap_or(u32::MAX);
        let keep = |edge| !self.lengths.is_barred(edge) && keep(edge);
        Self::new(self.graph.clone(), |edge| keep(edge).then(|| cost(edge)), self.budget)
    }

    /// By node: the length of the shortest path to `to`. O((V + E) log V).
    pub(crate) fn lengths_to(&mut self, to: NodeIndex) -> &[i64] {
        self.distances.measure_all(&self.graph, &self.lengths, &mut self.queue, to);
        self.distances.as_slice()
    }

    /// By node: the length of the shortest path from `from`. O((V + E) log V).
    pub(crate) fn lengths_from(&mut self, from: NodeIndex) -> &[i64] {
        self.distances.measure_from(&self.graph, &self.lengths, &mut self.queue, from);
        self.distances.as_slice()
    }

    /// The length of a path; `None` if the graph lacks one of its links, or one is barred. O(h log E).
    pub(crate) fn length(&self, path: &Path) -> Option<i64> {
        let length =
            |edge: Option<EdgeIndex>| Some(self.lengths.of(edge?)).filter(|length| *length != BARRED);
        path.edges(&self.graph).map(length).sum()
    }

    /// The nodes of two switches; `None` if either is unknown.
    pub(crate) fn ends(&self, ingress: DatapathId, egress: DatapathId) -> Option<(NodeIndex, NodeIndex)> {
        Some((self.graph.node(ingress)?, self.graph.node(egress)?))
    }

    /// The available capacity of a link.
    pub(crate) fn available(&self, edge: EdgeIndex) -> BitsPerSec {
        self.graph.state(edge).available()
    }
}

impl Lengths {
    /// For sets of paths with up to `max_links` links in all.
    fn new(graph: &Graph, max_links: usize, cost: impl Fn(EdgeIndex) -> Option<u64>) -> Self {
        let [nodes, scale] = [graph.nodes().len(), max_links].map(|count| count as i64 + 1);
        // A path has fewer links than `nodes`, so its length stays below 2^62.
        let ceiling = (1 << 62) / nodes.saturating_mul(scale) - 1;
        let cut = |cost| i64::try_from(cost).unwrap_or(i64::MAX).min(ceiling);
        let length = |edge| cost(edge).map_or(BARRED, |cost| cut(cost) * scale + 1);
        let by_edge: Vec<_> = graph.edges().map(length).collect();
        let mut usable = by_edge.iter().copied().filter(|length| *length != BARRED);
        let first = usable.next();
        let unit = first.filter(|first| usable.all(|length| length == *first));
        Self { by_edge, scale, unit }
    }

    pub(crate) fn of(&self, edge: EdgeIndex) -> i64 {
        self.by_edge[edge.index()]
    }

    pub(crate) fn is_barred(&self, edge: EdgeIndex) -> bool {
        self.of(edge) == BARRED
    }

    /// The length of all links that are not barred, if it is the same.
    pub(crate) const fn unit(&self) -> Option<i64> {
        self.unit
    }

    /// The cost in the length of a link.
    pub(crate) const fn cost(&self, length: i64) -> u64 {
        (length / self.scale) as u64
    }

    /// The length of a path.
    pub(crate) fn total(&self, route: &[EdgeIndex]) -> i64 {
        route.iter().map(|edge| self.of(*edge)).sum()
    }
}
