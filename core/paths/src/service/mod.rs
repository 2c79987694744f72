//! A cache of path sets, each kept until a relevant link changes.

mod changes;
mod layer;
mod sets;
mod snapshot;

use std::sync::Arc;

use braid_topology::Graph;
use braid_types::DatapathId;

use crate::{PathFinder, PathSet, Request, Terms};
use layer::Layer;
use sets::Key;

pub use snapshot::Snapshot;

/// Answers requests, and remembers the answers by switch pair and request.
///
/// When the graph changes, a set is dropped if one of its links got worse, or if an improved link could be part of a
/// better set. All sets are dropped after more than 16 links improved. Sets with a greatest latency, and those whose
/// search ended early, are dropped after any change. Of several equally good sets, the cached one may differ from a new
/// one. Sets that were returned stay as they are.
///
/// ```
/// # use std::sync::Arc;
/// use braid_paths::{Kind, PathService, Request};
/// # use braid_topology::{Graph, Link};
/// # use braid_types::{DatapathId, PortNo, SwitchPort};
/// # let end = |dpid, port| SwitchPort::new(DatapathId(dpid), PortNo(port));
/// # let links = [(end(1, 1), end(2, 1)), (end(2, 2), end(3, 1)), (end(1, 2), end(3, 2))];
/// # let graph = Arc::new(Graph::from_links(links.map(|(src, dst)| Link { src, dst })));
/// # let without_direct_link = Arc::new(Graph::from_links(links[..2].iter().map(|(src, dst)| Link { src: *src, dst: *dst })));
/// let request = Request::new(Kind::EdgeDisjoint, 4);
/// let mut service = PathService::new(graph);
/// let before = service.paths(DatapathId(1), DatapathId(3), &request);
/// service.set_graph(without_direct_link);
/// let after = service.paths(DatapathId(1), DatapathId(3), &request);
/// assert_eq!((before.paths.len(), after.paths.len()), (2, 1));
/// ```
#[derive(Debug)]
pub struct PathService {
    graph: Arc<Graph>,
    limits: Limits,
    // The most recently requested first.
    layers: Vec<Layer>,
}

/// The bounds of the memory of a [`PathService`], and of its work for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The greatest number of different [`Terms`]; the least recently requested are dropped first.
    pub terms: usize,
    /// The total number of links of the sets of each, about 32 bytes each. The least recently requested are dropped
    /// first.
    pub links: usize,
    /// The number of links that a search visits: see [`PathFinder::with_budget`](crate::PathFinder::with_budget).
    pub budget: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { terms: 8, links: 1 << 20, budget: PathFinder::DEFAULT_BUDGET }
    }
}

impl PathService {
    /// A service with the limits [`Limits::default`].
    pub fn new(graph: Arc<Graph>) -> Self {
        Self::with_limits(graph, Limits::default())
    }

    /// A service with these limits.
    pub const fn with_limits(graph: Arc<Graph>, limits: Limits) -> Self {
        Self { graph, limits, layers: Vec::new() }
    }

    /// The graph in which paths are found.
    pub const fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Continues with another graph. O(1): affected sets are dropped when their terms are next requested, so that many
    /// changes cost no more than one.
    pub fn set_graph(&mut self, graph: Arc<Graph>) {
        self.graph = graph;
    }

    /// The answer to a request, from the cache in O(1), or computed.
    ///
    /// The first request after a change takes O(E log E) and a check of every set with these terms; each improved link
    /// takes two searches more.
    pub fn paths(&mut self, ingress: DatapathId, egress: DatapathId, request: &Request) -> Arc<PathSet> {
        let key = Key { ingress, egress, kind: request.kind, k: request.k };
        let limit = self.limits.links;
        self.layer(&request.terms).get(key, request, limit)
    }

    /// A copy of the cache, to be read elsewhere. O(1) in the number of sets.
    pub fn snapshot(&self) -> Snapshot {
        let current = self.layers.iter().filter(|layer| Arc::ptr_eq(layer.graph(), &self.graph));
        Snapshot::new(self.graph.clone(), current.map(Layer::share).collect(), self.limits.budget)
    }

    fn layer(&mut self, terms: &Terms) -> &mut Layer {
        match self.layers.iter().position(|layer| layer.is_for(terms)) {
            Some(0) => {}
            Some(place) => self.layers[..=place].rotate_right(1),
            None => {
                self.layers.truncate(self.limits.terms.saturating_sub(1));
                self.layers.insert(0, Layer::new(&self.graph, terms.clone(), self.limits.budget));
            }
        }
        let layer = &mut self.layers[0];
        layer.follow(&self.graph);
        layer
    }
}
