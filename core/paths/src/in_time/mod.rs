//! Latency-bounded path sets: the answers of every algorithm when paths have a greatest latency.

use std::sync::Arc;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph};
use braid_types::{BitsPerSec, DatapathId};

use crate::latency::nanos;
use crate::path_set::Flow;
use crate::solve::solve_any;
use crate::{Kind, Path, PathFinder, PathSet, Request, latency, unknown_delay};

mod shortest_within;

/// How many paths are looked at for each that is wanted, before the rest is taken to be late as well.
const PATIENCE: usize = 64;
/// How many are looked at in all, if not as many are wanted.
const MAX_LOOKED_AT: usize = 4_096;

/// How many paths to look at for `k` in time.
fn looked_at(k: usize) -> usize {
    k.saturating_mul(PATIENCE).min(MAX_LOOKED_AT.max(k))
}

/// The answer when paths may be late.
pub(crate) fn solve_in_time(
    finder: &mut PathFinder,
    ends: (DatapathId, DatapathId),
    request: &Request,
    limit: Duration,
) -> PathSet {
    if ends.0 == ends.1 {
        return solve_any(finder, ends, request);
    }
    let clock = Clock { unknown: unknown_delay(finder.graph()), graph: finder.graph().clone(), limit };
    let Some(mut finder) = clock.without_late_links(finder, ends) else { return PathSet::default() };
    match request.kind {
        Kind::Shortest => clock.first_in_time(&mut finder, ends, request.k, true),
        Kind::KShortest => clock.first_in_time(&mut finder, ends, request.k, false),
        Kind::WithinHops(hops) => clock.within_hops(&mut finder, ends, request, hops),
        Kind::Widest => clock.widest(&finder, ends),
        Kind::MaxFlow => clock.max_flow(&mut finder, ends, request),
        Kind::EdgeDisjoint | Kind::NodeDisjoint => {
            let mut set = clock.drop_late(solve_any(&mut finder, ends, request));
            clock.or_fastest(&mut set.paths, &finder, ends);
            set
        }
    }
}

/// Tells which paths are in time.
struct Clock {
    graph: Arc<Graph>,
    unknown: Duration,
    limit: Duration,
}

impl Clock {
    fn is_in_time(&self, path: &Path) -> bool {
        latency(path, &self.graph, self.unknown).is_some_and(|latency| latency <= self.limit)
    }

    /// Without the links that are on no path in time; nothing when a switch is unknown.
    fn without_late_links(
        &self,
        finder: &PathFinder,
        (ingress, egress): (DatapathId, DatapathId),
    ) -> Option<PathFinder> {
        let (from, to) = finder.ends(ingress, egress)?;
        let mut by_latency = finder.by_latency(self.unknown);
        let ahead = by_latency.lengths_from(from).to_vec();
        let back = by_latency.lengths_to(to).to_vec();
        let in_time = |edge: EdgeIndex| {
            let [start, end] = [ahead[self.graph.tail(edge).index()], back[self.graph.head(edge).index()]];
            let length = start.checked_add(end)?.checked_add(by_latency.lengths.of(edge))?;
            Some(by_latency.lengths.cost(length) <= nanos(self.limit))
        };
        Some(finder.restricted(|edge| in_time(edge).unwrap_or(false)))
    }

    /// The path of least latency, if it is in time.
    fn fastest(&self, finder: &PathFinder, (ingress, egress): (DatapathId, DatapathId)) -> Option<Path> {
        finder.by_latency(self.unknown).shortest(ingress, egress).filter(|path| self.is_in_time(path))
    }

    fn or_fastest(&self, paths: &mut Vec<Path>, finder: &PathFinder, ends: (DatapathId, DatapathId)) {
        if paths.is_empty() {
            paths.extend(self.fastest(finder, ends));
        }
    }

    /// The shortest paths in time; with `equal`, only those as short as the first of them.
    fn first_in_time(
        &self,
        finder: &mut PathFinder,
        (ingress, egress): (DatapathId, DatapathId),
        k: usize,
        equal: bool,
    ) -> PathSet {
        let mut paths = Vec::new();
        let mut least = None;
        let mut all = finder.by_length(ingress, egress);
        let mut patience = looked_at(k);
        while paths.len() < k && patience > 0 {
            let Some(path) = all.next() else { break };
            if equal && least.is_some_and(|least| all.length() > least) {
                break;
            }
            patience -= 1;
            if self.is_in_time(&path) {
                least = least.or(Some(all.length()));
                paths.push(path);
            }
        }
        let cut_short = paths.len() < k && (patience == 0 || all.is_cut_short());
        self.or_fastest(&mut paths, finder, (ingress, egress));
        PathSet { paths, cut_short, ..PathSet::default() }
    }

    fn within_hops(
        &self,
        finder: &mut PathFinder,
        (ingress, egress): (DatapathId, DatapathId),
        request: &Request,
        hops: u32,
    ) -> PathSet {
        let found = finder.within_hops(ingress, egress, hops as usize, looked_at(request.k));
        let ended_early = found.cut_off || found.cut_short;
        let mut paths = self.drop_late(found.paths.into()).paths;
        let cut_short = paths.len() < request.k && ended_early;
        if paths.is_empty() {
            let fastest = finder.by_latency(self.unknown).shortest_within(ingress, egress, hops.into());
            paths.extend(fastest.filter(|path| self.is_in_time(path)));
        }
        paths.truncate(request.k);
        PathSet { paths, cut_short, ..PathSet::default() }
    }

    /// The shortest of the widest paths in time. The more a link must have to spare, the longer the fastest path takes.
    fn widest(&self, finder: &PathFinder, ends: (DatapathId, DatapathId)) -> PathSet {
        let usable = self.graph.edges().filter(|edge| !finder.lengths.is_barred(*edge));
        let mut rates: Vec<_> = usable.map(|edge| self.rate(edge)).filter(|rate| rate.0 > 0).collect();
        rates.sort_unstable();
        rates.dedup();
        let of_rate = |least: BitsPerSec| finder.restricted(|edge| self.rate(edge) >= least);
        let in_time = rates.partition_point(|least| self.fastest(&of_rate(*least), ends).is_some());
        let widest = in_time.checked_sub(1).and_then(|last| rates.get(last));
        let finder = widest.and_then(|least| self.without_late_links(&of_rate(*least), ends));
        finder.map(|mut finder| self.first_in_time(&mut finder, ends, 1, false)).unwrap_or_default()
    }

    /// What remains in time of the greatest flow.
    fn max_flow(
        &self,
        finder: &mut PathFinder,
        ends: (DatapathId, DatapathId),
        request: &Request,
    ) -> PathSet {
        let every = Request { k: looked_at(request.k), ..request.clone() };
        let PathSet { mut paths, flow, .. } = self.drop_late(solve_any(finder, ends, &every));
        let mut flow = flow.unwrap_or_default();
        if paths.is_empty() {
            paths.extend(self.fastest(&finder.restricted(|edge| self.rate(edge).0 > 0), ends));
            flow.rates = paths.iter().filter_map(|path| self.narrowest(path)).collect();
        }
        paths.truncate(request.k);
        flow.rates.truncate(request.k);
        PathSet { paths, flow: Some(flow), cut_short: false }
    }

    fn rate(&self, edge: EdgeIndex) -> BitsPerSec {
        self.graph.state(edge).available()
    }

    fn narrowest(&self, path: &Path) -> Option<BitsPerSec> {
        path.edges(&self.graph).flatten().map(|edge| self.rate(edge)).min()
    }

    fn drop_late(&self, set: PathSet) -> PathSet {
        let kept: Vec<_> = set.paths.iter().map(|path| self.is_in_time(path)).collect();
        let late = kept.contains(&false);
        let flow = set.flow.map(|flow| Flow { rates: keep(flow.rates, &kept), late, ..flow });
        PathSet { paths: keep(set.paths, &kept), flow, ..set }
    }
}

fn keep<T>(items: Vec<T>, kept: &[bool]) -> Vec<T> {
    items.into_iter().zip(kept).filter(|(_, kept)| **kept).map(|(item, _)| item).collect()
}
