//! What a path says of itself.

use crate::network::{cables, dpid, finder, link, reverse};
use braid_paths::Path;
use braid_topology::Graph;
use braid_types::BitsPerSec;

#[test]
fn reversed_follows_the_same_cables_back() {
    let links = cables(&[(1, 2), (2, 3), (1, 2)]);
    let graph = Graph::from_links(links.clone());
    let path = finder(&links).shortest(dpid(1), dpid(3)).unwrap();

    let back = path.reversed(&graph).unwrap();
    assert_eq!((back.ingress(), back.egress(), back.hops()), (dpid(3), dpid(1), 2));
    assert!(
        path.links().iter().zip(back.links().iter().rev()).all(|(forth, back)| forth.is_reverse_of(back))
    );
    assert_eq!(back.reversed(&graph), Some(path));
}

#[test]
fn reversed_is_nothing_when_a_direction_is_missing() {
    let (one, two) = (link(1, 1, 2, 1), link(2, 2, 3, 1));
    let links = [one, reverse(one, 1), two];
    let path = finder(&links).shortest(dpid(1), dpid(3)).unwrap();
    assert_eq!(path.reversed(&Graph::from_links(links)), None);
}

#[test]
fn a_path_within_a_switch_has_two_equal_ends_and_no_capacity() {
    let path = Path::within(dpid(7));
    assert_eq!((path.ingress(), path.egress(), path.hops(), path.capacity()), (dpid(7), dpid(7), 0, None));
    assert_eq!(path.reversed(&Graph::from_links([])), Some(path.clone()));
    assert_eq!(path.shared_cables(&path), 0);
}

#[test]
fn capacity_is_that_of_the_narrowest_link() {
    let path = finder(&[link(1, 1, 2, 30), link(2, 2, 3, 10), link(3, 3, 4, 20)])
        .shortest(dpid(1), dpid(4))
        .unwrap();
    assert_eq!(path.capacity(), Some(BitsPerSec(10)));
}

#[test]
fn a_cable_is_shared_in_either_direction_and_apart_from_parallel_ones() {
    let links = cables(&[(1, 2), (2, 3), (1, 2)]);
    let mut finder = finder(&links);
    let [long, short, back] =
        [(1, 3), (1, 2), (2, 1)].map(|(a, b)| finder.shortest(dpid(a), dpid(b)).unwrap());
    assert_eq!((long.shared_cables(&short), short.shared_cables(&long)), (1, 1));
    assert_eq!(long.shared_cables(&back), 1);
    let parallel = &finder.edge_disjoint(dpid(1), dpid(2), 2)[1];
    assert_eq!(long.shared_cables(parallel), 0);
}

#[test]
fn text_names_each_switch_and_the_ports_between() {
    let path = finder(&cables(&[(1, 2), (2, 3)])).shortest(dpid(1), dpid(3)).unwrap();
    assert_eq!(path.to_string(), "0000000000000001 [2-3] 0000000000000002 [4-5] 0000000000000003");
}
