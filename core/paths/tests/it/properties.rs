//! Each algorithm against exhaustive search on thousands of small networks.

use crate::network::{
    all_paths, best_disjoint, dpid, finder, is_path_of, length, networks, networks_and_uniform, share_link,
    total,
};
use braid_paths::Path;
use braid_topology::{Graph, Link};
use proptest::prelude::*;

const SWITCHES: std::ops::Range<usize> = 0..6;

/// Every path in the order in which they are to be found; none between switches that no link joins.
fn in_order(links: &[Link], from: usize, to: usize) -> Vec<Vec<Link>> {
    let known = Graph::from_links(links.iter().copied()).node(dpid(from)).is_some();
    let mut paths = if known { all_paths(links, from, to) } else { Vec::new() };
    paths.sort_by_cached_key(|path| (length(path), path.iter().map(|link| link.src).collect::<Vec<_>>()));
    paths
}

fn links_of(paths: impl IntoIterator<Item = Path>) -> Vec<Vec<Link>> {
    paths.into_iter().map(|path| path.links().to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn shortest_is_the_first_of_all_paths(
        (links, uniform) in networks_and_uniform(), from in SWITCHES, to in SWITCHES,
    ) {
        for links in [links, uniform] {
            let found = finder(&links).shortest(dpid(from), dpid(to));
            prop_assert_eq!(links_of(found), in_order(&links, from, to).into_iter().take(1).collect::<Vec<_>>());
        }
    }

    #[test]
    fn all_shortest_are_all_of_the_least_length(
        (links, uniform) in networks_and_uniform(), from in SWITCHES, to in SWITCHES, limit in 0..5_usize,
    ) {
        for links in [links, uniform] {
            let all = in_order(&links, from, to);
            let least = all.first().map(|path| length(path));
            let expected: Vec<_> = all.into_iter().filter(|path| Some(length(path)) == least).collect();
            prop_assert_eq!(links_of(finder(&links).all_shortest(dpid(from), dpid(to), usize::MAX)), expected.clone());
            let limited = finder(&links).all_shortest(dpid(from), dpid(to), limit);
            prop_assert_eq!(links_of(limited), &expected[..limit.min(expected.len())]);
        }
    }

    #[test]
    fn k_shortest_are_the_first_k_of_all_paths_in_their_order(
        (links, uniform) in networks_and_uniform(), from in SWITCHES, to in SWITCHES, k in 0..12_usize,
    ) {
        for links in [links, uniform] {
            let expected = in_order(&links, from, to);
            prop_assert_eq!(links_of(finder(&links).by_length(dpid(from), dpid(to))), expected.clone());
            let some = finder(&links).k_shortest(dpid(from), dpid(to), k);
            prop_assert_eq!(links_of(some), &expected[..k.min(expected.len())]);
        }
    }

    #[test]
    fn a_search_with_a_budget_finds_the_first_of_all_paths_or_all(
        links in networks(), from in SWITCHES, to in SWITCHES, budget in 0..400_u64,
    ) {
        let mut limited = finder(&links).with_budget(budget);
        let all: Vec<_> = finder(&links).by_length(dpid(from), dpid(to)).collect();
        let mut search = limited.by_length(dpid(from), dpid(to));
        let some: Vec<_> = search.by_ref().collect();
        prop_assert!(all.starts_with(&some) && search.next().is_none());
        prop_assert!(search.is_cut_short() || some == all);

        let all = finder(&links).within_hops(dpid(from), dpid(to), 4, 100);
        let some = limited.within_hops(dpid(from), dpid(to), 4, 100);
        prop_assert!(all.paths.starts_with(&some.paths) && !all.cut_short);
        prop_assert!(some.cut_short || some == all);
    }

    #[test]
    fn disjoint_paths_are_as_many_and_as_short_as_can_be(
        links in networks(), from in SWITCHES, to in SWITCHES, k in 0..5_usize,
    ) {
        prop_assume!(from != to);
        let found = finder(&links).edge_disjoint(dpid(from), dpid(to), k);
        prop_assert_eq!((found.len(), total(&found)), best_disjoint(&all_paths(&links, from, to), k));
    }

    #[test]
    fn disjoint_paths_are_paths_and_share_no_link(links in networks(), from in SWITCHES, to in SWITCHES) {
        let found = finder(&links).edge_disjoint(dpid(from), dpid(to), usize::MAX);
        for (index, path) in found.iter().enumerate() {
            prop_assert!(is_path_of(path, &links, from, to), "{path}");
            prop_assert!(found[..index].iter().all(|other| !share_link(path.links(), other.links())));
        }
        prop_assert!(found.is_sorted_by_key(|path| length(path.links())));
    }

    #[test]
    fn answers_depend_neither_on_earlier_questions_nor_on_the_order_of_links(links in networks()) {
        let turned: Vec<_> = links.iter().rev().copied().collect();
        let mut reused = finder(&links);
        for (from, to) in SWITCHES.flat_map(|from| SWITCHES.map(move |to| (dpid(from), dpid(to)))) {
            prop_assert_eq!(reused.edge_disjoint(from, to, 3), finder(&turned).edge_disjoint(from, to, 3));
            prop_assert_eq!(reused.shortest(from, to), finder(&turned).shortest(from, to));
            prop_assert_eq!(reused.k_shortest(from, to, 4), finder(&turned).k_shortest(from, to, 4));
        }
    }
}
