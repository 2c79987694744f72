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

use crate::network::{both_ways, dpid, networks, states};

const SWITCHES: std::ops::Range<usize> = 0..6;
const SMALL: Limits = Limits { terms: 2, links: 200, budget: PathFinder::DEFAULT_BUDGET };

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
    let weights = [Weight::HOPS, Weight::LATENCY, Weight { hops: 1, latency: 2, load: 1 }];
    let wide = Constraints { min_capacity: BitsPerSec(1), both_ways: true, ..Constraints::default() };
    let near = Constraints { max_latency: Some(Duration::from_micros(7)), ..Constraints::default() };
    let apart = Constraints { without_switches: [dpid(3)].into(), ..Constraints::default() };
    let terms = weights.into_iter().zip([wide, near, apart]).chain([(Weight::HOPS, Constraints::default())]);
    let terms: Vec<_> = terms.map(|(weight, constraints)| Terms { weight, constraints }).collect();
    let requests = terms.iter().flat_map(|terms| {
        Kind::all(3).flat_map(move |kind| [1, 3].map(|k| Request { kind, k, terms: terms.clone() }))
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
        Kind::MaxFlow => {
            let greatest = |set: &PathSet| set.flow.as_ref().map(|flow| flow.greatest);
            greatest(one) == greatest(other)
                && total_rate(one) == total_rate(other)
                && fits(finder, one)
                && totals(finder, &one.paths).is_some()
        }
        Kind::EdgeDisjoint | Kind::NodeDisjoint => totals(finder, &one.paths) == totals(finder, &other.paths),
        _ => one == other,
    }
}

fn rates(set: &PathSet) -> impl Iterator<Item = (&Path, u64)> {
    let rates = set.flow.iter().flat_map(|flow| &flow.rates);
    set.paths.iter().zip(rates).map(|(path, rate)| (path, rate.0))
}

fn total_rate(set: &PathSet) -> u128 {
    rates(set).map(|(_, rate)| u128::from(rate)).sum()
}

/// Whether no link carries more than it has to spare.
fn fits(finder: &PathFinder, set: &PathSet) -> bool {
    let mut carried: BTreeMap<Link, u64> = BTreeMap::new();
    for (path, rate) in rates(set) {
        path.links().iter().for_each(|link| *carried.entry(*link).or_default() += rate);
    }
    let graph = finder.graph();
    let spare = |link: &Link| graph.edge(link.src).map_or(0, |edge| graph.state(edge).available().0);
    carried.iter().all(|(link, rate)| *rate <= spare(link))
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
    let links = both_ways(&[(1, 2), (2, 3), (1, 4), (4, 3), (3, 5)]);
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
fn a_set_that_was_cut_short_is_found_anew_after_any_change() {
    let request = Request::new(Kind::KShortest, 4);
    let limits = Limits { budget: 5, ..Limits::default() };
    let mut service = PathService::with_limits(graph(&square()), limits);
    let mut ask = |links: &Known| {
        service.set_graph(graph(links));
        let set = service.paths(dpid(1), dpid(3), &request);
        assert_eq!(set, service.snapshot().paths(dpid(1), dpid(3), &request));
        set
    };
    let before = ask(&square());
    assert_eq!((before.paths.len(), before.cut_short), (1, true));
    assert!(Arc::ptr_eq(&before, &ask(&square())));
    assert!(!Arc::ptr_eq(&before, &ask(&without(square(), 3, 5))));
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
    let limits = Limits { terms: 1, links: 60, ..Limits::default() };
    let mut service = PathService::with_limits(graph(&square()), limits);
    let [hot, cold] = [(1, 3), (1, 5)].map(|(a, b)| service.paths(dpid(a), dpid(b), &request));
    for (from, to) in pairs() {
        service.paths(from, to, &request);
        assert!(Arc::ptr_eq(&hot, &service.paths(dpid(1), dpid(3), &request)));
    }
    assert!(!Arc::ptr_eq(&cold, &service.paths(dpid(1), dpid(5), &request)));
}

/// Links of these delays in microseconds.
fn delayed(links_of: &[(usize, usize, u64)]) -> Known {
    let pairs: Vec<_> = links_of.iter().map(|(a, b, _)| (*a, *b)).collect();
    let delays = links_of.iter().flat_map(|(.., micros)| [*micros; 2]);
    let state = |micros| LinkState {
        delay: Some(Duration::from_micros(micros)),
        ..LinkState::of_capacity(BitsPerSec(10))
    };
    both_ways(&pairs).into_iter().zip(delays.map(state)).collect()
}

#[test]
fn disjoint_paths_are_found_anew_when_a_path_appears_that_is_shorter_than_all_of_them_together() {
    // 1-2-3-4 is short, but of 1-2-4 and 1-3-4 it crosses both.
    let crossed = [(1, 2, 1), (2, 3, 1), (3, 4, 1), (2, 4, 4), (1, 3, 4)];
    let with = |micros| delayed(&[&crossed[..], &[(1, 4, micros)]].concat());
    let terms = Terms { weight: Weight::LATENCY, ..Terms::default() };
    for kind in [Kind::EdgeDisjoint, Kind::NodeDisjoint] {
        let request = Request { terms: terms.clone(), ..Request::new(kind, 2) };
        let mut service = PathService::new(graph(&delayed(&crossed)));
        let before = service.paths(dpid(1), dpid(4), &request);
        service.set_graph(graph(&with(11)));
        assert!(Arc::ptr_eq(&before, &service.paths(dpid(1), dpid(4), &request)), "{kind}");
        service.set_graph(graph(&with(6)));
        let after = service.paths(dpid(1), dpid(4), &request);
        let total = |set: &PathSet| totals(&terms.finder(&graph(&with(6))), &set.paths).unwrap().1;
        assert_eq!((total(&before), total(&after)), (10, 9), "{kind}");
    }
}

#[test]
fn where_paths_must_be_in_time_nothing_is_kept_after_a_change_elsewhere() {
    let near = Constraints { max_latency: Some(Duration::from_micros(5)), ..Constraints::default() };
    let any = Request::new(Kind::KShortest, 2);
    let limited = Request { terms: Terms { constraints: near, ..Terms::default() }, ..any.clone() };
    let network = |micros| graph(&delayed(&[(1, 2, 1), (3, 4, micros)]));
    let mut service = PathService::new(network(2));
    let before = [&any, &limited].map(|request| service.paths(dpid(1), dpid(2), request));
    let kept = |service: &mut PathService| {
        let now = [&any, &limited].map(|request| service.paths(dpid(1), dpid(2), request));
        [0, 1].map(|place| Arc::ptr_eq(&before[place], &now[place]))
    };
    service.set_graph(network(2));
    assert_eq!(kept(&mut service), [true, true], "the same network");
    service.set_graph(network(3));
    assert_eq!(kept(&mut service), [true, false], "a delay has changed");
}

#[test]
fn of_more_terms_than_there_is_room_for_the_last_ones_are_remembered() {
    let request =
        |weight| Request { terms: Terms { weight, ..Terms::default() }, ..Request::new(Kind::Shortest, 1) };
    let weights = [Weight::HOPS, Weight::LATENCY, Weight::LOAD].map(request);
    let mut service = PathService::with_limits(graph(&square()), Limits { terms: 2, ..Limits::default() });
    let mut ask = |place: usize| service.paths(dpid(1), dpid(3), &weights[place]);
    let (first, second) = (ask(0), ask(1));
    assert!(Arc::ptr_eq(&first, &ask(0)));
    ask(2);
    assert!(Arc::ptr_eq(&first, &ask(0)), "asked for after the second");
    assert!(!Arc::ptr_eq(&second, &ask(1)));
}

#[test]
fn a_set_that_is_too_large_to_remember_displaces_no_other() {
    let mut service =
        PathService::with_limits(graph(&square()), Limits { terms: 1, links: 20, ..Limits::default() });
    let request = Request::new(Kind::KShortest, 2);
    let mut ask = |from, to| service.paths(dpid(from), dpid(to), &request);
    let (small, large) = (ask(3, 5), ask(1, 5));
    assert!(!Arc::ptr_eq(&large, &ask(1, 5)));
    assert!(Arc::ptr_eq(&small, &ask(3, 5)));
}

#[test]
fn sets_that_a_change_outdates_leave_their_room_to_others() {
    // Room for three sets of one link, twice.
    let mut service =
        PathService::with_limits(graph(&square()), Limits { terms: 1, links: 36, ..Limits::default() });
    let request = Request::new(Kind::KShortest, 1);
    let ask = |service: &mut PathService, from, to| service.paths(dpid(from), dpid(to), &request);
    let first = ask(&mut service, 3, 5);
    for (from, to) in [(1, 2), (2, 1), (2, 3), (3, 2)] {
        ask(&mut service, from, to);
    }
    service.set_graph(graph(&without(without(square(), 2, 3), 3, 2)));
    for (from, to) in [(1, 4), (4, 1), (4, 3)] {
        ask(&mut service, from, to);
    }
    assert!(Arc::ptr_eq(&first, &ask(&mut service, 3, 5)));
}
