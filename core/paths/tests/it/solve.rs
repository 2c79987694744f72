//! Requests with constraints, against a search through all paths.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use braid_paths::{
    Constraints, Kind, Path, PathFinder, PathSet, Request, RequestError, Terms, Weight, latency, solve,
    unknown_delay,
};
use braid_topology::{Graph, Link, LinkState};
use braid_types::{BitsPerSec, SwitchPort};
use proptest::prelude::*;

use crate::network::{all_paths, both_ways, cost, dpid, networks, states};

const SWITCHES: std::ops::Range<usize> = 0..6;

fn known() -> impl Strategy<Value = BTreeMap<Link, LinkState>> {
    (networks(), prop::collection::vec(states(), 24)).prop_map(|(links, states)| {
        let usable = |link: &Link| cost(link).is_some() && link.src.dpid != link.dst.dpid;
        links.into_iter().filter(usable).zip(states).collect()
    })
}

fn graph(known: &BTreeMap<Link, LinkState>) -> Arc<Graph> {
    let switches = SWITCHES.map(dpid);
    Arc::new(Graph::new(0, switches, known.iter().map(|(link, state)| (*link, *state))))
}

fn constraints() -> impl Strategy<Value = Constraints> {
    let without =
        (prop::option::weighted(0.3, SWITCHES), prop::option::weighted(0.3, any::<prop::sample::Index>()));
    (without, 0..3_u64, prop::option::of(0..12_000_u64), any::<bool>()).prop_map(
        |((switch, port), capacity, late, both_ways)| Constraints {
            without_switches: switch.map(dpid).into_iter().collect(),
            without_ports: port.map(|port| port_of_link(port.index(24))).into_iter().collect(),
            min_capacity: BitsPerSec(capacity),
            max_latency: late.map(Duration::from_nanos),
            both_ways,
        },
    )
}

/// A port that may exist at some switch.
fn port_of_link(number: usize) -> SwitchPort {
    both_ways(&[(number % 6, 7)])[0].src
}

/// All paths that meet the constraints, in the order in which they are to be found.
fn allowed(known: &BTreeMap<Link, LinkState>, terms: &Terms, from: usize, to: usize) -> Vec<Vec<Link>> {
    let Constraints { without_ports, without_switches, min_capacity, max_latency, both_ways } =
        &terms.constraints;
    let unknown = known.values().filter_map(|state| state.delay).max().unwrap_or_default();
    let delay = |link: &Link| known[link].delay.unwrap_or(unknown);
    let weight = |link: &Link| u64::from(terms.weight.cost(&known[link], unknown));
    let ends = [dpid(from), dpid(to)];
    let is_allowed = |link: &Link| {
        !without_ports.iter().any(|port| link.touches(*port))
            && ![link.src, link.dst].iter().any(|end| without_switches.contains(&end.dpid))
            && known[link].capacity >= *min_capacity
            && (!both_ways || known.contains_key(&link.reversed()))
    };
    let links: Vec<_> = known.keys().copied().filter(is_allowed).collect();
    let mut paths = all_paths(&links, from, to);
    paths.retain(|path| max_latency.is_none_or(|max| path.iter().map(delay).sum::<Duration>() <= max));
    paths.retain(|_| !ends.iter().any(|end| without_switches.contains(end)));
    paths.sort_by_cached_key(|path| {
        let ports: Vec<_> = path.iter().map(|link| link.src).collect();
        (path.iter().map(weight).sum::<u64>(), path.len(), ports)
    });
    paths
}

/// What the narrowest link has to spare; without links there is no limit.
fn spare(known: &BTreeMap<Link, LinkState>, path: &[Link]) -> u64 {
    path.iter().map(|link| known[link].available().0).min().unwrap_or(u64::MAX)
}

fn links_of(set: PathSet) -> Vec<Vec<Link>> {
    set.paths.iter().map(|path| path.links().to_vec()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn shortest_paths_are_the_first_that_meet_the_constraints(
        known in known(), constraints in constraints(), by_latency in any::<bool>(), from in SWITCHES, to in SWITCHES,
    ) {
        let weight = if by_latency { Weight::LATENCY } else { Weight { hops: 1, latency: 0, load: 1 } };
        let terms = Terms { weight, constraints };
        let mut finder = terms.finder(&graph(&known));
        let expected = allowed(&known, &terms, from, to);
        let ask = |kind, k| Request { kind, k, terms: terms.clone() };
        let ksp = solve(&mut finder, dpid(from), dpid(to), &ask(Kind::KShortest, 1_000));
        prop_assert_eq!(links_of(ksp), expected.clone());

        let rank = |path: &[Link]| {
            let unknown = unknown_delay(finder.graph());
            (path.iter().map(|link| u64::from(weight.cost(&known[link], unknown))).sum::<u64>(), path.len())
        };
        let least = expected.first().map(|path| rank(path));
        let equal: Vec<_> = expected.iter().filter(|path| Some(rank(path)) == least).cloned().collect();
        let shortest = solve(&mut finder, dpid(from), dpid(to), &ask(Kind::Shortest, 1_000));
        prop_assert_eq!(links_of(shortest), equal);
    }

    #[test]
    fn every_kind_meets_the_constraints(
        known in known(), constraints in constraints(), from in SWITCHES, to in SWITCHES, k in 1..5_usize,
    ) {
        let terms = Terms { weight: Weight::HOPS, constraints };
        let mut finder = terms.finder(&graph(&known));
        let allowed = allowed(&known, &terms, from, to);
        for kind in Kind::all(3) {
            let set = solve(&mut finder, dpid(from), dpid(to), &Request { kind, k, terms: terms.clone() });
            prop_assert!(set.paths.len() <= k);
            prop_assert_eq!(set.flow.as_ref().map_or(set.paths.len(), |flow| flow.rates.len()), set.paths.len());
            let fits = |path: &&Vec<Link>| match kind {
                Kind::WithinHops(hops) => path.len() <= hops as usize,
                Kind::Widest | Kind::MaxFlow => path.is_empty() || spare(&known, path) > 0,
                _ => true,
            };
            let fitting: Vec<_> = allowed.iter().filter(fits).collect();
            prop_assert_eq!(set.paths.is_empty(), fitting.is_empty(), "{}", kind);
            if let (Kind::Widest, [path]) = (kind, &*set.paths) {
                let most = fitting.iter().map(|path| spare(&known, path)).max();
                prop_assert_eq!(Some(spare(&known, path.links())), most);
                let mut widest = fitting.iter().filter(|path| Some(spare(&known, path)) == most);
                prop_assert_eq!(widest.next().map(|path| path.as_slice()), Some(path.links()));
            }
            for path in &set.paths {
                prop_assert!(allowed.contains(&path.links().to_vec()), "{kind}: {path}");
            }
        }
    }
}

/// Two stages one after the other, each of `slow` links of 10 ms and a fast path of two links of 1 ms.
fn stages(slow: usize, rates: [u64; 2]) -> Arc<Graph> {
    let pairs: Vec<_> = [(0, 2), (2, 4)].into_iter().flat_map(|pair| vec![pair; slow]).collect();
    let fast = [(0, 1), (1, 2), (2, 3), (3, 4)];
    let links = both_ways(&[&pairs[..], &fast].concat());
    let state = |place: usize| {
        let is_slow = place < 4 * slow;
        let (millis, rate) = if is_slow { (10, rates[0]) } else { (1, rates[1]) };
        let delay = Some(Duration::from_millis(millis));
        LinkState { delay, ..LinkState::of_capacity(BitsPerSec(rate)) }
    };
    Arc::new(Graph::new(0, [], links.into_iter().enumerate().map(|(place, link)| (link, state(place)))))
}

fn latency_bounded(graph: &Arc<Graph>, kind: Kind, millis: u64) -> PathSet {
    let constraints =
        Constraints { max_latency: Some(Duration::from_millis(millis)), ..Constraints::default() };
    let request = Request { terms: Terms { constraints, ..Terms::default() }, ..Request::new(kind, 1) };
    solve(&mut request.terms.finder(graph), dpid(0), dpid(4), &request)
}

#[test]
fn where_all_that_is_better_is_late_the_fastest_path_is_found() {
    // More than 64 paths of two links are late, and each of those links is on a path in time.
    let graph = stages(9, [10, 1]);
    for kind in Kind::all(4) {
        let set = latency_bounded(&graph, kind, 15);
        assert_eq!(set.paths.len(), 1, "{kind}");
        assert!(latency(&set.paths[0], &graph, Duration::ZERO) <= Some(Duration::from_millis(15)), "{kind}");
        assert!(latency_bounded(&graph, kind, 3).paths.is_empty(), "{kind}");
    }
}

#[test]
fn the_fastest_path_within_a_hop_limit_is_found_where_the_fastest_of_all_is_longer() {
    let graph = stages(9, [10, 1]);
    let hops = |limit, millis| {
        latency_bounded(&graph, Kind::WithinHops(limit), millis).paths.first().map(Path::hops)
    };
    assert_eq!([hops(3, 15), hops(3, 11), hops(2, 15), hops(2, 20)], [Some(3), None, None, Some(2)]);
}

#[test]
fn delays_below_a_microsecond_count() {
    let links = both_ways(&[(0, 1), (1, 4), (0, 4)]);
    let state = |place: usize| {
        let nanos = if place < 4 { 1_900 } else { 3_000 };
        LinkState { delay: Some(Duration::from_nanos(nanos)), ..LinkState::of_capacity(BitsPerSec(1)) }
    };
    let graph = Graph::new(0, [], links.into_iter().enumerate().map(|(place, link)| (link, state(place))));
    let max_latency = Some(Duration::from_nanos(3_500));
    let terms =
        Terms { constraints: Constraints { max_latency, ..Constraints::default() }, ..Terms::default() };
    for kind in [Kind::EdgeDisjoint, Kind::NodeDisjoint, Kind::MaxFlow, Kind::Widest] {
        let request = Request { terms: terms.clone(), ..Request::new(kind, 2) };
        let set = solve(&mut terms.finder(&Arc::new(graph.clone())), dpid(0), dpid(4), &request);
        assert_eq!(set.paths.iter().map(Path::hops).collect::<Vec<_>>(), [1], "{kind}");
    }
}

#[test]
fn a_set_says_whether_the_search_for_it_went_to_its_end() {
    // Nine by nine slow paths, and the fast path of either stage: a hundred paths.
    let graph = stages(9, [10, 1]);
    for kind in [Kind::KShortest, Kind::WithinHops(4)] {
        let of = |budget| {
            let mut finder = Terms::default().finder(&graph).with_budget(budget);
            solve(&mut finder, dpid(0), dpid(4), &Request::new(kind, 200))
        };
        let (some, all) = (of(1_000), of(PathFinder::DEFAULT_BUDGET));
        assert_eq!((all.paths.len(), all.cut_short), (100, false), "{kind}");
        assert!(some.cut_short && all.paths.starts_with(&some.paths), "{kind}");
        assert!(!some.paths.is_empty(), "{kind}");
    }
}

#[test]
fn to_lose_patience_with_late_paths_is_to_end_the_search_early() {
    // Of two links each, 4 paths or 81 are late. The one in time comes after them.
    for (slow, cut_short) in [(2, false), (9, true)] {
        let set = latency_bounded(&stages(slow, [10, 1]), Kind::KShortest, 15);
        assert_eq!((set.paths.len(), set.cut_short), (1, cut_short));
    }
}

#[test]
fn the_widest_path_is_the_widest_of_those_in_time() {
    let hops =
        |millis| latency_bounded(&stages(1, [10, 1]), Kind::Widest, millis).paths.first().map(Path::hops);
    assert_eq!([20, 19, 12, 4, 3].map(hops), [Some(2), Some(3), Some(3), Some(4), None]);
}

#[test]
fn a_flow_of_which_late_paths_were_left_out_says_so() {
    let flow = |millis| latency_bounded(&stages(1, [10, 1]), Kind::MaxFlow, millis).flow.unwrap();
    let (all, some) = (flow(20), flow(12));
    assert_eq!((all.greatest, all.rates, all.late), (BitsPerSec(11), vec![BitsPerSec(10)], false));
    assert_eq!((some.rates, some.late), (vec![BitsPerSec(1)], true));
}

#[test]
fn latency_is_the_sum_of_delays_and_of_what_stands_for_unknown_ones() {
    let links = both_ways(&[(1, 2), (2, 3), (3, 4)]);
    let delays = [Some(3), None, Some(4)].map(|delay| delay.map(Duration::from_millis));
    let state = |delay| LinkState { delay, ..LinkState::default() };
    let known: BTreeMap<_, _> = links.iter().step_by(2).copied().zip(delays.map(state)).collect();
    let graph = graph(&known);
    assert_eq!(unknown_delay(&graph), Duration::from_millis(4));
    let path = Terms::default().finder(&graph).shortest(dpid(1), dpid(4)).unwrap();
    assert_eq!(latency(&path, &graph, Duration::from_millis(4)), Some(Duration::from_millis(11)));
    assert_eq!(latency(&path, &Graph::from_links([]), Duration::ZERO), None);
}

#[test]
fn no_path_and_too_many_are_refused() {
    let ask = |k| Request::new(Kind::KShortest, k).check();
    assert_eq!([ask(1), ask(Request::MAX_PATHS)], [Ok(()); 2]);
    assert_eq!(ask(0), Err(RequestError::NoPaths));
    assert_eq!(ask(usize::MAX), Err(RequestError::TooManyPaths(usize::MAX)));
}

#[test]
fn kinds_are_named_as_they_are_read() {
    for name in ["shortest", "ksp", "disjoint", "node-disjoint", "maxflow", "widest", "within:7"] {
        assert_eq!(name.parse::<Kind>().unwrap().to_string(), name);
    }
    for name in ["", "Shortest", "within:", "within:-1", "within:x", "dijkstra"] {
        assert!(name.parse::<Kind>().is_err(), "{name}");
    }
}
