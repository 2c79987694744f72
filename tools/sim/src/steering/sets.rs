//! Path sets between switches, with the controller's tie breaks or random ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use braid_paths::{Kind, Path, PathFinder, Request, solve};
use braid_planner::ecmp_paths;
use braid_topology::Graph;
use braid_types::{DatapathId, SplitMix64};

use super::scheme::{Chooser, Scheme, Ties};

/// The path sets of a scheme in one network.
#[derive(Debug)]
pub(super) struct PathSets {
    scheme: Scheme,
    graph: Arc<Graph>,
    random: SplitMix64,
    finder: PathFinder,
    known: BTreeMap<(DatapathId, DatapathId), Arc<[Path]>>,
}

impl PathSets {
    pub(super) fn new(scheme: Scheme, graph: Arc<Graph>, random: SplitMix64) -> Self {
        let finder = PathFinder::by_hops(graph.clone());
        Self { scheme, graph, random, finder, known: BTreeMap::new() }
    }

    /// The network has changed.
    pub(super) fn forget(&mut self, graph: Arc<Graph>) {
        self.finder = PathFinder::by_hops(graph.clone());
        self.graph = graph;
        self.known.clear();
    }

    /// The set of a pair of switches; a pair of hosts may get one of its own.
    pub(super) fn between(&mut self, ingress: DatapathId, egress: DatapathId) -> Arc<[Path]> {
        let Scheme { kind, k, ties, .. } = self.scheme;
        match (ties, kind) {
            _ if ingress == egress => [Path::within(ingress)].into(),
            _ if self.scheme.choice == Chooser::Hash => self.equal_cost(ingress, egress, k),
            (Ties::Shipped, _) => self.shipped(ingress, egress, k),
            (Ties::Shuffled, Kind::Shortest) => {
                let mut paths = self.shipped(ingress, egress, Request::MAX_PATHS).to_vec();
                self.random.shuffle(&mut paths);
                paths.truncate(k);
                paths.into()
            }
            (Ties::Shuffled, _) => {
                let request = Request::new(kind, k);
                solve(&mut self.shuffled(), ingress, egress, &request).paths.into()
            }
        }
    }

    /// The paths of the controller's groups of default paths.
    fn equal_cost(&mut self, ingress: DatapathId, egress: DatapathId, k: usize) -> Arc<[Path]> {
        let request = Request::new(Kind::Shortest, Request::MAX_PATHS);
        let find = || ecmp_paths(&solve(&mut self.finder, ingress, egress, &request).paths, &[], k).into();
        self.known.entry((ingress, egress)).or_insert_with(find).clone()
    }

    fn shipped(&mut self, ingress: DatapathId, egress: DatapathId, k: usize) -> Arc<[Path]> {
        let request = Request::new(self.scheme.kind, k);
        let find = || solve(&mut self.finder, ingress, egress, &request).paths.into();
        self.known.entry((ingress, egress)).or_insert_with(find).clone()
    }

    /// Links cost the same but for a little, so that all sets of as many links differ, and no more links are worth it.
    fn shuffled(&mut self) -> PathFinder {
        let costs: Vec<_> =
            self.graph.edges().map(|_| (1 << 20) + self.random.below(1 << 12) as u32).collect();
        PathFinder::new(self.graph.clone(), |edge| costs.get(edge.index()).copied())
    }
}
