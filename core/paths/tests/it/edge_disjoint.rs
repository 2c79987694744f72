//! Edge-disjoint paths where the answer is known by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::network::{both_ways, dpid, finder, link, share_link};
use braid_paths::{Path, PathFinder};
use braid_topology::generate::{Links, Spec};
use braid_topology::{Graph, Link};

fn hops(paths: &[Path]) -> Vec<usize> {
    paths.iter().map(Path::hops).collect()
}

/// 1-2-3-4 is the shortest path, and part of each of the two disjoint ones.
fn trap() -> Vec<Link> {
    both_ways(&[(1, 2), (2, 3), (3, 4), (2, 5), (5, 7), (7, 4), (1, 6), (6, 8), (8, 3)])
}

#[test]
fn two_paths_are_found_where_the_shortest_leaves_none() {
    let shortest = finder(&trap()).shortest(dpid(1), dpid(4)).unwrap();
    let graph = Arc::new(Graph::from_links(trap()));
    let others = |edge| (!share_link(&[*graph.link(edge)], shortest.links())).then_some(1);
    assert_eq!(PathFinder::new(graph.clone(), others).shortest(dpid(1), dpid(4)), None);

    let paths = finder(&trap()).edge_disjoint(dpid(1), dpid(4), 2);
    assert_eq!(hops(&paths), [4, 4]);
    assert!(!share_link(paths[0].links(), paths[1].links()));
}

#[test]
fn one_path_is_the_shortest_even_in_the_trap() {
    let mut finder = finder(&trap());
    let shortest = finder.shortest(dpid(1), dpid(4));
    assert_eq!(finder.edge_disjoint(dpid(1), dpid(4), 1), Vec::from_iter(shortest));
}

#[test]
fn parallel_links_are_paths_of_their_own() {
    let links = both_ways(&[(1, 2), (1, 2), (1, 2)]);
    assert_eq!(hops(&finder(&links).edge_disjoint(dpid(1), dpid(2), 9)), [1, 1, 1]);
    assert_eq!(hops(&finder(&links).edge_disjoint(dpid(1), dpid(2), 2)), [1, 1]);
}

#[test]
fn a_bottleneck_link_limits_the_number() {
    let links = both_ways(&[(1, 2), (1, 2), (2, 3), (3, 4), (3, 4)]);
    assert_eq!(hops(&finder(&links).edge_disjoint(dpid(1), dpid(4), 2)), [3]);
}

#[test]
fn one_way_links_can_be_given_up_again() {
    let pairs = [(1, 2), (2, 3), (3, 4), (2, 5), (5, 7), (7, 4), (1, 6), (6, 8), (8, 3)];
    let links: Vec<_> =
        pairs.into_iter().zip(1..).map(|((a, b), number)| link(number, a, b, [0, 0])).collect();
    assert_eq!(hops(&finder(&links).edge_disjoint(dpid(1), dpid(4), 2)), [4, 4]);
}

#[test]
fn separate_parts_are_not_joined_by_any_path() {
    let links = both_ways(&[(1, 2), (3, 4)]);
    assert_eq!(finder(&links).edge_disjoint(dpid(1), dpid(4), 2), []);
    assert_eq!(finder(&links).edge_disjoint(dpid(1), dpid(9), 2), []);
    assert_eq!(finder(&links).edge_disjoint(dpid(9), dpid(9), 2), []);
}

#[test]
fn no_paths_are_found_when_none_are_asked_for() {
    let links = both_ways(&[(1, 2)]);
    assert_eq!(finder(&links).edge_disjoint(dpid(1), dpid(2), 0), []);
    assert_eq!(finder(&links).edge_disjoint(dpid(1), dpid(1), 0), []);
}

#[test]
fn within_one_switch_there_is_one_path_without_links() {
    let links = both_ways(&[(1, 2), (2, 3), (3, 1)]);
    assert_eq!(finder(&links).edge_disjoint(dpid(1), dpid(1), 3), [Path::within(dpid(1))]);
}

#[test]
fn the_highest_costs_do_not_overflow() {
    let ring: Vec<_> = (0..500).map(|switch| (switch, (switch + 1) % 500)).collect();
    let graph = Arc::new(Graph::from_links(both_ways(&ring)));
    let paths = PathFinder::new(graph, |_| Some(u32::MAX)).edge_disjoint(dpid(0), dpid(200), 3);
    assert_eq!(hops(&paths), [200, 300]);
}

/// A FatTree with k = 8 has 16 core switches, and 4 disjoint paths between two pods pass 4 of them.
#[test]
fn sets_of_different_pairs_spread_over_a_fabric() {
    let blueprint = "fattree:8".parse::<Spec>().unwrap().generate(Links::default()).unwrap();
    let hosts = blueprint.hosts().iter().flat_map(|host| &host.interfaces);
    let mut edges: Vec<_> = hosts.map(|it| blueprint.port_at(it.end).dpid).collect();
    edges.dedup();
    let mut finder = PathFinder::by_hops(Arc::new(blueprint.graph()));
    let (mut all, mut first, mut down) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (from, to) in edges.iter().flat_map(|from| edges[28..].iter().map(move |to| (from, to))) {
        let paths = finder.edge_disjoint(*from, *to, 4);
        for path in paths.iter().filter(|path| path.hops() == 4) {
            *all.entry(path.links()[1].dst.dpid).or_insert(0) += 1;
            down.entry(path.links()[2]).or_insert_with(BTreeSet::new).insert(*to);
        }
        let cores = paths.first().filter(|path| path.hops() == 4).map(|path| path.links()[1].dst.dpid);
        cores.into_iter().for_each(|core| *first.entry(core).or_insert(0) += 1);
    }
    // 28 switches in other pods with 4 in the last one make 112 sets: 28 paths each, and 7 first ones.
    assert_eq!((all.len(), all.values().sum::<i32>(), first.len()), (16, 448, 16));
    assert!(all.values().all(|count| *count == 28), "{all:?}");
    // Wherever it comes from, what leads to one switch of the pod never meets, on its way down, what leads to another.
    assert!(down.len() == 16 && down.values().all(|ends| ends.len() == 1), "{down:?}");
    assert!(first.values().all(|count| (1..=16).contains(count)), "{first:?}");
}
