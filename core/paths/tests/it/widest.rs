//! The widest path against exhaustive search on small networks.

use std::cmp::Reverse;

use crate::network::{all_paths, both_ways, dpid, finder, length, networks, rate};
use braid_paths::Path;
use braid_topology::Link;
use braid_types::BitsPerSec;
use proptest::prelude::*;

const SWITCHES: std::ops::Range<usize> = 0..6;

fn widest(links: &[Link], from: usize, to: usize, rate: impl Fn(&Link) -> u64) -> Option<(Path, BitsPerSec)> {
    let mut finder = finder(links);
    let graph = finder.graph().clone();
    finder.widest(dpid(from), dpid(to), |edge| BitsPerSec(rate(graph.link(edge))))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_widest_path_is_the_shortest_of_the_widest(
        // With the divisor there are so few rates that many paths are equally wide.
        links in networks(), from in SWITCHES, to in SWITCHES, divisor in prop_oneof![Just(1), Just(8)],
    ) {
        prop_assume!(from != to);
        let rate = |link: &Link| rate(link) / divisor;
        let width = |path: &[Link]| path.iter().map(rate).min().unwrap_or(u64::MAX);
        let found = widest(&links, from, to, rate).map(|(path, rate)| (path.links().to_vec(), rate.0));
        let ports = |path: &[Link]| path.iter().map(|link| link.src).collect::<Vec<_>>();
        let rank = |path: &Vec<Link>| (Reverse(width(path)), length(path), ports(path));
        let best = all_paths(&links, from, to).into_iter().min_by_key(rank);
        let expected = best.map(|path| (path.clone(), width(&path))).filter(|(_, width)| *width > 0);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn where_all_links_are_as_wide_the_widest_path_is_the_shortest(
        links in networks(), from in SWITCHES, to in SWITCHES,
    ) {
        prop_assume!(from != to);
        let mut finder = finder(&links);
        let any = finder.widest(dpid(from), dpid(to), |_| BitsPerSec(u64::MAX));
        let shortest = finder.shortest(dpid(from), dpid(to));
        prop_assert_eq!(any, shortest.map(|path| (path, BitsPerSec(u64::MAX))));
    }
}

#[test]
fn within_one_switch_nothing_limits_the_rate() {
    let links = both_ways(&[(1, 2), (2, 1)]);
    assert_eq!(widest(&links, 1, 1, |_| 5), Some((Path::within(dpid(1)), BitsPerSec(u64::MAX))));
}

#[test]
fn no_widest_path_leads_over_full_links_or_to_unknown_or_separate_switches() {
    let links = both_ways(&[(1, 2), (3, 4)]);
    assert_eq!(widest(&links, 1, 2, |_| 0), None);
    for (from, to) in [(1, 4), (1, 9), (9, 1), (9, 9)] {
        assert_eq!(widest(&links, from, to, |_| 5), None);
    }
}
