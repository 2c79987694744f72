//! All short paths against exhaustive search on small networks.

use crate::network::{all_paths, both_ways, dpid, finder, link, networks_of};
use braid_paths::{Path, WithinHops};
use braid_topology::Link;
use proptest::prelude::*;

const SWITCHES: std::ops::Range<usize> = 0..7;

fn hops(found: &WithinHops) -> Vec<usize> {
    found.paths.iter().map(Path::hops).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn all_short_paths_are_found_in_order(
        links in networks_of(SWITCHES.end, 14), from in SWITCHES, to in SWITCHES, max_hops in 0..8_usize,
        limit in prop_oneof![0..9_usize, Just(usize::MAX)],
    ) {
        prop_assume!(from != to);
        let mut expected = all_paths(&links, from, to);
        expected.retain(|path| path.len() <= max_hops);
        expected.sort_by_key(|path| (path.len(), path.iter().map(|link| link.src).collect::<Vec<_>>()));
        let cut_off = expected.len() > limit;
        expected.truncate(limit);

        let found = finder(&links).within_hops(dpid(from), dpid(to), max_hops, limit);
        let paths: Vec<_> = found.paths.iter().map(|path| path.links().to_vec()).collect();
        prop_assert_eq!((paths, found.cut_off), (expected, cut_off));
    }

    #[test]
    fn a_torus_that_leads_nowhere_changes_nothing(
        links in networks_of(SWITCHES.end, 14), from in SWITCHES, to in SWITCHES, at in SWITCHES,
        max_hops in prop_oneof![0..8_usize, Just(usize::MAX)], limit in prop_oneof![0..9_usize, Just(usize::MAX)],
    ) {
        let torus = torus_behind(at);
        let with_torus = [&links[..], &torus].concat();
        // So that both have the same switches.
        let with_link = [&links[..], &torus[torus.len() - 2..]].concat();
        let [few, many] = [with_link, with_torus]
            .map(|links| finder(&links).within_hops(dpid(from), dpid(to), max_hops, limit));
        prop_assert_eq!(few, many);
    }

    #[test]
    fn short_paths_depend_neither_on_earlier_questions_nor_on_the_order_of_links(
        links in networks_of(SWITCHES.end, 14), from in SWITCHES, to in SWITCHES,
    ) {
        let turned: Vec<_> = links.iter().rev().copied().collect();
        let mut reused = finder(&links);
        for (from, to) in SWITCHES.flat_map(|from| SWITCHES.map(move |to| (from, to))) {
            reused.within_hops(dpid(from), dpid(to), 5, 3);
        }
        let [again, first] = [reused, finder(&turned)].map(|mut it| it.within_hops(dpid(from), dpid(to), 5, 9));
        prop_assert_eq!(again, first);
    }
}

const SIDE: usize = 8;

/// A torus of so many switches a side, and at the end the link by which it hangs behind switch `at`.
fn torus_behind(at: usize) -> Vec<Link> {
    let id = |x, y| 100 + x % SIDE + y % SIDE * SIDE;
    let places = (0..SIDE).flat_map(|x| (0..SIDE).map(move |y| (x, y)));
    let pairs = places.flat_map(|(x, y)| [(id(x, y), id(x + 1, y)), (id(x, y), id(x, y + 1))]);
    let pairs: Vec<_> = pairs.chain([(at, id(0, 0))]).collect();
    // Ports beyond those of other links.
    let numbered = pairs.into_iter().zip(1_000..).map(|((a, b), number)| link(number, a, b, [1, 1]));
    numbered.flat_map(|link| [link, link.reversed()]).collect()
}

/// A full mesh of switches 10..30 behind switch 1, and some other links.
fn mesh_and(others: &[(usize, usize)]) -> Vec<Link> {
    let mesh = (10..30).flat_map(|a| (a + 1..30).map(move |b| (a, b)));
    both_ways(&mesh.chain([(1, 10)]).chain(others.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn a_mesh_that_leads_nowhere_is_not_searched_walk_by_walk() {
    let links = mesh_and(&[(1, 2), (2, 3)]);
    let found = finder(&links).within_hops(dpid(1), dpid(3), 25, 9);
    assert_eq!((hops(&found), found.cut_off), (vec![2], false));
}

#[test]
fn a_mesh_that_can_only_be_left_where_the_path_has_been_is_not_searched_either() {
    let links = mesh_and(&[(0, 1), (1, 2), (2, 3), (0, 3)]);
    let found = finder(&links).within_hops(dpid(0), dpid(3), usize::MAX, 9);
    assert_eq!((hops(&found), found.cut_off), (vec![1, 3], false));
}

#[test]
fn the_limit_says_whether_it_left_any_out() {
    let links = both_ways(&[(1, 2), (1, 2), (1, 3), (3, 2)]);
    let mut finder = finder(&links);
    let mut ask = |max_hops, limit| finder.within_hops(dpid(1), dpid(2), max_hops, limit);
    let cut_off = |found: &WithinHops| found.cut_off;
    assert_eq!(
        [(1, 1), (1, 2), (2, 2), (2, 3), (2, 0), (0, 0)].map(|(hops, limit)| cut_off(&ask(hops, limit))),
        [true, false, true, false, true, false]
    );
    assert_eq!(hops(&ask(9, 9)), [1, 1, 2]);
}

#[test]
fn within_one_switch_the_only_path_has_no_links() {
    let links = both_ways(&[(1, 2), (2, 1)]);
    let within = |limit| finder(&links).within_hops(dpid(1), dpid(1), 0, limit);
    assert_eq!(within(5), WithinHops { paths: vec![Path::within(dpid(1))], ..WithinHops::default() });
    assert_eq!(within(0), WithinHops { cut_off: true, ..WithinHops::default() });
}

#[test]
fn no_short_paths_lead_to_unknown_or_separate_switches() {
    let links = both_ways(&[(1, 2), (3, 4)]);
    for (from, to) in [(1, 4), (1, 9), (9, 1), (9, 9)] {
        assert_eq!(finder(&links).within_hops(dpid(from), dpid(to), 9, 9), WithinHops::default());
    }
}
