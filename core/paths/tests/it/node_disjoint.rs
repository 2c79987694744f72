//! Paths that share no switch, against exhaustive search on small networks.

use std::sync::Arc;

use crate::network::{
    all_paths, best_set, both_ways, dpid, finder, is_path_of, length, link, networks, share_link,
    share_switch, total,
};
use braid_paths::{Path, PathFinder};
use braid_topology::Graph;
use proptest::prelude::*;

const SWITCHES: std::ops::Range<usize> = 0..6;

fn hops(paths: &[Path]) -> Vec<usize> {
    paths.iter().map(Path::hops).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn node_disjoint_paths_are_as_many_and_as_short_as_can_be(
        links in networks(), from in SWITCHES, to in SWITCHES, k in 0..5_usize,
    ) {
        prop_assume!(from != to);
        let found = finder(&links).node_disjoint(dpid(from), dpid(to), k);
        let best = best_set(&all_paths(&links, from, to), k, share_switch);
        prop_assert_eq!((found.len(), total(&found)), best);
    }

    #[test]
    fn node_disjoint_paths_are_paths_and_share_neither_switch_nor_link(
        links in networks(), from in SWITCHES, to in SWITCHES,
    ) {
        prop_assume!(from != to);
        let found = finder(&links).node_disjoint(dpid(from), dpid(to), usize::MAX);
        for (index, path) in found.iter().enumerate() {
            prop_assert!(is_path_of(path, &links, from, to), "{path}");
            let apart = |other: &Path| {
                !share_switch(path.links(), other.links()) && !share_link(path.links(), other.links())
            };
            prop_assert!(found[..index].iter().all(apart));
        }
        prop_assert!(found.is_sorted_by_key(|path| length(path.links())));
    }

    #[test]
    fn node_disjoint_paths_depend_neither_on_earlier_questions_nor_on_the_order_of_links(
        links in networks(), from in SWITCHES, to in SWITCHES,
    ) {
        let turned: Vec<_> = links.iter().rev().copied().collect();
        let mut reused = finder(&links);
        for (from, to) in SWITCHES.flat_map(|from| SWITCHES.map(move |to| (from, to))) {
            reused.node_disjoint(dpid(from), dpid(to), 3);
        }
        let [again, first] = [reused, finder(&turned)].map(|mut it| it.node_disjoint(dpid(from), dpid(to), 3));
        prop_assert_eq!(again, first);
    }
}

#[test]
fn two_paths_are_found_where_the_shortest_meets_every_other() {
    let links = both_ways(&[(1, 2), (2, 3), (3, 4), (2, 5), (5, 7), (7, 4), (1, 6), (6, 8), (8, 3)]);
    assert_eq!(hops(&finder(&links).node_disjoint(dpid(1), dpid(4), 1)), [3]);
    assert_eq!(hops(&finder(&links).node_disjoint(dpid(1), dpid(4), 2)), [4, 4]);
}

#[test]
fn a_switch_that_all_pass_leaves_one_path() {
    let links = both_ways(&[(1, 2), (1, 2), (2, 3), (2, 3)]);
    assert_eq!(hops(&finder(&links).edge_disjoint(dpid(1), dpid(3), 9)), [2, 2]);
    assert_eq!(hops(&finder(&links).node_disjoint(dpid(1), dpid(3), 9)), [2]);
}

#[test]
fn parallel_direct_links_are_paths_of_their_own() {
    let links = both_ways(&[(1, 2), (1, 2), (1, 3), (3, 2), (3, 2)]);
    assert_eq!(hops(&finder(&links).node_disjoint(dpid(1), dpid(2), 9)), [1, 1, 2]);
}

#[test]
fn an_earlier_path_leaves_switches_for_a_later_one() {
    // The cheapest path is 1-2-3-4-9; the only two apart are 1-2-6-9 and 1-5-4-9, so that switch 3 is given up.
    let ways = [(1, 2, 1), (2, 3, 1), (3, 4, 1), (4, 9, 1), (2, 6, 9), (6, 9, 9), (1, 5, 9), (5, 4, 9)];
    let links: Vec<_> =
        ways.into_iter().zip(1..).map(|((a, b, cost), number)| link(number, a, b, [cost, cost])).collect();
    assert_eq!(hops(&finder(&links).node_disjoint(dpid(1), dpid(9), 1)), [4]);
    assert_eq!(hops(&finder(&links).node_disjoint(dpid(1), dpid(9), 2)), [3, 3]);
}

#[test]
fn no_node_disjoint_paths_lead_to_unknown_or_separate_switches() {
    let links = both_ways(&[(1, 2), (3, 4)]);
    for (from, to) in [(1, 4), (1, 9), (9, 1), (9, 9)] {
        assert_eq!(finder(&links).node_disjoint(dpid(from), dpid(to), 2), []);
    }
    assert_eq!(finder(&links).node_disjoint(dpid(1), dpid(2), 0), []);
}

#[test]
fn the_highest_costs_do_not_overflow_in_node_disjoint_paths() {
    let ring: Vec<_> = (0..500).map(|switch| (switch, (switch + 1) % 500)).collect();
    let graph = Arc::new(Graph::from_links(both_ways(&ring)));
    let paths = PathFinder::new(graph, |_| Some(u32::MAX)).node_disjoint(dpid(0), dpid(200), 3);
    assert_eq!(hops(&paths), [200, 300]);
}

#[test]
fn within_one_switch_one_path_is_enough() {
    let links = both_ways(&[(1, 2), (2, 1)]);
    assert_eq!(finder(&links).node_disjoint(dpid(1), dpid(1), 3), [Path::within(dpid(1))]);
    assert_eq!(finder(&links).node_disjoint(dpid(1), dpid(1), 0), []);
}
