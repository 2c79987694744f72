//! Path sets, kept until a link changes that matters to them.

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
/// When the graph changes, a set is forgotten if one of its links got worse, or if a link that got better could be part
/// of a better set; all sets are after more than 16 links got better, and with a greatest latency after any change, as are
/// those for which the search was ended early. Of
/// several sets that are equally good a remembered one may be another than a new one. What was handed out stays as it is.
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
    // By when they were asked last, the latest first.
    layers: Vec<Layer>,
}

/// How much a [`PathService`] remembers, and how much it does for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many different [`Terms`]; with one more, those are forgotten that were not asked for the longest time.
    pub terms: usize,
    /// How many links the sets of each have in all, about 32 bytes each. Those that were not asked for the longest
    /// time go first.
    pub links: usize,
    /// How many links a search looks at: see [`PathFinder::with_budget`](crate::PathFinder::with_budget).
    pub budget: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { terms: 8, links: 1 << 20, budget: PathFinder::DEFAULT_BUDGET }
    }
}

impl PathService {
    /// A service that remembers what [`Limits::default`] allows.
    pub fn new(graph: Arc<Graph>) -> Self {
        Self::with_limits(graph, Limits::default())
    }

    /// A service that remembers and does no more than this.
    pub const fn with_limits(graph: Arc<Graph>, limits: Limits) -> Self {
        Self { graph, limits, layers: Vec::new() }
    }

    /// The graph in which paths are found.
    pub const fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Goes on with another graph. O(1): what may be different there is forgotten when terms are asked for again, so
    /// that many changes cost no more than one.
    pub fn set_graph(&mut self, graph: Arc<Graph>) {
        self.graph = graph;
    }

    /// The answer to a request, computed if it is not remembered. O(1) if it is.
    ///
    /// The first time after a change it takes O(E log E) and a look at every set with these terms; for each link that
    /// got better two searches more.
    pub fn paths(&mut self, ingress: DatapathId, egress: DatapathId, request: &Request) -> Arc<PathSet> {
        let key = Key { ingress, egress, kind: request.kind, k: request.k };
        let limit = self.limits.links;
        self.layer(&request.terms).get(key, request, limit)
    }

    /// What is known now, to be read elsewhere while this goes on. O(1) in the number of sets.
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
