//! Cached path sets of one combination of link cost and constraints.

use std::sync::Arc;

use braid_topology::Graph;

use super::changes::Changes;
use super::sets::{Key, Sets};
use crate::{PathFinder, PathSet, Request, Terms, solve};

/// The sets of all requests with the same terms.
#[derive(Debug)]
pub(super) struct Layer {
    terms: Terms,
    finder: PathFinder,
    sets: Sets,
}

impl Layer {
    pub(super) fn new(graph: &Arc<Graph>, terms: Terms, budget: u64) -> Self {
        Self { finder: terms.finder(graph).with_budget(budget), terms, sets: Sets::default() }
    }

    pub(super) fn is_for(&self, terms: &Terms) -> bool {
        self.terms == *terms
    }

    pub(super) fn share(&self) -> (Terms, Sets) {
        (self.terms.clone(), self.sets.clone())
    }

    pub(super) fn get(&mut self, key: Key, request: &Request, limit: usize) -> Arc<PathSet> {
        self.sets.get(&key, limit).unwrap_or_else(|| self.compute(key, request, limit))
    }

    fn compute(&mut self, key: Key, request: &Request, limit: usize) -> Arc<PathSet> {
        let set = Arc::new(solve(&mut self.finder, key.ingress, key.egress, request));
        // Without this check, requests for unknown switches could fill the cache without end.
        if [key.ingress, key.egress].iter().all(|end| self.finder.graph().node(*end).is_some()) {
            self.sets.insert(key, set.clone(), limit);
        }
        set
    }

    pub(super) const fn graph(&self) -> &Arc<Graph> {
        self.finder.graph()
    }

    /// Continues with this graph, if it is another one.
    pub(super) fn follow(&mut self, graph: &Arc<Graph>) {
        if Arc::ptr_eq(self.graph(), graph) {
            return;
        }
        let finder = self.terms.finder(graph).with_budget(self.finder.network().budget);
        let old = std::mem::replace(&mut self.finder, finder);
        match Changes::between(old.network(), self.finder.network_mut(), &self.terms) {
            Some(changes) => self.sets.retain(|key, set| !changes.affect(key, set, self.finder.network())),
            None => self.sets = Sets::default(),
        }
    }
}
