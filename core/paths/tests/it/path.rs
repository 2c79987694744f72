//! Paths: their switches, links, reversal and text.

use crate::network::{both_ways, dpid, finder};
use braid_paths::Path;

#[test]
fn reversed_follows_the_same_links_back() {
    let links = both_ways(&[(1, 2), (2, 3), (1, 2)]);
    let path = finder(&links).shortest(dpid(1), dpid(3)).unwrap();

    let back = path.reversed();
    assert_eq!((back.ingress(), back.egress(), back.hops()), (dpid(3), dpid(1), 2));
    assert!(
        path.links().iter().zip(back.links().iter().rev()).all(|(forth, back)| forth.is_reverse_of(back))
    );
    assert!(back.is_reverse_of(&path) && !path.is_reverse_of(&path));
    assert_eq!(back.reversed(), path);
}

#[test]
fn links_make_a_path_if_each_begins_where_the_last_one_ended_and_no_switch_occurs_twice() {
    let links = both_ways(&[(1, 2), (2, 3), (3, 1)]);
    let path = finder(&links).shortest(dpid(1), dpid(3)).unwrap();
    assert_eq!(Path::over(path.links()), Some(path));
    let [one, two, three] = [(1, 2), (2, 3), (3, 1)]
        .map(|(a, b)| *finder(&links).shortest(dpid(a), dpid(b)).unwrap().links().first().unwrap());
    assert_eq!(Path::over(&[one, two]).map(|path| path.egress()), Some(dpid(3)));
    for broken in [&[][..], &[two, one], &[one, three], &[one, two, three]] {
        assert_eq!(Path::over(broken), None);
    }
}

#[test]
fn a_path_within_a_switch_has_two_equal_ends() {
    let path = Path::within(dpid(7));
    assert_eq!((path.ingress(), path.egress(), path.hops()), (dpid(7), dpid(7), 0));
    assert_eq!(path.reversed(), path);
    assert_eq!(path.shared_links(&path), 0);
}

#[test]
fn a_link_is_shared_in_either_direction_and_apart_from_parallel_ones() {
    let links = both_ways(&[(1, 2), (2, 3), (1, 2)]);
    let mut finder = finder(&links);
    let [long, short, back] =
        [(1, 3), (1, 2), (2, 1)].map(|(a, b)| finder.shortest(dpid(a), dpid(b)).unwrap());
    assert_eq!((long.shared_links(&short), short.shared_links(&long)), (1, 1));
    assert_eq!(long.shared_links(&back), 1);
    let parallel = &finder.edge_disjoint(dpid(1), dpid(2), 2)[1];
    assert_eq!(long.shared_links(parallel), 0);
}

#[test]
fn text_names_each_switch_and_the_ports_between() {
    let path = finder(&both_ways(&[(1, 2), (2, 3)])).shortest(dpid(1), dpid(3)).unwrap();
    assert_eq!(
        path.to_string(),
        "0000000000000001 [2001-3001] 0000000000000002 [4001-5001] 0000000000000003"
    );
}
