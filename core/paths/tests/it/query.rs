//! Queries as text: answers, warnings, reasons for missing paths, and refusals that name the parameter.

use std::sync::Arc;
use std::time::Duration;

use braid_paths::query::{NoPath, PathsView, Query, QueryError, SprayVerdict};
use braid_paths::{Kind, PathFinder, Weight, solve};
use braid_topology::blueprint::{Blueprint, NewSwitch};
use braid_topology::{Graph, LinkState};
use braid_types::{BitsPerSec, DatapathId};

/// Two parallel links a=b, then b-c; a-c is long and wide. `alone` has no link; a host is at a and c.
fn network() -> Blueprint {
    let state = |mbits: u64, millis: u64| LinkState {
        delay: Some(Duration::from_millis(millis)),
        ..LinkState::of_capacity(BitsPerSec(mbits * 1_000_000))
    };
    let mut builder = Blueprint::builder("test");
    let [a, b, c, _] =
        ["a", "b", "c--d", "alone"].map(|name| builder.switch(NewSwitch::named(name)).unwrap());
    builder.link(a, b, state(10, 1)).unwrap();
    builder.link(a, b, state(20, 2)).unwrap();
    builder.link(b, c, state(25, 3)).unwrap();
    builder.link(a, c, state(100, 50)).unwrap();
    builder.host("server", [c, a], state(1_000, 0)).unwrap();
    builder.build()
}

fn ask(query: &Query) -> Result<PathsView, QueryError> {
    let network = network();
    let graph: Arc<Graph> = Arc::new(network.graph());
    let resolved = query.resolve(&graph, &network)?;
    let [src, dst] = resolved.switches();
    let set = solve(&mut resolved.request.terms.finder(&graph), src, dst, &resolved.request);
    Ok(PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid)))
}

fn view(parameters: &[(&str, &str)]) -> PathsView {
    ask(&query(parameters).unwrap()).unwrap()
}

fn query(parameters: &[(&str, &str)]) -> Result<Query, QueryError> {
    let ends = [("src", "a"), ("dst", "c--d")];
    let rest = parameters.iter().copied();
    Query::from_parameters(ends.into_iter().chain(rest).map(|(name, value)| (name.into(), value.into())))
}

/// By path: hops, cost, delay in microseconds, rate in Mbit/s, shared links.
fn figures(view: &PathsView) -> Vec<(usize, u64, Option<f64>, u64, usize)> {
    let figures = |path: &braid_paths::query::PathView| {
        let mbits = path.rate_bps.unwrap() / 1_000_000;
        (path.hops, path.cost.unwrap(), path.delay_us, mbits, path.shared_links)
    };
    view.paths.iter().map(figures).collect()
}

#[test]
fn paths_are_told_with_cost_delay_rate_and_what_they_share() {
    let paths = view(&[("mode", "ksp"), ("weight", "latency")]);
    assert_eq!(
        figures(&paths),
        [
            (2, 4_000, Some(4_000.0), 10, 0),
            (2, 5_000, Some(5_000.0), 20, 1),
            (1, 50_000, Some(50_000.0), 100, 0)
        ]
    );
    assert_eq!(paths.paths[0].nodes, ["a", "b", "c--d"]);
    let parallel: Vec<_> = paths.paths[0].links.iter().map(|link| link.parallel).collect();
    assert_eq!(parallel, [true, false]);
    assert!(paths.warnings.is_empty() && paths.reason.is_none() && paths.max_flow_bps.is_none());
}

#[test]
fn a_search_that_was_ended_early_is_not_taken_for_complete() {
    let network = network();
    let graph: Arc<Graph> = Arc::new(network.graph());
    let resolved = query(&[("mode", "ksp")]).unwrap().resolve(&graph, &network).unwrap();
    let [src, dst] = resolved.switches();
    let view = |budget| {
        let mut finder = resolved.request.terms.finder(&graph).with_budget(budget);
        let set = solve(&mut finder, src, dst, &resolved.request);
        PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid))
    };
    let (some, all) = (view(5), view(PathFinder::DEFAULT_BUDGET));
    assert_eq!((all.paths.len(), all.complete, all.warnings.len()), (3, true, 0));
    assert_eq!((some.paths.len(), some.complete, some.truncated), (1, false, false));
    assert!(some.warnings[0].starts_with("the search was ended early"), "{:?}", some.warnings);
}

#[test]
fn rates_of_a_flow_are_the_shares_of_its_paths() {
    let paths = view(&[("mode", "maxflow")]);
    assert_eq!(paths.max_flow_bps, Some(125_000_000));
    let rates: Vec<_> = figures(&paths).into_iter().map(|path| path.3).collect();
    assert_eq!((rates.len(), rates[0], rates.iter().sum()), (3, 100, 125));
}

#[test]
fn what_is_not_to_be_used_is_a_switch_a_port_or_all_links_between_two() {
    let left = |without: &str| view(&[("mode", "ksp"), ("without", without)]).paths.len();
    assert_eq!(
        [left("alone"), left("b"), left("2"), left("a:1"), left("b:3"), left("a--b"), left("b--a")],
        [3, 1, 1, 2, 1, 1, 1]
    );
    assert_eq!(left("a--c--d"), 2);
    assert_eq!(view(&[("mode", "ksp"), ("without", "a:1"), ("without", "a--c--d")]).paths.len(), 1);
}

#[test]
fn the_reason_for_no_path_is_told() {
    let reason = |parameters: &[(&str, &str)]| {
        let paths = view(parameters);
        assert!(paths.paths.is_empty());
        paths.reason
    };
    assert_eq!(reason(&[("without", "a")]), Some(NoPath::Excluded));
    assert_eq!(reason(&[("min_capacity", "1Gbit")]), Some(NoPath::Excluded));
    assert_eq!(reason(&[("max_latency", "3.9ms")]), Some(NoPath::LatencyExceeded));
    assert_eq!(reason(&[("without", "a--c--d"), ("mode", "within:1")]), Some(NoPath::HopsExceeded));
    let alone = Query::new("a", "alone");
    assert_eq!(ask(&alone).unwrap().reason, Some(NoPath::Disconnected));
}

#[test]
fn full_links_are_the_reason_for_no_flow() {
    let mut builder = Blueprint::builder("full");
    let [a, b] = ["a", "b"].map(|name| builder.switch(NewSwitch::named(name)).unwrap());
    builder.link(a, b, LinkState::default()).unwrap();
    let network = builder.build();
    let graph = Arc::new(network.graph());
    for mode in [Kind::MaxFlow, Kind::Widest] {
        let query = Query { mode, ..Query::new("a", "b") };
        let resolved = query.resolve(&graph, &network).unwrap();
        let [src, dst] = resolved.switches();
        let set = solve(&mut resolved.request.terms.finder(&graph), src, dst, &resolved.request);
        let view = PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid));
        assert_eq!((view.paths.len(), view.reason), (0, Some(NoPath::NoCapacity)), "{mode}");
    }
}

#[test]
fn paths_of_known_delays_are_told_together_or_apart() {
    let together = |parameters: &[(&str, &str)]| view(parameters).spraying.unwrap();
    let apart = together(&[("mode", "ksp")]);
    assert_eq!((apart.verdict, apart.delay_difference_us), (SprayVerdict::Unsuitable, 46_000.0));
    assert_eq!(apart.best_paths, [0]);
    let close = together(&[("mode", "ksp"), ("without", "a--c--d")]);
    assert_eq!((close.verdict, close.best_paths), (SprayVerdict::InOrder, vec![0, 1]));
    assert_eq!(view(&[]).spraying, None);
}

#[test]
fn delays_are_told_and_compared_to_the_nanosecond() {
    let mut builder = Blueprint::builder("pair");
    let [a, b] = ["a", "b"].map(|name| builder.switch(NewSwitch::named(name)).unwrap());
    for nanos in [3_000, 3_800] {
        let delay = Some(Duration::from_nanos(nanos));
        builder.link(a, b, LinkState { delay, ..LinkState::of_capacity(BitsPerSec(1)) }).unwrap();
    }
    let network = builder.build();
    let graph = Arc::new(network.graph());
    let resolved = Query { mode: Kind::KShortest, ..Query::new("a", "b") }.resolve(&graph, &network).unwrap();
    let [src, dst] = resolved.switches();
    let set = solve(&mut resolved.request.terms.finder(&graph), src, dst, &resolved.request);
    let view = PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid));
    assert_eq!([0, 1].map(|place| view.paths[place].delay_us), [Some(3.0), Some(3.8)]);
    assert_eq!(view.spraying.unwrap().delay_difference_us, 0.8);
}

#[test]
fn a_host_stands_for_the_switch_of_its_first_interface() {
    let paths = ask(&Query::new("server", "b")).unwrap();
    let server = &paths.src;
    assert_eq!((&*server.name, &*server.node, server.dpid), ("server", "c--d", DatapathId(3)));
    assert_eq!(server.also_at, ["a"]);
    assert_eq!(paths.paths[0].nodes, ["c--d", "b"]);
}

#[test]
fn nothing_limits_what_stays_within_a_switch() {
    for mode in ["shortest", "maxflow"] {
        let paths = ask(&Query { mode: mode.parse().unwrap(), ..Query::new("b", "2") }).unwrap();
        assert_eq!((paths.paths[0].hops, paths.paths[0].rate_bps, paths.max_flow_bps), (0, None, None));
    }
}

#[test]
fn a_name_that_nothing_has_is_answered_with_one_that_is_like_it() {
    let error = ask(&Query::new("sever", "b")).unwrap_err();
    assert!(matches!(error, QueryError::NotFound { parameter: "src", .. }));
    assert!(error.to_string().contains("did you mean \"server\"?"), "{error}");
}

#[test]
fn what_cannot_be_left_out_is_refused_with_a_reason() {
    let reason = |without: &str| ask(&query(&[("without", without)]).unwrap()).unwrap_err().to_string();
    assert!(reason("server").contains("but a host"));
    assert!(reason("a:9").contains("no link"));
    assert!(reason("a--alone").contains("no link"));
    assert!(reason("a:x").contains("is no switch"));
    let many = vec!["a:1".to_owned(); Query::MAX_WITHOUT + 1];
    assert!(ask(&Query { without: many, ..Query::new("a", "b") }).is_err());
}

#[test]
fn parameters_read_and_print() {
    let every = [
        ("mode", "disjoint"),
        ("k", "7"),
        ("weight", "10*hops+latency"),
        ("without", "b"),
        ("without", "a:1"),
        ("min_capacity", "10Mbit"),
        ("max_latency", "1.5ms"),
    ];
    let query = query(&every).unwrap();
    assert_eq!((query.mode, query.k, query.without.len()), (Kind::EdgeDisjoint, 7, 2));
    assert_eq!(query.weight, Weight { hops: 10, ..Weight::LATENCY });
    let again = query.parameters().into_iter().map(|(name, value)| (name.to_owned(), value));
    assert_eq!(Query::from_parameters(again), Ok(query));
}

#[test]
fn the_parameter_that_is_wrong_is_named() {
    let cases = [
        ("mode", "teleport"),
        ("k", "0"),
        ("k", "4097"),
        ("k", "-1"),
        ("weight", "-1*hops"),
        ("min_capacity", "10 furlongs"),
        ("max_latency", "10"),
        ("src", "b"),
        ("colour", "blue"),
    ];
    for (name, value) in cases {
        let error = query(&[(name, value)]).and_then(|query| ask(&query)).unwrap_err();
        assert_eq!(error.parameter(), name, "{value}");
    }
    let one_end = [("src".to_owned(), "a".to_owned())];
    assert_eq!(Query::from_parameters(one_end).unwrap_err().parameter(), "dst");
}

#[test]
fn where_no_delay_is_known_latency_is_no_limit_and_no_cost() {
    let network = braid_topology::generate::fat_tree(4, Default::default()).unwrap();
    let graph = Arc::new(network.graph());
    let ask = |query: Query| {
        let resolved = query.resolve(&graph, &network)?;
        let [src, dst] = resolved.switches();
        let set = solve(&mut resolved.request.terms.finder(&graph), src, dst, &resolved.request);
        Ok::<_, QueryError>(PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid)))
    };
    let plain = Query::new("h1", "h16");
    let limited = ask(Query { max_latency: "1s".parse().ok(), ..plain.clone() }).unwrap_err();
    assert_eq!(limited.to_string(), "max_latency: no delay is known in this network; leave out max_latency");
    let costs = |weight: &str| {
        let view = ask(Query { weight: weight.parse().unwrap(), ..plain.clone() }).unwrap();
        (view.paths[0].cost, view.warnings.len())
    };
    assert_eq!(
        [costs("hops"), costs("latency"), costs("2*hops+latency")],
        [(Some(4), 0), (None, 1), (Some(8), 1)]
    );
}

#[test]
fn a_list_that_goes_on_says_so() {
    let told = |mode: &str, k: &str| {
        let view = view(&[("mode", mode), ("k", k)]);
        (view.paths.len(), view.k, view.truncated)
    };
    for mode in ["ksp", "within:2"] {
        assert_eq!([told(mode, "2"), told(mode, "3")], [(2, 2, true), (3, 3, false)], "{mode}");
    }
    let shortest = |k| {
        let view = ask(&Query { k, ..Query::new("a", "b") }).unwrap();
        (view.paths.len(), view.truncated)
    };
    assert_eq!([shortest(1), shortest(2)], [(1, true), (2, false)]);
    assert_eq!([told("disjoint", "1"), told("maxflow", "1")], [(1, 1, false); 2]);
}

#[test]
fn what_is_not_looked_at_and_where_a_host_is_as_well_are_warned_of() {
    let warnings = |parameters: &[(&str, &str)]| view(parameters).warnings;
    assert!(warnings(&[("mode", "maxflow")]).is_empty());
    let [vain] = warnings(&[("mode", "maxflow"), ("weight", "latency")]).try_into().unwrap();
    assert!(vain.contains("weight changes nothing"), "{vain}");
    let host = ask(&Query::new("server", "b")).unwrap();
    assert_eq!(host.warnings, ["server is attached to c--d and to a: these paths are those of c--d"]);
}

#[test]
fn a_flow_of_which_late_paths_were_left_out_has_no_greatest_rate() {
    let greatest = |latency| view(&[("mode", "maxflow"), ("max_latency", latency)]).max_flow_bps;
    assert_eq!(greatest("50ms"), Some(125_000_000));
    // The link that takes longest is on no path in time: what is left is known to be the greatest.
    assert_eq!(greatest("5ms"), Some(25_000_000));
    let mut builder = Blueprint::builder("stages");
    let [a, b, c] = ["a", "b", "c"].map(|name| builder.switch(NewSwitch::named(name)).unwrap());
    for (ends, millis) in [((a, b), 1), ((a, b), 10), ((b, c), 1), ((b, c), 10)] {
        let delay = Some(Duration::from_millis(millis));
        let state = LinkState { delay, ..LinkState::of_capacity(BitsPerSec(10 * millis)) };
        builder.link(ends.0, ends.1, state).unwrap();
    }
    let network = builder.build();
    let graph = Arc::new(network.graph());
    let parameters = [("src", "a"), ("dst", "c"), ("mode", "maxflow"), ("max_latency", "11ms")];
    let query = Query::from_parameters(parameters.map(|(name, value)| (name.into(), value.into()))).unwrap();
    let resolved = query.resolve(&graph, &network).unwrap();
    let [src, dst] = resolved.switches();
    let set = solve(&mut resolved.request.terms.finder(&graph), src, dst, &resolved.request);
    let view = PathsView::new(&graph, &resolved, &set, |dpid| network.name_of(dpid));
    assert_eq!((view.max_flow_bps, rates(&view)), (None, vec![10]));
}

fn rates(view: &PathsView) -> Vec<u64> {
    view.paths.iter().filter_map(|path| path.rate_bps).collect()
}

#[test]
fn a_reason_names_only_what_was_asked_for() {
    let why = |parameters: &[(&str, &str)]| view(parameters).explanation.unwrap();
    let (without, capacity) = (("without", "b"), ("min_capacity", "1Gbit"));
    assert_eq!(why(&[capacity]), "all that lead there have too little capacity");
    let all = [without, ("without", "a--c--d")];
    assert_eq!(why(&all), "all that lead there pass what is not to be used");
    assert_eq!(
        why(&[without, capacity]),
        "all that lead there pass what is not to be used, or have too little capacity"
    );
    assert_eq!(why(&[("without", "a")]), "a is where the paths begin, and is not to be used");
    assert_eq!(why(&[("without", "3")]), "c--d is where the paths end, and is not to be used");
}

#[test]
fn hops_are_a_whole_number() {
    for mode in ["within:", "within:x", "within:-1"] {
        let error = query(&[("mode", mode)]).unwrap_err().to_string();
        assert_eq!(error, "mode: HOPS is a whole number, such as within:4");
    }
}
