//! Path sets by switch pair, kept until the graph changes.

use std::collections::VecDeque;
use std::sync::Arc;

use braid_paths::{Path, PathFinder};
use braid_topology::Graph;
use braid_types::{DatapathId, Time};
use rustc_hash::FxHashMap;

/// The paths from one switch to another, shortest first, and the same paths backwards.
#[derive(Debug, Default)]
pub(super) struct PathPairs {
    pub(super) forward: Vec<Arc<Path>>,
    pub(super) reverse: Vec<Arc<Path>>,
}

impl PathPairs {
    /// The paths that may be used, with the same paths backwards.
    pub(super) fn usable(
        &self,
        test: impl Fn(&Path) -> bool,
    ) -> impl Iterator<Item = (&Arc<Path>, &Arc<Path>)> {
        self.forward.iter().zip(&self.reverse).filter(move |(there, back)| test(there) && test(back))
    }
}

/// Paths that could not be installed are few; if not, the oldest may be tried again.
const MAX_BARRED: usize = 256;

/// The current graph and the path sets that were asked for since it last changed.
#[derive(Debug)]
pub(super) struct PathCache {
    finder: PathFinder,
    sets: FxHashMap<(DatapathId, DatapathId), Arc<PathPairs>>,
    barred: VecDeque<(Arc<Path>, Time)>,
}

impl PathCache {
    pub(super) fn new(graph: Arc<Graph>) -> Self {
        Self { finder: PathFinder::by_hops(graph), sets: FxHashMap::default(), barred: VecDeque::new() }
    }

    /// Replaces the graph and forgets the sets of the old one.
    pub(super) fn set_graph(&mut self, graph: Arc<Graph>) {
        let barred = std::mem::take(&mut self.barred);
        *self = Self { barred, ..Self::new(graph) };
    }

    pub(super) fn graph(&self) -> &Graph {
        self.finder.graph()
    }

    /// Leaves a path alone until `until`.
    pub(super) fn bar(&mut self, path: Arc<Path>, until: Time) {
        if self.barred.len() >= MAX_BARRED {
            self.barred.pop_front();
        }
        self.barred.push_back((path, until));
    }

    /// Whether a path is to be left alone.
    pub(super) fn is_barred(&self, path: &Path, now: Time) -> bool {
        self.barred.iter().any(|(barred, until)| *until > now && **barred == *path)
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
