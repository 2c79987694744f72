//! Dispatch of a path request to the algorithm of its kind.

use braid_topology::EdgeIndex;
use braid_types::DatapathId;

use crate::in_time::solve_in_time;
use crate::path_set::Flow;
use crate::{Constraints, Kind, PathFinder, PathSet, Request};

/// Answers a request with a finder made of its [`Terms`](crate::Terms).
///
/// # Returns
/// At most `k` paths, in the order of the algorithm; none when a switch is unknown or barred, or no path is left.
///
/// The paths of [`Kind::KShortest`] and [`Kind::WithinHops`] are those that the finder's
/// [budget](PathFinder::with_budget) allows to find. With a greatest latency, paths that are late are passed over by
/// [`Kind::Shortest`], [`Kind::KShortest`] and
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

/// The answer when no path can be late.
pub(crate) fn solve_any(
    finder: &mut PathFinder,
    (ingress, egress): (DatapathId, DatapathId),
    request: &Request,
) -> PathSet {
    let k = request.k;
    let graph = finder.graph().clone();
    let rate = |edge: EdgeIndex| graph.state(edge).available();
    match request.kind {
        Kind::Shortest => finder.all_shortest(ingress, egress, k).into(),
        Kind::KShortest => {
            let mut all = finder.first(ingress, egress, k);
            let paths = all.by_ref().collect();
            PathSet { paths, cut_short: all.is_cut_short(), ..PathSet::default() }
        }
        Kind::EdgeDisjoint => finder.edge_disjoint(ingress, egress, k).into(),
        Kind::NodeDisjoint => finder.node_disjoint(ingress, egress, k).into(),
        Kind::WithinHops(hops) => {
            let found = finder.within_hops(ingress, egress, hops as usize, k);
            PathSet { paths: found.paths, cut_short: found.cut_short, ..PathSet::default() }
        }
        Kind::Widest => {
            let widest = finder.widest(ingress, egress, rate).map(|(path, _)| path);
            widest.into_iter().collect::<Vec<_>>().into()
        }
        Kind::MaxFlow => {
            let flow = finder.max_flow(ingress, egress, k, rate);
            let (paths, rates) = flow.paths.into_iter().unzip();
            PathSet { paths, flow: Some(Flow { greatest: flow.rate, rates, late: false }), cut_short: false }
        }
    }
}
