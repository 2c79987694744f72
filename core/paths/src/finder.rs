//! The path finder: one graph with one cost per link, shared by all algorithms.

use std::sync::Arc;

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::DatapathId;

use crate::Path;
use crate::decompose::Decomposition;
use crate::distances::Distances;
use crate::edge_disjoint::Flow;
use crate::k_shortest::Detours;
use crate::max_flow::Residual;
use crate::node_disjoint::Split;
use crate::queue::Queue;
use crate::widest::Widths;
use crate::within_hops::Barriers;

/// The length of a link that no path may use, and the distance from where no path leads.
pub(crate) const BARRED: i64 = i64::MAX;

/// Finds paths in one graph with one cost for each link.
///
/// Of two paths of the same cost the one with fewer links is shorter. When the topology or the costs change, make a
/// new one.
#[derive(Debug)]
pub struct PathFinder {
    pub(crate) graph: Arc<Graph>,
    pub(crate) lengths: Lengths,
    pub(crate) distances: Distances,
    pub(crate) queue: Queue,
    pub(crate) flow: Flow,
    pub(crate) detours: Detours,
    pub(crate) residual: Residual,
    pub(crate) decomposition: Decomposition,
    pub(crate) split: Split,
    pub(crate) barriers: Barriers,
    pub(crate) widths: Widths,
    pub(crate) budget: u64,
}

/// By edge: cost and hop count in one number, so that one comparison orders by both, and no length is zero.
#[derive(Debug)]
pub(crate) struct Lengths {
    by_edge: Vec<i64>,
    scale: i64,
    // The length of all links that are not barred, if they have the same.
    unit: Option<i64>,
}

impl PathFinder {
    /// How many links a search for paths of which there may be exponentially many looks at, unless
    /// [`with_budget`](Self::with_budget) says otherwise: some seconds of work.
    pub const DEFAULT_BUDGET: u64 = 1 << 28;

    /// All links cost the same.
    pub fn by_hops(graph: Arc<Graph>) -> Self {
        Self::new(graph, |_| Some(1))
    }

    /// A link costs what `cost` says, in a unit of the caller's such as microseconds; `None` bars it.
    ///
    /// Sums are exact. (In very large networks the highest costs are cut to `2^62 / (V E)`, which for 10,000 switches
    /// and 100,000 links is more than a `u32` can hold.)
    pub fn new(graph: Arc<Graph>, cost: impl Fn(EdgeIndex) -> Option<u32>) -> Self {
        // A set of disjoint paths has no more links than there are, so hops never outweigh a unit of cost.
        let lengths = Lengths::new(&graph, graph.edges().len(), |edge| cost(edge).map(u64::from));
        Self::of(graph, lengths)
    }

    fn of(graph: Arc<Graph>, lengths: Lengths) -> Self {
        let nodes = graph.nodes().len();
        Self {
            lengths,
            distances: Distances::new(nodes),
            queue: Queue::default(),
            flow: Flow::new(&graph),
            detours: Detours::new(nodes),
            residual: Residual::default(),
            decomposition: Decomposition::default(),
            split: Split::default(),
            barriers: Barriers::default(),
            widths: Widths::default(),
            budget: Self::DEFAULT_BUDGET,
            graph,
        }
    }

    /// The same, but [`by_length`](Self::by_length), [`k_shortest`](Self::k_shortest) and
    /// [`within_hops`](Self::within_hops) end when they have looked at so many links, each time it is looked at, with
    /// what they found until then. As there is no clock here, they end at the same place every time.
    pub fn with_budget(self, links: u64) -> Self {
        Self { budget: links, ..self }
    }

    /// Other costs for the links that are not barred here, to find single paths with. O(V + E).
    pub(crate) fn with_costs(&self, cost: impl Fn(EdgeIndex) -> u64) -> Self {
        let cost = |edge| (!self.lengths.is_barred(edge)).then(|| cost(edge));
        let lengths = Lengths::new(&self.graph, self.graph.nodes().len(), cost);
        Self::of(self.graph.clone(), lengths).with_budget(self.budget)
    }

    /// The same costs, and only the links that `keep` names. O(V + E).
    pub(crate) fn restricted(&self, keep: impl Fn(EdgeIndex) -> bool) -> Self {
        let cost = |edge| u32::try_from(self.lengths.cost(self.lengths.of(edge))).unwrap_or(u32::MAX);
        let keep = |edge| !self.lengths.is_barred(edge) && keep(edge);
        Self::new(self.graph.clone(), |edge| keep(edge).then(|| cost(edge))).with_budget(self.budget)
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

    /// The graph in which paths are found.
    pub const fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// What a path costs: the sum over its links; nothing if the graph lacks one, or one is barred. O(h log E).
    pub fn cost(&self, path: &Path) -> Option<u64> {
        self.length(path).map(|length| self.lengths.cost(length))
    }

    pub(crate) fn length(&self, path: &Path) -> Option<i64> {
        let length =
            |edge: Option<EdgeIndex>| Some(self.lengths.of(edge?)).filter(|length| *length != BARRED);
        path.edges(&self.graph).map(length).sum()
    }

    pub(crate) fn ends(&self, ingress: DatapathId, egress: DatapathId) -> Option<(NodeIndex, NodeIndex)> {
        Some((self.graph.node(ingress)?, self.graph.node(egress)?))
    }
}

impl Lengths {
    /// For sets of paths with up to `most_links` links in all.
    fn new(graph: &Graph, most_links: usize, cost: impl Fn(EdgeIndex) -> Option<u64>) -> Self {
        let [nodes, scale] = [graph.nodes().len(), most_links].map(|count| count as i64 + 1);
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

    /// The length of all links that are not barred, if they have the same.
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
