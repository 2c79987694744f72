//! Cached path sets for streams and default paths, and suspended paths.

mod conditions;

use std::sync::Arc;

use braid_paths::{
    Constraints, Kind, Path, PathFinder, PathService, PathSet, Request, Snapshot, Terms, Weight,
};
use braid_steering::Route;
use braid_topology::Graph;
use braid_types::{DatapathId, Index, SwitchPair, Time};

use conditions::{PathConditions, SuspendedPaths};

/// Path sets over links that exist in both directions, since replies return on them.
#[derive(Debug)]
pub(crate) struct PathCache {
    service: PathService,
    disjoint: Request,
    shortest: Request,
    equal_cost: Request,
    suspended: SuspendedPaths,
    /// Edge-disjoint paths in this graph, which most streams use.
    recent: Index<(DatapathId, DatapathId), Arc<PathSet>>,
    /// Paths in both directions, by the address of their links in memory. It is unique while an entry holds
    /// the path.
    routes: Index<usize, Route>,
    /// Whether a link of the graph is degraded, which is rare.
    has_degraded: bool,
}

/// Shortest paths between two switches that are looked at.
const MAX_EQUAL_COST: usize = 64;

/// Cached path sets, and cached routes.
const MAX_CACHED: usize = 16_384;

impl PathCache {
    /// A cache of sets of up to `k` paths, shortest by `weight`.
    pub(crate) fn new(graph: Arc<Graph>, k: usize, weight: Weight) -> Self {
        let constraints = Constraints { both_ways: true, ..Constraints::default() };
        let terms = Terms { weight, constraints };
        Self {
            service: PathService::new(graph),
            disjoint: Request { kind: Kind::EdgeDisjoint, k, terms: terms.clone() },
            equal_cost: Request { kind: Kind::Shortest, k: MAX_EQUAL_COST, terms: terms.clone() },
            shortest: Request { kind: Kind::Shortest, k: 1, terms },
            suspended: SuspendedPaths::default(),
            recent: Index::default(),
            routes: Index::default(),
            has_degraded: false,
        }
    }

    /// Replaces the graph.
    pub(crate) fn set_graph(&mut self, graph: Arc<Graph>) {
        self.has_degraded = graph.edges().any(|edge| !graph.state(edge).degradation.is_none());
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

    /// A snapshot for readers elsewhere.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.service.snapshot()
    }

    /// Suspends a path in both directions until `until`.
    pub(crate) fn suspend(&mut self, path: Path, until: Time) {
        self.suspended.push(path, until);
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

    /// The route with this forward path and the same links in reverse.
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

    /// At most `k` paths of any kind between two switches.
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

    /// The shortest path, or the first other usable path if it is suspended.
    pub(crate) fn shortest(&mut self, now: Time, src: DatapathId, dst: DatapathId) -> Option<Path> {
        let set = self.service.paths(src, dst, &self.shortest);
        if let Some(path) = self.conditions(now).usable(&set).next() {
            return Some(path.clone());
        }
        let others = self.disjoint(src, dst);
        self.conditions(now).usable(&others).next().cloned()
    }

    /// All usable shortest paths, up to 64; if all are suspended, the first other usable path.
    pub(crate) fn equal_cost(&mut self, now: Time, SwitchPair { src, dst }: SwitchPair) -> Vec<Path> {
        let set = self.service.paths(src, dst, &self.equal_cost);
        let paths: Vec<_> = self.conditions(now).usable(&set).cloned().collect();
        if paths.is_empty() { self.shortest(now, src, dst).into_iter().collect() } else { paths }
    }

    /// The conditions of paths now.
    pub(crate) fn conditions(&self, now: Time) -> PathConditions<'_> {
        let (graph, suspended, has_degraded) = (self.service.graph(), &self.suspended, self.has_degraded);
        PathConditions { now, graph, suspended, has_degraded }
    }
}
