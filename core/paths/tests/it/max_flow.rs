//! Maximum flows and their paths against all cuts of small networks.

use std::collections::BTreeMap;

use crate::network::{both_ways, cost, dpid, edges, finder, is_path_of, networks, networks_of, rate};
use braid_paths::{MaxFlow, Path};
use braid_topology::Link;
use braid_types::BitsPerSec;
use proptest::prelude::*;

const SWITCHES: std::ops::Range<usize> = 0..6;

fn flow(links: &[Link], from: usize, to: usize, k: usize, rate: impl Fn(&Link) -> u64) -> MaxFlow {
    let mut finder = finder(links);
    let graph = finder.graph().clone();
    finder.max_flow(dpid(from), dpid(to), k, |edge| BitsPerSec(rate(graph.link(edge))))
}

/// The least that the usable links carry out of any set of switches that has `from` in it and not `to`.
fn min_cut(links: &[Link], from: usize, to: usize, rate: impl Fn(&Link) -> u64) -> u128 {
    let holds = |set: u32, switch: u64| set & 1 << switch != 0;
    let sets = (0..1 << SWITCHES.end).filter(|set| holds(*set, from as u64) && !holds(*set, to as u64));
    let usable = || links.iter().filter(|link| cost(link).is_some());
    let leaves = |set, link: &&Link| holds(set, link.src.dpid.0) && !holds(set, link.dst.dpid.0);
    let cut = |set| usable().filter(|link| leaves(set, link)).map(|link| u128::from(rate(link))).sum();
    sets.map(cut).min().unwrap_or(0)
}

fn rates(flow: &MaxFlow) -> Vec<(usize, u64)> {
    flow.paths.iter().map(|(path, rate)| (path.hops(), rate.0)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_flow_is_the_minimum_cut(
        links in networks(), from in SWITCHES, to in SWITCHES,
        scale in prop_oneof![Just(1), Just(u64::MAX / 99), Just(u64::MAX / 40), Just(u64::MAX)],
    ) {
        prop_assume!(from != to);
        let rate = |link: &Link| rate(link).saturating_mul(scale);
        let flow = flow(&links, from, to, usize::MAX, rate);
        prop_assert_eq!(u128::from(flow.rate.0), min_cut(&links, from, to, rate).min(u64::MAX.into()));
        prop_assert_eq!(flow.rate, flow.carried());
    }

    #[test]
    fn the_paths_fit_into_the_links_together(links in networks(), from in SWITCHES, to in SWITCHES) {
        prop_assume!(from != to);
        let flow = flow(&links, from, to, usize::MAX, rate);
        let mut loads = BTreeMap::<Link, u64>::new();
        for (path, rate) in &flow.paths {
            prop_assert!(is_path_of(path, &links, from, to) && rate.0 > 0, "{path}");
            path.links().iter().for_each(|link| *loads.entry(*link).or_default() += rate.0);
        }
        prop_assert!(loads.iter().all(|(link, load)| *load <= rate(link)));
        prop_assert!(loads.keys().all(|link| !loads.contains_key(&link.reversed())));
        prop_assert!(flow.paths.len() <= links.len());
    }

    #[test]
    fn over_links_of_rate_one_the_flow_counts_edge_disjoint_paths(
        links in networks_of(9, 30), from in 0..9_usize, to in 0..9_usize,
    ) {
        prop_assume!(from != to);
        let flow = flow(&links, from, to, usize::MAX, |_| 1);
        let disjoint = finder(&links).edge_disjoint(dpid(from), dpid(to), usize::MAX);
        prop_assert_eq!((flow.rate.0 as usize, flow.paths.len()), (disjoint.len(), disjoint.len()));
    }

    #[test]
    fn the_widest_paths_come_first_and_are_what_a_limit_leaves(
        links in networks(), from in SWITCHES, to in SWITCHES, k in 0..3_usize,
    ) {
        let all = flow(&links, from, to, usize::MAX, rate);
        let rank = |(path, rate): &(Path, BitsPerSec)| {
            (std::cmp::Reverse(*rate), path.hops(), edges(&finder(&links), path))
        };
        prop_assert!(all.paths.is_sorted_by(|one, other| rank(one) < rank(other)));

        let some = flow(&links, from, to, k, rate);
        prop_assert_eq!(some.rate, all.rate);
        prop_assert_eq!(&some.paths, &all.paths[..k.min(all.paths.len())]);
    }

    #[test]
    fn flows_depend_neither_on_earlier_questions_nor_on_the_order_of_links(
        links in networks(), from in SWITCHES, to in SWITCHES,
    ) {
        let turned: Vec<_> = links.iter().rev().copied().collect();
        let mut reused = finder(&links);
        let graph = reused.graph().clone();
        let mut ask = |from, to| reused.max_flow(dpid(from), dpid(to), 9, |edge| BitsPerSec(rate(graph.link(edge))));
        for (from, to) in SWITCHES.flat_map(|from| SWITCHES.map(move |to| (from, to))) {
            ask(from, to);
        }
        prop_assert_eq!(ask(from, to), flow(&turned, from, to, 9, rate));
    }
}

#[test]
fn flow_that_went_the_short_way_is_taken_back() {
    // The short way 1-2-3-4 would block 1-2-5-4 and 1-6-3-4.
    let links = both_ways(&[(1, 2), (2, 3), (3, 4), (2, 5), (5, 7), (7, 4), (1, 6), (6, 8), (8, 3)]);
    assert_eq!(rates(&flow(&links, 1, 4, 9, |_| 10)), [(4, 10), (4, 10)]);
}

#[test]
fn a_bottleneck_is_shared_by_several_paths() {
    let links = both_ways(&[(1, 2), (1, 2), (1, 2), (2, 3)]);
    let rate = |link: &Link| if link.touches(links[6].src) { 25 } else { 10 };
    assert_eq!(rates(&flow(&links, 1, 3, 9, rate)), [(2, 10), (2, 10), (2, 5)]);
    let two = flow(&links, 1, 3, 2, rate);
    assert_eq!((two.rate, two.carried()), (BitsPerSec(25), BitsPerSec(20)));
}

#[test]
fn within_one_switch_nothing_limits_the_flow() {
    let links = both_ways(&[(1, 2), (2, 1)]);
    let unlimited = BitsPerSec(u64::MAX);
    let flow = |k| flow(&links, 1, 1, k, |_| 10);
    assert_eq!(flow(4), MaxFlow { rate: unlimited, paths: vec![(Path::within(dpid(1)), unlimited)] });
    assert_eq!(flow(0), MaxFlow { rate: unlimited, paths: vec![] });
}

#[test]
fn nothing_flows_to_unknown_or_separate_switches() {
    let links = both_ways(&[(1, 2), (3, 4)]);
    for (from, to) in [(1, 4), (1, 9), (9, 1), (9, 9)] {
        assert_eq!(flow(&links, from, to, 9, |_| 10), MaxFlow::default());
    }
}
