use std::sync::Arc;
use std::time::Duration;

use braid_topology::{EdgeIndex, Graph};
use braid_types::{BitsPerSec, DatapathId};

use crate::path_set::Flow;
use crate::request::unknown_delay;
use crate::{Constraints, Kind, Path, PathFinder, PathSet, Request, Weight};

/// How many paths are looked at for each that is wanted, before the rest is taken to be late as well.
const PATIENCE: usize = 64;
/// How many are looked at in all, if not as many are wanted.
const MAX_LOOKED_AT: usize = 4_096;

/// How many paths to look at for `k` in time.
fn looked_at(k: usize) -> usize {
    k.saturating_mul(PATIENCE).min(MAX_LOOKED_AT.max(k))
}

/// Answers a request with a finder made of its [`Terms`](crate::Terms).
///
/// # Returns
/// At most `k` paths, in the order of the algorithm; none when a switch is unknown or barred, or no path is left.
///
/// With a greatest latency, paths that are late are passed over by [`Kind::Shortest`], [`Kind::KShortest`] and
/// [`Kind::WithinHops`], until `k` are found or 64 were looked at for each that is wanted, 4,096 in all. [`Kind::Widest`] is the widest
/// of the paths in time. The others leave late paths out of what they find where late links do not count: to find the
/// best set of paths of bounded length is NP-hard (Itai, Perl, Shiloach, 1982). Where that leaves none, the path of least
/// latency is the answer if it is in time.
pub fn solve(finder: &mut PathFinder, ingress: DatapathId, egress: DatapathId, request: &Request) -> PathSet {
    let Constraints { without_switches, max_latency, .. } = &request.terms.constraints;
    if [ingress, egress].iter().any(|end| without_switches.contains(end)) {
        return PathSet::default();
    }
    match max_latency {
        Some(limit) => solve_in_time(finder, (ingress, egress), request, *limit),
        None => solve_any(finder, (ingress, egress), request),
    }
}

fn solve_any(
    finder: &mut PathFinder,
    (ingress, egress): (DatapathId, DatapathId),
    request: &Request,
) -> PathSet {
    let k = request.k;
    let graph = finder.graph().clone();
    let rate = |edge: EdgeIndex| graph.state(edge).available();
    match request.kind {
        Kind::Shortest => finder.all_shortest(ingress, egress, k).into(),
        Kind::KShortest => finder.k_shortest(ingress, egress, k).into(),
        Kind::EdgeDisjoint => finder.edge_disjoint(ingress, egress, k).into(),
        Kind::NodeDisjoint => finder.node_disjoint(ingress, egress, k).into(),
        Kind::WithinHops(hops) => finder.within_hops(ingress, egress, hops as usize, k).paths.into(),
        Kind::Widest => {
            let widest = finder.widest(ingress, egress, rate).map(|(path, _)| path);
            widest.into_iter().collect::<Vec<_>>().into()
        }
        Kind::MaxFlow => {
            let flow = finder.max_flow(ingress, egress, k, rate);
            let (paths, rates) = flow.paths.into_iter().unzip();
            PathSet { paths, flow: Some(Flow { greatest: flow.rate, rates, late: false }) }
        }
    }
}

fn solve_in_time(
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
        Kind::Shortest => clock.first_in_time(&mut finder, ends, request.k, true).into(),
        Kind::KShortest => clock.first_in_time(&mut finder, ends, request.k, false).into(),
        Kind::WithinHops(hops) => clock.within_hops(&mut finder, ends, request, hops as usize).into(),
        Kind::Widest => clock.widest(&finder, ends).into(),
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
        let mut by_latency =
            finder.with_costs(|edge| Weight::LATENCY.cost(self.graph.state(edge), self.unknown));
        let ahead = by_latency.lengths_from(from).to_vec();
        let back = by_latency.lengths_to(to).to_vec();
        let in_time = |edge: EdgeIndex| {
            let [start, end] = [ahead[self.graph.tail(edge).index()], back[self.graph.head(edge).index()]];
            let length = start.checked_add(end)?.checked_add(by_latency.lengths.of(edge))?;
            Some(u128::from(by_latency.lengths.cost(length)) <= self.limit.as_micros())
        };
        Some(finder.restricted(|edge| in_time(edge).unwrap_or(false)))
    }

    /// The path of least latency, if it is in time.
    fn fastest(&self, finder: &PathFinder, (ingress, egress): (DatapathId, DatapathId)) -> Option<Path> {
        let mut by_latency =
            finder.with_costs(|edge| Weight::LATENCY.cost(self.graph.state(edge), self.unknown));
        by_latency.shortest(ingress, egress).filter(|path| self.is_in_time(path))
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
    ) -> Vec<Path> {
        let mut paths = Vec::new();
        let mut least = None;
        let mut all = finder.by_length(ingress, egress);
        for _ in 0..looked_at(k) {
            let Some(path) = all.next().filter(|_| paths.len() < k) else { break };
            if equal && least.is_some_and(|least| all.length() > least) {
                break;
            }
            if self.is_in_time(&path) {
                least = least.or(Some(all.length()));
                paths.push(path);
            }
        }
        self.or_fastest(&mut paths, finder, (ingress, egress));
        paths
    }

    fn within_hops(
        &self,
        finder: &mut PathFinder,
        ends: (DatapathId, DatapathId),
        request: &Request,
        hops: usize,
    ) -> Vec<Path> {
        let more = Request { k: looked_at(request.k), ..request.clone() };
        let mut paths = self.drop_late(solve_any(finder, ends, &more)).paths;
        self.or_fastest(&mut paths, finder, ends);
        paths.retain(|path| path.hops() <= hops);
        paths.truncate(request.k);
        paths
    }

    /// The shortest of the widest paths in time. The more a link must have to spare, the longer the fastest path takes.
    fn widest(&self, finder: &PathFinder, ends: (DatapathId, DatapathId)) -> Vec<Path> {
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
        let PathSet { mut paths, flow } = self.drop_late(solve_any(finder, ends, &every));
        let mut flow = flow.unwrap_or_default();
        if paths.is_empty() {
            paths.extend(self.fastest(&finder.restricted(|edge| self.rate(edge).0 > 0), ends));
            flow.rates = paths.iter().filter_map(|path| self.narrowest(path)).collect();
        }
        paths.truncate(request.k);
        flow.rates.truncate(request.k);
        PathSet { paths, flow: Some(flow) }
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
        PathSet { paths: keep(set.paths, &kept), flow }
    }
}

fn keep<T>(items: Vec<T>, kept: &[bool]) -> Vec<T> {
    items.into_iter().zip(kept).filter(|(_, kept)| **kept).map(|(item, _)| item).collect()
}

/// The delays of a path's links in sum; `unknown` stands for those that are not known. Nothing when `graph` lacks one
/// of its links.
pub fn latency(path: &Path, graph: &Graph, unknown: Duration) -> Option<Duration> {
    let delay = |edge: Option<EdgeIndex>| Some(graph.state(edge?).delay.unwrap_or(unknown));
    path.edges(graph).map(delay).try_fold(Duration::ZERO, |sum, delay| Some(sum.saturating_add(delay?)))
}
