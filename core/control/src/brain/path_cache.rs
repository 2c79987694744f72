//! Path sets by switch pair, kept until the graph changes.

use std::sync::Arc;

use braid_paths::{Path, PathFinder};
use braid_topology::Graph;
use braid_types::DatapathId;
use rustc_hash::FxHashMap;

/// The paths from one switch to another, shortest first, and the same paths backwards.
#[derive(Debug, Default)]
pub(super) struct PathPairs {
    pub(super) forward: Vec<Arc<Path>>,
    pub(super) reverse: Vec<Arc<Path>>,
}

/// The current graph and the path sets that were asked for since it last changed.
#[derive(Debug)]
pub(super) struct PathCache {
    finder: PathFinder,
    sets: FxHashMap<(DatapathId, DatapathId), Arc<PathPairs>>,
}

impl PathCache {
    pub(super) fn new(graph: Arc<Graph>) -> Self {
        Self { finder: PathFinder::by_hops(graph), sets: FxHashMap::default() }
    }

    /// Replaces the graph and forgets the sets of the old one.
    pub(super) fn set_graph(&mut self, graph: Arc<Graph>) {
        *self = Self::new(graph);
    }

    pub(super) fn graph(&self) -> &Graph {
        self.finder.graph()
    }

    /// Up to `k` edge-disjoint paths; none if there is no way.
    pub(super) fn between(&mut self, src: DatapathId, dst: DatapathId, k: usize) -> Arc<PathPairs> {
        let finder = &mut self.finder;
        let set = self.sets.entry((src, dst)).or_insert_with(|| Arc::new(pairs(finder, src, dst, k)));
        set.clone()
    }
}

fn pairs(finder: &mut PathFinder, src: DatapathId, dst: DatapathId, k: usize) -> PathPairs {
    let mut pairs = PathPairs::default();
    for path in finder.edge_disjoint(src, dst, k) {
        if let Some(back) = path.reversed(finder.graph()) {
            pairs.forward.push(Arc::new(path));
            pairs.reverse.push(Arc::new(back));
        }
    }
    pairs
}
