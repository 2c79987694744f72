//! Many shortest paths, and long ones; in small networks they are compared with all paths in `properties`.

use crate::network::{both_ways, dpid, finder, link};
use braid_paths::Path;
use braid_topology::Link;
use proptest::prelude::*;

const SWITCHES: usize = 8;

/// A full mesh in which links cost from 0 on, by these random numbers.
fn mesh(costs: &[u32]) -> Vec<Link> {
    let pairs = (0..SWITCHES).flat_map(|a| (a + 1..SWITCHES).map(move |b| (a, b)));
    let links = pairs.zip(costs).enumerate();
    links
        .map(|(number, ((a, b), cost))| link(number + 1, a, b, [*cost, *cost / 2]))
        .collect::<Vec<_>>()
        .into_iter()
        .flat_map(|link| [link, link.reversed()])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn to_want_only_some_paths_changes_none_of_them(
        costs in prop::collection::vec(0..40_u32, SWITCHES * SWITCHES), k in 1..400_usize,
    ) {
        let links = mesh(&costs);
        let all: Vec<Path> = finder(&links).by_length(dpid(0), dpid(1)).take(k).collect();
        prop_assert_eq!(finder(&links).k_shortest(dpid(0), dpid(1), k), all);
    }
}

#[test]
fn each_of_many_parallel_links_makes_a_path_in_the_order_of_ports() {
    let links = both_ways(&[(1, 2); 300]);
    let paths = finder(&links).k_shortest(dpid(1), dpid(2), 999);
    assert_eq!(paths.len(), 300);
    assert!(paths.is_sorted_by_key(|path| path.links()[0].src));
}

#[test]
fn a_ladder_of_a_thousand_rungs_has_a_bypass_at_each() {
    let rungs = 1_000;
    let steps =
        (0..rungs).flat_map(|rung| [(rung, rung + 1), (rung, 5_000 + rung), (5_000 + rung, rung + 1)]);
    let links = both_ways(&steps.collect::<Vec<_>>());
    let hops = |k| finder(&links).k_shortest(dpid(0), dpid(rungs), k).last().map(Path::hops);
    assert_eq!([1, 2, 1_001, 1_002].map(hops), [1_000, 1_001, 1_001, 1_002].map(Some));
}
