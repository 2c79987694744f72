use std::sync::Arc;

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::DatapathId;

use crate::Path;
use crate::decompose::Decomposition;
use crate::distances::Distances;
use crate::edge_disjoint::Flow;
use crate::k_shortest::Detours;
use crate::max_flow::Residual;
use crate::queue::Queue;

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
    /// All links cost the same.
    pub fn by_hops(graph: Arc<Graph>) -> Self {
        Self::new(graph, |_| Some(1))
    }

    /// A link costs what `cost` says, in a unit of the caller's such as microseconds; `None` bars it.
    ///
    /// Sums are exact. (In networks of more than 32,768 switches very high costs are cut to `2^62 / V²`.)
    pub fn new(graph: Arc<Graph>, cost: impl Fn(EdgeIndex) -> Option<u32>) -> Self {
        let nodes = graph.nodes().len();
        Self {
            lengths: Lengths::new(&graph, cost),
            distances: Distances::new(nodes),
            queue: Queue::default(),
            flow: Flow::new(&graph),
            detours: Detours::new(nodes),
            residual: Residual::default(),
            decomposition: Decomposition::default(),
            graph,
        }
    }

    /// The graph in which paths are found.
    pub const fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// What a path costs: the sum over its links; nothing if the graph lacks one, or one is barred. O(h log E).
    pub fn cost(&self, path: &Path) -> Option<u64> {
        let length = |edge: Option<EdgeIndex>| {
            edge.map(|edge| self.lengths.of(edge)).filter(|length| *length != BARRED)
        };
        let lengths = path.edges(&self.graph).map(length).collect::<Option<Vec<_>>>()?;
        Some(lengths.iter().map(|length| self.lengths.cost(*length)).sum())
    }

    pub(crate) fn ends(&self, ingress: DatapathId, egress: DatapathId) -> Option<(NodeIndex, NodeIndex)> {
        Some((self.graph.node(ingress)?, self.graph.node(egress)?))
    }
}

impl Lengths {
    fn new(graph: &Graph, cost: impl Fn(EdgeIndex) -> Option<u32>) -> Self {
        let scale = i64::try_from(graph.nodes().len()).unwrap_or(i64::MAX).max(1);
        // A path has fewer than `scale` links, so hops never outweigh a unit of cost, and sums stay below 2^63.
        let ceiling = (1 << 62) / scale.saturating_mul(scale) - 1;
        let length = |edge| cost(edge).map_or(BARRED, |cost| i64::from(cost).min(ceiling) * scale + 1);
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
