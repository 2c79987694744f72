//! Latency-bounded path sets: the tools of algorithms whose paths have a greatest latency.

mod shortest_within;

use std::sync::Arc;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph};

use crate::algorithm::Problem;
use crate::algorithms::KShortest;
use crate::latency::nanos;
use crate::network::Network;
use crate::path_set::Flow;
use crate::{Path, PathSet, latency, unknown_delay};

/// The number of paths examined for each requested one, before the rest is taken to be late as well.
const CANDIDATES_PER_PATH: usize = 64;
/// The number of paths examined in all, unless more are requested.
const MAX_CANDIDATES: usize = 4_096;

/// The greatest latency of a path, and which paths are in time.
pub(crate) struct LatencyBound {
    graph: Arc<Graph>,
    unknown: Duration,
    limit: Duration,
}

impl LatencyBound {
    pub(crate) fn new(graph: &Arc<Graph>, limit: Duration) -> Self {
        Self { unknown: unknown_delay(graph), graph: graph.clone(), limit }
    }

    /// The number of paths to examine for `k` in time.
    pub(crate) fn candidates(&self, k: usize) -> usize {
        k.saturating_mul(CANDIDATES_PER_PATH).min(MAX_CANDIDATES.max(k))
    }

    /// The network without the links that are on no path in time; nothing when a switch is unknown.
    pub(crate) fn without_late_links(&self, network: &Network, problem: Problem) -> Option<Network> {
        let (from, to) = network.ends(problem.ingress, problem.egress)?;
        let mut by_latency = network.by_latency(self.unknown);
        let ahead = by_latency.lengths_from(from).to_vec();
        let back = by_latency.lengths_to(to).to_vec();
        let in_time = |edge: EdgeIndex| {
            let [start, end] = [ahead[self.graph.tail(edge).index()], back[self.graph.head(edge).index()]];
            let length = start.checked_add(end)?.checked_add(by_latency.lengths.of(edge))?;
            Some(by_latency.lengths.cost(length) <= nanos(self.limit))
        };
        Some(network.restricted(|edge| in_time(edge).unwrap_or(false)))
    }

    /// The set without its late paths, and without their shares of a flow.
    pub(crate) fn drop_late(&self, set: PathSet) -> PathSet {
        let kept: Vec<_> = set.paths.iter().map(|path| self.admits(path)).collect();
        let late = kept.contains(&false);
        let flow = set.flow.map(|flow| Flow { rates: keep(flow.rates, &kept), late, ..flow });
        PathSet { paths: keep(set.paths, &kept), flow, ..set }
    }

    /// The path of least latency, if it is in time.
    pub(crate) fn fastest(&self, network: &Network, problem: Problem) -> Option<Path> {
        let fastest = network.by_latency(self.unknown).shortest(problem.ingress, problem.egress);
        fastest.filter(|path| self.admits(path))
    }

    /// The path of least latency among those of so many links at most, if it is in time.
    pub(crate) fn fastest_within(&self, network: &Network, problem: Problem, hops: u64) -> Option<Path> {
        let by_latency = network.by_latency(self.unknown);
        let fastest = by_latency.shortest_within(problem.ingress, problem.egress, hops);
        fastest.filter(|path| self.admits(path))
    }

    /// The path of least latency, where there is no other.
    pub(crate) fn or_fastest(&self, paths: &mut Vec<Path>, network: &Network, problem: Problem) {
        if paths.is_empty() {
            paths.extend(self.fastest(network, problem));
        }
    }

    /// The shortest paths in time; with `equal`, only those as short as the first of them.
    pub(crate) fn first_in_time(&self, network: &mut Network, problem: Problem, equal: bool) -> PathSet {
        let Problem { ingress, egress, k, .. } = problem;
        let mut search = KShortest::default();
        let mut all = search.first(network, (ingress, egress), usize::MAX);
        let (mut paths, mut least, mut left) = (Vec::new(), None, self.candidates(k));
        while paths.len() < k && left > 0 {
            let Some(path) = all.next() else { break };
            if equal && least.is_some_and(|least| all.length() > least) {
                break;
            }
            left -= 1;
            if self.admits(&path) {
                least = least.or(Some(all.length()));
                paths.push(path);
            }
        }
        let cut_short = paths.len() < k && (left == 0 || all.is_cut_short());
        self.or_fastest(&mut paths, network, problem);
        PathSet { paths, cut_short, ..PathSet::default() }
    }

    fn admits(&self, path: &Path) -> bool {
        latency(path, &self.graph, self.unknown).is_some_and(|latency| latency <= self.limit)
    }
}

fn keep<T>(items: Vec<T>, kept: &[bool]) -> Vec<T> {
    items.into_iter().zip(kept).filter(|(_, kept)| **kept).map(|(item, _)| item).collect()
}
