//! Assignments: their paths, owners and leases.

use std::time::Duration;

use braid_assign::{AssignError, AssignmentId, Assignments, Claim, Distribution, Limits, Owner};
use braid_paths::Path;
use braid_topology::Link;
use braid_types::{DatapathId, PortNo, SwitchPort, Time};

const MINUTE: Duration = Duration::from_secs(60);

fn owner(name: &str) -> Owner {
    name.parse().expect("a name")
}

fn claim(name: &str) -> Claim {
    let [src, dst] = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().expect("an address"));
    let (streams, distribution, model) = (None, Distribution::Weight, None);
    Claim { owner: owner(name), src, dst, paths: 2, streams, lease: MINUTE, distribution, model }
}

fn link(src: u64, dst: u64) -> Link {
    let port = |at: u64, to: u64| SwitchPort::new(DatapathId(at), PortNo(to as u32));
    Link { src: port(src, dst), dst: port(dst, src) }
}

fn paths() -> Vec<Path> {
    let over = |links: &[Link]| Path::over(links).expect("a path");
    vec![over(&[link(1, 9)]), over(&[link(1, 2), link(2, 9)])]
}

fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1_000)
}

#[test]
fn an_assignment_lasts_while_it_is_used() {
    let mut all = Assignments::new(Limits::default(), 1);
    let id = all.open(at(0), claim("alice"), paths()).expect("room").id;
    assert!(all.renew(at(59), id, Some(&owner("alice"))).is_ok());
    assert!(all.expire(at(118)).is_empty());
    assert_eq!(all.renew(at(119), id, Some(&owner("alice"))).err(), Some(AssignError::Unknown(id)));
    assert_eq!(all.expire(at(119)).len(), 1);
    assert!(all.is_empty());
}

#[test]
fn an_assignment_is_its_owners_alone() {
    let mut all = Assignments::new(Limits::default(), 1);
    let id = all.open(at(0), claim("alice"), paths()).expect("room").id;
    assert_eq!(all.renew(at(1), id, Some(&owner("bob"))).err(), Some(AssignError::Foreign(id)));
    assert_eq!(all.end(at(1), id, Some(&owner("bob"))).err(), Some(AssignError::Foreign(id)));
    assert!(all.renew(at(1), id, None).is_ok(), "who knows its name");
    assert!(all.end(at(1), id, Some(&owner("alice"))).is_ok());
    assert_eq!(all.end(at(1), id, Some(&owner("alice"))).err(), Some(AssignError::Unknown(id)));
}

#[test]
fn links_are_shared_among_owners_not_among_their_assignments() {
    let mut all = Assignments::new(Limits::default(), 1);
    let first = all.open(at(0), claim("alice"), paths()).expect("room").id;
    all.open(at(0), claim("alice"), paths()).expect("room");
    let shared = link(1, 9);
    assert_eq!(all.sharers(&shared, &owner("alice")), 1);
    assert_eq!(all.sharers(&shared, &owner("bob")), 2);
    let bobs = all.open(at(0), claim("bob"), paths()).expect("room").id;
    assert_eq!(all.sharers(&shared.reversed(), &owner("alice")), 2, "in both directions");
    all.end(at(1), first, Some(&owner("alice"))).expect("hers");
    assert_eq!(all.sharers(&shared, &owner("bob")), 2, "she has another one");
    all.end(at(1), bobs, Some(&owner("bob"))).expect("his");
    assert_eq!(all.sharers(&shared, &owner("alice")), 1);
}

#[test]
fn what_is_out_of_bounds_is_refused() {
    let limits = Limits { assignments: 3, per_owner: 2, paths: 4, lease: MINUTE };
    let mut all = Assignments::new(limits, 1);
    for paths in [0, 5, usize::MAX] {
        assert_eq!(all.check(&Claim { paths, ..claim("a") }), Err(AssignError::Paths(paths, 4)));
    }
    for lease in [Duration::ZERO, MINUTE * 2] {
        assert_eq!(all.check(&Claim { lease, ..claim("a") }), Err(AssignError::Lease(lease, MINUTE)));
    }
    assert_eq!(all.open(at(0), claim("a"), Vec::new()).err(), Some(AssignError::NoPath));
    for _ in 0..2 {
        all.open(at(0), claim("a"), paths()).expect("room");
    }
    assert_eq!(all.check(&claim("a")), Err(AssignError::OwnerFull(owner("a"), 2)));
    all.open(at(0), claim("b"), paths()).expect("room");
    assert_eq!(all.check(&claim("c")), Err(AssignError::Full(3)));
}

#[test]
fn names_do_not_follow_each_other() {
    let ids = |seed| {
        let mut all = Assignments::new(Limits::default(), seed);
        let mut one = || all.open(at(0), claim("alice"), paths()).expect("room").id;
        [one(), one(), one()]
    };
    let [AssignmentId(first), AssignmentId(second), AssignmentId(third)] = ids(7);
    assert_ne!(second.wrapping_sub(first), third.wrapping_sub(second));
    assert_eq!(ids(7), [first, second, third].map(AssignmentId), "the same seed, the same names");
    assert!(ids(8).iter().all(|id| !ids(7).contains(id)), "another controller's names are others");
}
