use std::sync::Arc;

use braid_topology::{EdgeIndex, Graph, NodeIndex};
use braid_types::DatapathId;

use crate::edge_disjoint::Flow;
use crate::queue::Queue;

/// The length of a link that no path may use.
pub(crate) const BARRED: i64 = i64::MAX;

/// Finds paths in one graph with one cost for each link.
///
/// Of two paths of the same cost the one with fewer links is shorter. When the topology or the costs change, make a
/// new one.
#[derive(Debug)]
pub struct PathFinder {
    pub(crate) graph: Arc<Graph>,
    // By edge. Cost and hop count in one number, so that one comparison orders by both, and no length is zero.
    pub(crate) lengths: Vec<i64>,
    pub(crate) distances: Vec<i64>,
    pub(crate) queue: Queue,
    pub(crate) flow: Flow,
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
        let scale = i64::try_from(nodes).unwrap_or(i64::MAX).max(1);
        // A path has fewer than `scale` links, so hops never outweigh a unit of cost, and sums stay below 2^63.
        let ceiling = (1 << 62) / scale.saturating_mul(scale) - 1;
        let length = |edge| cost(edge).map_or(BARRED, |cost| i64::from(cost).min(ceiling) * scale + 1);
        let lengths = graph.edges().map(length).collect();
        Self {
            lengths,
            distances: vec![BARRED; nodes],
            queue: Queue::default(),
            flow: Flow::new(&graph),
            graph,
        }
    }

    /// The graph in which paths are found.
    pub const fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    pub(crate) fn ends(&self, ingress: DatapathId, egress: DatapathId) -> Option<(NodeIndex, NodeIndex)> {
        Some((self.graph.node(ingress)?, self.graph.node(egress)?))
    }
}
