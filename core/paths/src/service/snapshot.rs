//! A snapshot of the path service, for readers on other threads.

use std::sync::Arc;

use braid_topology::Graph;
use braid_types::DatapathId;

use super::sets::{Key, Sets};
use crate::{PathSet, Request, Terms, solve};

/// The sets of a [`PathService`](crate::PathService) at one moment. Its holder reads and computes independently of all
/// others.
#[derive(Debug, Clone)]
pub struct Snapshot {
    graph: Arc<Graph>,
    layers: Vec<(Terms, Sets)>,
    budget: u64,
}

impl Snapshot {
    pub(super) const fn new(graph: Arc<Graph>, layers: Vec<(Terms, Sets)>, budget: u64) -> Self {
        Self { graph, layers, budget }
    }

    /// The graph in which paths are found.
    pub const fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The answer to a request, from the cache or computed with a finder of its own, O(V + E) more.
    pub fn paths(&self, ingress: DatapathId, egress: DatapathId, request: &Request) -> Arc<PathSet> {
        let key = Key { ingress, egress, kind: request.kind, k: request.k };
        let layer = self.layers.iter().find(|(terms, _)| *terms == request.terms);
        let known = layer.and_then(|(_, sets)| sets.peek(&key)).cloned();
        known.unwrap_or_else(|| {
            let mut finder = request.terms.finder(&self.graph).with_budget(self.budget);
            Arc::new(solve(&mut finder, ingress, egress, request))
        })
    }
}
