//! The path sets that streams and routes choose from, and the paths that are left alone for a while.

use std::collections::VecDeque;
use std::sync::Arc;

use braid_paths::{
    Constraints, Kind, Path, PathFinder, PathService, PathSet, Request, Snapshot, Terms, Weight,
};
use braid_steering::Route;
use braid_topology::Graph;
use braid_types::{DatapathId, Index, Time};

use crate::label::MEMBERS;
use crate::switch_pair::SwitchPair;

/// Paths that could not be installed are few, or all of a group; of more, the oldest may be tried again.
const MAX_SUSPENDED: usize = 2 * MEMBERS as usize;

/// Paths over links of which both directions are known, as replies return on them.
#[derive(Debug)]
pub(crate) struct PathCache {
    service: PathService,
    disjoint: Request,
    shortest: Request,
    suspended: VecDeque<(Path, Time)>,
    /// The disjoint paths as they were found in this graph: most streams ask for them.
    recent: Index<(DatapathId, DatapathId), Arc<PathSet>>,
    /// Paths in both directions, by where their links are in memory, which no other has while they are here.
    routes: Index<usize, Route>,
}

/// Sets and routes that are kept at hand.
const MAX_CACHED: usize = 16_384;

impl PathCache {
    /// Sets have up to `k` paths, which are short by `weight`.
    pub(crate) fn new(graph: Arc<Graph>, k: usize, weight: Weight) -> Self {
        let constraints = Constraints { both_ways: true, ..Constraints::default() };
        let terms = Terms { weight, constraints };
        Self {
            service: PathService::new(graph),
            disjoint: Request { kind: Kind::EdgeDisjoint, k, terms: terms.clone() },
            shortest: Request { kind: Kind::Shortest, k: 1, terms },
            suspended: VecDeque::new(),
            recent: Index::default(),
            routes: Index::default(),
        }
    }

    /// Goes on with another graph.
    pub(crate) fn set_graph(&mut self, graph: Arc<Graph>) {
        self.service.set_graph(graph);
        self.recent.clear();
        self.routes.clear();
    }

    /// A finder of paths over the same links, at the same costs.
    pub(crate) fn finder(&self) -> PathFinder {
        self.disjoint.terms.finder(self.service.graph())
    }

    pub(crate) fn graph(&self) -> &Graph {
        self.service.graph()
    }

    /// What others may read while the brain goes on.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.service.snapshot()
    }

    /// Leaves a path alone until `until`, in both directions.
    pub(crate) fn bar(&mut self, path: Path, until: Time) {
        if self.suspended.len() >= MAX_SUSPENDED {
            self.suspended.pop_front();
        }
        self.suspended.push_back((path, until));
    }

    /// The edge-disjoint paths from one switch to another.
    pub(crate) fn disjoint(&mut self, src: DatapathId, dst: DatapathId) -> Arc<PathSet> {
        if let Some(set) = self.recent.get(&(src, dst)) {
            return set.clone();
        }
        let set = self.service.paths(src, dst, &self.disjoint);
        if self.recent.len() >= MAX_CACHED {
            self.recent.clear();
        }
        self.recent.insert((src, dst), set.clone());
        set
    }

    /// A path there, and the same links back.
    pub(crate) fn route(&mut self, path: &Path) -> Route {
        let place = path.links().as_ptr().addr();
        if let Some(route) = self.routes.get(&place).filter(|route| route.forward == *path) {
            return route.clone();
        }
        let route = Route { forward: path.clone(), reverse: path.reversed() };
        if self.routes.len() >= MAX_CACHED {
            self.routes.clear();
        }
        self.routes.insert(place, route.clone());
        route
    }

    /// The paths of any kind from one switch to another, `k` at most.
    pub(crate) fn of_kind(
        &mut self,
        kind: Kind,
        k: usize,
        SwitchPair { src, dst }: SwitchPair,
    ) -> Arc<PathSet> {
        if (kind, k) == (self.disjoint.kind, self.disjoint.k) {
            return self.disjoint(src, dst);
        }
        let request = Request { kind, k, terms: self.disjoint.terms.clone() };
        self.service.paths(src, dst, &request)
    }

    /// The shortest paths from one switch to another that pass no switch twice, `k` at most.
    pub(crate) fn k_shortest(&mut self, src: DatapathId, dst: DatapathId, k: usize) -> Arc<PathSet> {
        let request = Request { kind: Kind::KShortest, k, terms: self.disjoint.terms.clone() };
        self.service.paths(src, dst, &request)
    }

    /// The shortest path, or if that is left alone the first of the others.
    pub(crate) fn shortest(&mut self, now: Time, src: DatapathId, dst: DatapathId) -> Option<Path> {
        let set = self.service.paths(src, dst, &self.shortest);
        if let Some(path) = self.usable(&set, now).next() {
            return Some(path.clone());
        }
        let others = self.disjoint(src, dst);
        self.usable(&others, now).next().cloned()
    }

    /// The paths of a set that are not left alone.
    pub(crate) fn usable<'a>(&'a self, set: &'a PathSet, now: Time) -> impl Iterator<Item = &'a Path> {
        set.paths.iter().filter(move |path| !self.is_suspended(path, now))
    }

    /// Whether a path is left alone.
    pub(crate) fn is_suspended(&self, path: &Path, now: Time) -> bool {
        let same = |suspended: &Path| suspended == path || suspended.is_reverse_of(path);
        self.suspended.iter().any(|(suspended, until)| *until > now && same(suspended))
    }
}
