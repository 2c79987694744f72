//! The service through random changes of a network: what it remembers is what it would find anew.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use braid_paths::{
    Constraints, Kind, Limits, Path, PathFinder, PathService, PathSet, Request, Terms, Weight, solve,
};
use braid_topology::{Graph, Link, LinkState};
use braid_types::{BitsPerSec, DatapathId};
use proptest::prelude::*;

use crate::network::{cables, dpid, networks, states};

const SWITCHES: std::ops::Range<usize> = 0..6;
const SMALL: Limits = Limits { terms: 2, links: 200 };

type Known = BTreeMap<Link, LinkState>;

fn graph(links: &Known) -> Arc<Graph> {
    Arc::new(Graph::new(0, [], links.iter().map(|(link, state)| (*link, *state))))
}

/// Links by their place among all, which get another state or go.
type Step = Vec<(prop::sample::Index, Option<LinkState>)>;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let change = (any::<prop::sample::Index>(), prop::option::weighted(0.7, states()));
    prop::collection::vec(prop::collection::vec(change, 1..4), 1..6)
}

fn requests() -> Vec<Request> {
    let kinds = [
        Kind::Shortest,
        Kind::KShortest,
        Kind::EdgeDisjoint,
        Kind::NodeDisjoint,
        Kind::WithinHops(3),
        Kind::MaxFlow,
        Kind::Widest,
    ];
    let weights = [Weight::HOPS, Weight::LATENCY, Weight { hops: 1, latency: 2, load: 1 }];
    let wide = Constraints { min_capacity: BitsPerSec(1), both_ways: true, ..Constraints::default() };
    let near = Constraints { max_latency: Some(Duration::from_micros(7)), ..Constraints::default() };
    let apart = Constraints { without_switches: [dpid(3)].into(), ..Constraints::default() };
    let terms = weights.into_iter().zip([wide, near, apart]).chain([(Weight::HOPS, Constraints::default())]);
    let terms: Vec<_> = terms.map(|(weight, constraints)| Terms { weight, constraints }).collect();
    let requests = terms.iter().flat_map(|terms| {
        kinds.into_iter().flat_map(move |kind| [1, 3].map(|k| Request { kind, k, terms: terms.clone() }))
    });
    requests.collect()
}

fn totals(finder: &PathFinder, paths: &[Path]) -> Option<(usize, u64, usize)> {
    let cost = paths.iter().map(|path| finder.cost(path)).sum::<Option<u64>>()?;
    Some((paths.len(), cost, paths.iter().map(Path::hops).sum()))
}

/// Of several sets that are equally good any will do, except where the order of paths is defined.
fn is_as_good(finder: &PathFinder, kind: Kind, one: &PathSet, other: &PathSet) -> bool {
    match kind {
        Kind::Shortest | Kind::KShortest | Kind::WithinHops(_) | Kind::Widest => one == other,
        Kind::MaxFlow => {
            let greatest = |set: &PathSet| set.flow.as_ref().map(|flow| flow.greatest);
            greatest(one) == greatest(other) && totals(finder, &one.paths).is_some()
        }
        _ => totals(finder, &one.paths) == totals(finder, &other.paths),
    }
}

fn pairs() -> impl Iterator<Item = (DatapathId, DatapathId)> {
    SWITCHES.flat_map(|from| SWITCHES.map(move |to| (dpid(from), dpid(to))))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_remembered_is_as_good_as_what_is_found_anew(
        links in networks(), first in prop::collection::vec(states(), 24), steps in steps(), small in any::<bool>(),
    ) {
        let mut known: Known = links.iter().copied().zip(first).collect();
        let requests = requests();
        let limits = if small { SMALL } else { Limits::default() };
        let mut service = PathService::with_limits(graph(&known), limits);
        for step in [vec![]].into_iter().chain(steps) {
            for (place, state) in step.iter().filter(|_| !links.is_empty()) {
                match state {
                    Some(state) => drop(known.insert(*place.get(&links), *state)),
                    None => drop(known.remove(place.get(&links))),
                }
            }
            service.set_graph(graph(&known));
            for request in &requests {
                let mut finder = request.terms.finder(service.graph());
                for (from, to) in pairs() {
                    let remembered = service.paths(from, to, request);
                    let anew = solve(&mut finder, from, to, request);
                    prop_assert!(
                        is_as_good(&finder, request.kind, &remembered, &anew),
                        "{request:?} {from} {to}: {remembered:?} instead of {anew:?}"
                    );
                }
            }
        }
    }
}

/// A square with a tail: 1-2-3, 1-4-3, 3-5.
fn square() -> Known {
    let links = cables(&[(1, 2), (2, 3), (1, 4), (4, 3), (3, 5)]);
    links.into_iter().map(|link| (link, LinkState::of_capacity(BitsPerSec(10)))).collect()
}

fn without(mut links: Known, from: usize, to: usize) -> Known {
    links.retain(|link, _| (link.src.dpid, link.dst.dpid) != (dpid(from), dpid(to)));
    links
}

#[test]
fn only_sets_over_the_link_that_failed_are_found_anew() {
    for kind in [Kind::Shortest, Kind::KShortest, Kind::NodeDisjoint, Kind::WithinHops(4), Kind::MaxFlow] {
        let request = Request::new(kind, 4);
        let mut service = PathService::new(graph(&square()));
        let [there, tail] = [(1, 3), (3, 5)].map(|(a, b)| service.paths(dpid(a), dpid(b), &request));
        service.set_graph(graph(&without(square(), 1, 2)));
        assert!(Arc::ptr_eq(&tail, &service.paths(dpid(3), dpid(5), &request)), "{kind}");
        let after = service.paths(dpid(1), dpid(3), &request);
        assert_eq!((there.paths.len(), after.paths.len()), (2, 1), "{kind}");
    }
}

#[test]
fn a_link_that_returns_is_used_again() {
    let request = Request::new(Kind::EdgeDisjoint, 4);
    let mut service = PathService::new(graph(&without(square(), 1, 2)));
    assert_eq!(service.paths(dpid(1), dpid(3), &request).paths.len(), 1);
    let tail = service.paths(dpid(3), dpid(5), &request);
    service.set_graph(graph(&square()));
    assert_eq!(service.paths(dpid(1), dpid(3), &request).paths.len(), 2);
    assert!(Arc::ptr_eq(&tail, &service.paths(dpid(3), dpid(5), &request)));
}

#[test]
fn load_matters_only_where_it_is_asked_about() {
    let (hops, flow) = (Request::new(Kind::Shortest, 4), Request::new(Kind::MaxFlow, 4));
    let mut service = PathService::new(graph(&square()));
    let before = [&hops, &flow].map(|request| service.paths(dpid(1), dpid(3), request));
    let loaded = square().into_iter().map(|(link, state)| (link, LinkState { load: BitsPerSec(4), ..state }));
    service.set_graph(graph(&loaded.collect()));
    let after = [&hops, &flow].map(|request| service.paths(dpid(1), dpid(3), request));
    assert!(Arc::ptr_eq(&before[0], &after[0]));
    let greatest = |set: &PathSet| set.flow.as_ref().unwrap().greatest;
    assert_eq!((greatest(&before[1]), greatest(&after[1])), (BitsPerSec(20), BitsPerSec(12)));
}

#[test]
fn a_snapshot_stays_as_it_was() {
    let request = Request::new(Kind::EdgeDisjoint, 4);
    let mut service = PathService::new(graph(&square()));
    let known = service.paths(dpid(1), dpid(3), &request);
    let snapshot = service.snapshot();
    service.set_graph(graph(&Known::new()));
    assert_eq!(service.paths(dpid(1), dpid(3), &request).paths, []);
    assert!(Arc::ptr_eq(&known, &snapshot.paths(dpid(1), dpid(3), &request)));
    assert_eq!(snapshot.paths(dpid(2), dpid(4), &request).paths.len(), 2);
}

#[test]
fn what_was_not_asked_for_lately_is_forgotten_when_there_is_no_room() {
    let request = Request::new(Kind::KShortest, 2);
    let limits = Limits { terms: 1, links: 60 };
    let mut service = PathService::with_limits(graph(&square()), limits);
    let [hot, cold] = [(1, 3), (1, 5)].map(|(a, b)| service.paths(dpid(a), dpid(b), &request));
    for (from, to) in pairs() {
        service.paths(from, to, &request);
        assert!(Arc::ptr_eq(&hot, &service.paths(dpid(1), dpid(3), &request)));
    }
    assert!(!Arc::ptr_eq(&cold, &service.paths(dpid(1), dpid(5), &request)));
}
