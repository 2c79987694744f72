//! The path finder: one graph with one cost per link, and every algorithm on it.

use std::sync::Arc;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph};
use braid_types::{BitsPerSec, DatapathId};

use crate::algorithm::Problem;
use crate::algorithms::Algorithms;
use crate::latency_bounded::LatencyBound;
use crate::network::Network;
use crate::{ByLength, Constraints, MaxFlow, Path, PathSet, Request, WithinHops};

/// Finds paths in one graph with one cost for each link.
///
/// Of two paths of the same cost the one with fewer links is shorter. When the topology or the costs change, create a
/// new finder.
#[derive(Debug)]
pub struct PathFinder {
    network: Network,
    algorithms: Algorithms,
}

/// Answers a request with a finder made of its [`Terms`](crate::Terms).
///
/// # Returns
/// At most `k` paths, in the order of the algorithm; none when a switch is unknown or barred, or no path is left.
///
/// The [budget](PathFinder::with_budget) of the finder bounds the paths of [`Kind::KShortest`](crate::Kind::KShortest)
/// and [`Kind::WithinHops`](crate::Kind::WithinHops). With a greatest latency, these two and
/// [`Kind::Shortest`](crate::Kind::Shortest) skip late paths until `k` are found, or 64 were examined for each requested
/// path, 4,096 in all. [`Kind::Widest`](crate::Kind::Widest) is the widest of the paths in time. The others search
/// without the links that are on no path in time, and drop late paths from the result: finding the best set of paths
/// of bounded length is NP-hard (Itai, Perl, Shiloach, 1982). If no path remains, the answer is the path of least
/// latency, if that is in time.
pub fn solve(finder: &mut PathFinder, ingress: DatapathId, egress: DatapathId, request: &Request) -> PathSet {
    let Constraints { without_switches, max_latency, .. } = &request.terms.constraints;
    if [ingress, egress].iter().any(|end| without_switches.contains(end)) {
        return PathSet::default();
    }
    let problem = Problem { ingress, egress, k: request.k, parameter: request.kind.parameter() };
    let PathFinder { network, algorithms } = finder;
    match max_latency {
        Some(limit) if ingress != egress => {
            let bound = LatencyBound::new(&network.graph, *limit);
            let Some(mut network) = bound.without_late_links(network, problem) else {
                return PathSet::default();
            };
            algorithms.solve_bounded(request.kind, &mut network, problem, &bound)
        }
        _ => algorithms.solve(request.kind, network, problem),
    }
}

impl PathFinder {
    /// The default [budget](Self::with_budget): the number of links that a search visits when exponentially many
    /// paths may exist. Some seconds of work.
    pub const DEFAULT_BUDGET: u64 = 1 << 28;

    /// All links cost the same.
    pub fn by_hops(graph: Arc<Graph>) -> Self {
        Self::new(graph, |_| Some(1))
    }

    /// The cost of a link is `cost`, in a unit of the caller's such as microseconds; `None` bars it.
    ///
    /// Sums are exact. (In very large networks the highest costs are cut to `2^62 / (V E)`, which for 10,000 switches
    /// and 100,000 links is more than a `u32` can hold.)
    pub fn new(graph: Arc<Graph>, cost: impl Fn(EdgeIndex) -> Option<u32>) -> Self {
        let network = Network::new(graph, cost, Self::DEFAULT_BUDGET);
        Self { network, algorithms: Algorithms::default() }
    }

    /// The same with another budget: [`by_length`](Self::by_length), [`k_shortest`](Self::k_shortest) and
    /// [`within_hops`](Self::within_hops) end after visiting so many links, each visit counted, with the paths found
    /// until then. No clock is involved, so they end at the same place every time.
    pub fn with_budget(mut self, links: u64) -> Self {
        self.network.budget = links;
        self
    }

    /// The graph in which paths are found.
    pub const fn graph(&self) -> &Arc<Graph> {
        &self.network.graph
    }

    /// The cost of a path: the sum over its links; `None` if the graph lacks one, or one is barred. O(h log E).
    pub fn cost(&self, path: &Path) -> Option<u64> {
        self.network.length(path).map(|length| self.network.lengths.cost(length))
    }

    pub(crate) const fn network(&self) -> &Network {
        &self.network
    }

    pub(crate) const fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// The same links at a cost of a nanosecond of delay each; `unknown` replaces unknown delays.
    pub(crate) fn by_latency(&self, unknown: Duration) -> Network {
        self.network.by_latency(unknown)
    }
}

/// The algorithms one by one, for callers that need no [`Request`]. Where both switches are the same, the answer is the
/// one path without links; where either is unknown or no path exists, there is none.
impl PathFinder {
    /// One path of least cost; of those, of fewest links; of those, the one that leaves each switch, from the ingress
    /// on, through the lowest port.
    pub fn shortest(&mut self, ingress: DatapathId, egress: DatapathId) -> Option<Path> {
        self.network.shortest(ingress, egress)
    }

    /// Up to `limit` of the paths as short as [`shortest`](Self::shortest), in the order of their ports.
    pub fn all_shortest(&mut self, ingress: DatapathId, egress: DatapathId, limit: usize) -> Vec<Path> {
        self.algorithms.all_shortest.paths(&mut self.network, (ingress, egress), limit)
    }

    /// The `k` shortest paths that pass no switch twice: by cost, then by links, then by ports. Fewer if the
    /// [budget](Self::with_budget) is used up, which [`by_length`](Self::by_length) reports.
    pub fn k_shortest(&mut self, ingress: DatapathId, egress: DatapathId, k: usize) -> Vec<Path> {
        self.algorithms.k_shortest.first(&mut self.network, (ingress, egress), k).collect()
    }

    /// All paths that pass no switch twice, in the order of [`k_shortest`](Self::k_shortest), each found when it is
    /// asked for. Memory is O(V + n h) for n paths that were asked for.
    pub fn by_length(&mut self, ingress: DatapathId, egress: DatapathId) -> ByLength<'_> {
        self.algorithms.k_shortest.first(&mut self.network, (ingress, egress), usize::MAX)
    }

    /// Up to `k` paths of which no two use the same link, in either direction, of least total cost; shortest first.
    pub fn edge_disjoint(&mut self, ingress: DatapathId, egress: DatapathId, k: usize) -> Vec<Path> {
        self.algorithms.edge_disjoint.paths(&mut self.network, (ingress, egress), k)
    }

    /// Up to `k` paths of which no two meet in a switch, other than at the ends, of least total cost; shortest first.
    pub fn node_disjoint(&mut self, ingress: DatapathId, egress: DatapathId, k: usize) -> Vec<Path> {
        self.algorithms.node_disjoint.paths(&mut self.network, (ingress, egress), k)
    }

    /// Up to `limit` paths of `max_hops` links or less, those of the fewest links first, then by ports. Costs do not
    /// matter, but barred links are not used.
    pub fn within_hops(
        &mut self,
        ingress: DatapathId,
        egress: DatapathId,
        max_hops: usize,
        limit: usize,
    ) -> WithinHops {
        self.algorithms.within_hops.paths(&self.network, (ingress, egress), max_hops, limit)
    }

    /// The maximum flow between two switches, and the `k` widest of the paths that it is made of. `rate` is the capacity
    /// that each link offers, called once for each. Costs do not matter, but barred links are not used.
    ///
    /// The paths together exceed no link's rate, none visits a switch twice, and no link is used in both directions.
    /// Sums beyond `u64::MAX` bits per second are cut.
    pub fn max_flow(
        &mut self,
        ingress: DatapathId,
        egress: DatapathId,
        k: usize,
        rate: impl Fn(EdgeIndex) -> BitsPerSec,
    ) -> MaxFlow {
        self.algorithms.max_flow.flow(&self.network, (ingress, egress), k, rate)
    }

    /// One path whose slowest link is the fastest, and the rate of that link, which is not zero; of those, the
    /// [`shortest`](Self::shortest). `rate` is the capacity that each link offers, called once for each. `u64::MAX`
    /// bits per second where both switches are the same.
    pub fn widest(
        &mut self,
        ingress: DatapathId,
        egress: DatapathId,
        rate: impl Fn(EdgeIndex) -> BitsPerSec,
    ) -> Option<(Path, BitsPerSec)> {
        self.algorithms.widest.path(&self.network, (ingress, egress), rate)
    }
}
