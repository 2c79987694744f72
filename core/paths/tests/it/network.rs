//! Small random networks, and all their paths by exhaustive search.

use std::sync::Arc;
use std::time::Duration;

use braid_paths::{Path, PathFinder};
use braid_topology::{EdgeIndex, Graph, Link, LinkState};
use braid_types::{BitsPerSec, DatapathId, PortNo, SwitchPort};
use proptest::prelude::*;

/// The cost of a link that is barred.
pub(crate) const BARRED: u32 = 99;
/// A port's number is the number of its end of a link times this, and the cost of the link that leaves it.
const COSTS: u32 = 1_000;

pub(crate) fn dpid(switch: usize) -> DatapathId {
    DatapathId(switch as u64)
}

/// One direction of link number `number`, on ports of its own at both ends, with the costs of both directions.
pub(crate) fn link(number: usize, from: usize, to: usize, costs: [u32; 2]) -> Link {
    let end = |switch, end, cost| SwitchPort::new(dpid(switch), PortNo(end as u32 * COSTS + cost));
    Link { src: end(from, 2 * number, costs[0]), dst: end(to, 2 * number + 1, costs[1]) }
}

/// Links of cost 1 in both directions between these pairs of switches.
pub(crate) fn both_ways(pairs: &[(usize, usize)]) -> Vec<Link> {
    let forth = pairs.iter().enumerate().map(|(number, (a, b))| link(number + 1, *a, *b, [1, 1]));
    forth.flat_map(|link| [link, link.reversed()]).collect()
}

pub(crate) fn finder(links: &[Link]) -> PathFinder {
    let graph = Arc::new(Graph::from_links(links.iter().copied()));
    PathFinder::new(graph.clone(), |edge| cost(graph.link(edge)))
}

pub(crate) fn cost(link: &Link) -> Option<u32> {
    Some(link.src.port.0 % COSTS).filter(|cost| *cost != BARRED)
}

/// The rate of a link: the cost of its other direction, so that it depends on nothing else, and is 0 at times.
pub(crate) fn rate(link: &Link) -> u64 {
    (link.dst.port.0 % COSTS).into()
}

/// Cost and number of links, by which paths are compared.
pub(crate) fn length(links: &[Link]) -> (u32, usize) {
    (links.iter().filter_map(cost).sum(), links.len())
}

pub(crate) fn total(paths: &[Path]) -> (u32, usize) {
    let lengths = paths.iter().map(|path| length(path.links()));
    lengths.fold((0, 0), |sum, length| (sum.0 + length.0, sum.1 + length.1))
}

/// Whether a link is in both paths, in whatever direction.
pub(crate) fn share_link(a: &[Link], b: &[Link]) -> bool {
    a.iter().any(|one| b.iter().any(|other| one.touches(other.src)))
}

/// Whether two paths between the same ends meet before the last one.
pub(crate) fn share_switch(a: &[Link], b: &[Link]) -> bool {
    let passes = |path: &[Link], switch| path.iter().skip(1).any(|link| link.src.dpid == switch);
    a.iter().skip(1).any(|link| passes(b, link.src.dpid))
}

/// Networks of six switches and up to eleven links.
pub(crate) fn networks() -> impl Strategy<Value = Vec<Link>> {
    networks_of(6, 12)
}

/// Networks of so many switches and fewer than so many links: parallel ones, one-way ones, ones that return to their
/// own switch, with costs from 0 on that differ by direction, and barred directions.
pub(crate) fn networks_of(switches: usize, links: usize) -> impl Strategy<Value = Vec<Link>> {
    let cost = || prop_oneof![4 => 0..4_u32, 4 => 4..40_u32, 1 => Just(BARRED)];
    let drawn = (0..switches, 0..switches, cost(), prop::option::weighted(0.8, cost()));
    prop::collection::vec(drawn, 0..links).prop_map(|links| {
        let numbered = links.into_iter().zip(1..);
        let links = numbered.flat_map(|((from, to, forth, back), number)| {
            let link = link(number, from, to, [forth, back.unwrap_or(BARRED)]);
            std::iter::once(link).chain(back.map(|_| link.reversed()))
        });
        links.collect()
    })
}

/// The same network twice: with those costs, and with all the same.
pub(crate) fn networks_and_uniform() -> impl Strategy<Value = (Vec<Link>, Vec<Link>)> {
    networks().prop_map(|links| {
        let uniform = |cost| if cost == BARRED { BARRED } else { 7 };
        let end = |at: SwitchPort| {
            let number = PortNo(at.port.0 / COSTS * COSTS + uniform(at.port.0 % COSTS));
            SwitchPort::new(at.dpid, number)
        };
        let same = links.iter().map(|link| Link { src: end(link.src), dst: end(link.dst) }).collect();
        (links, same)
    })
}

/// Little capacity, and delays of some microseconds or none.
pub(crate) fn states() -> impl Strategy<Value = LinkState> {
    (0..4_u64, prop::option::of(0..6_u64), 0..3_u64).prop_map(|(capacity, delay, load)| LinkState {
        capacity: BitsPerSec(capacity),
        // No whole number of microseconds.
        delay: delay.map(|delay| Duration::from_nanos(delay * 950)),
        load: BitsPerSec(load),
        ..LinkState::default()
    })
}

/// Every path that visits no switch twice and uses no barred link.
pub(crate) fn all_paths(links: &[Link], from: usize, to: usize) -> Vec<Vec<Link>> {
    let mut found = Vec::new();
    extend(links, dpid(to), &mut vec![dpid(from)], &mut Vec::new(), &mut found);
    found
}

fn extend(
    links: &[Link],
    to: DatapathId,
    visited: &mut Vec<DatapathId>,
    path: &mut Vec<Link>,
    found: &mut Vec<Vec<Link>>,
) {
    let here = visited[visited.len() - 1];
    if here == to {
        found.push(path.clone());
        return;
    }
    for link in links.iter().filter(|link| link.src.dpid == here && cost(link).is_some()) {
        if !visited.contains(&link.dst.dpid) {
            visited.push(link.dst.dpid);
            path.push(*link);
            extend(links, to, visited, path, found);
            path.pop();
            visited.pop();
        }
    }
}

/// The most paths, `k` at most, that share no link, and the least total length of so many.
pub(crate) fn best_disjoint(paths: &[Vec<Link>], k: usize) -> (usize, (u32, usize)) {
    best_set(paths, k, share_link)
}

/// The most paths, `k` at most, of which no two share what they must not, and the least total length of so many.
pub(crate) fn best_set(
    paths: &[Vec<Link>],
    k: usize,
    share: fn(&[Link], &[Link]) -> bool,
) -> (usize, (u32, usize)) {
    let Some((first, rest)) = paths.split_first().filter(|_| k > 0) else { return (0, (0, 0)) };
    let without = best_set(rest, k, share);
    let apart: Vec<_> = rest.iter().filter(|path| !share(first, path)).cloned().collect();
    let (count, (cost, hops)) = best_set(&apart, k - 1, share);
    let (added_cost, added_hops) = length(first);
    let with = (count + 1, (cost + added_cost, hops + added_hops));
    let rank = |set: &(usize, (u32, usize))| (std::cmp::Reverse(set.0), set.1);
    std::cmp::min_by_key(without, with, rank)
}

/// Whether `path` leads from one switch to the other over links that exist and are not barred, past no switch twice.
pub(crate) fn is_path_of(path: &Path, links: &[Link], from: usize, to: usize) -> bool {
    let switches: Vec<_> = path.switches().collect();
    let joined = path.links().iter().zip(&switches).all(|(link, switch)| link.src.dpid == *switch);
    let mut distinct = switches.clone();
    distinct.sort();
    distinct.dedup();
    let known = path.links().iter().all(|link| links.contains(link) && cost(link).is_some());
    joined
        && known
        && distinct.len() == switches.len()
        && path.ingress() == dpid(from)
        && path.egress() == dpid(to)
}

/// The indices of a path's links in the finder's graph.
pub(crate) fn edges(finder: &PathFinder, path: &Path) -> Vec<EdgeIndex> {
    path.edges(finder.graph()).flatten().collect()
}
