//! The path service: cached answers, and the cost of a link failure for those who ask afterwards.

#![expect(clippy::disallowed_methods, reason = "benchmarks take the time")]

mod support;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use braid_paths::{Kind, PathFinder, PathService, Request};
use braid_topology::{Blueprint, Graph, Link, LinkState};
use braid_types::DatapathId;
use criterion::{Criterion, criterion_group, criterion_main};
use support::{network, pairs};

const HOT: usize = 1_000;
const LARGE_HOT: usize = 10_000;

type Pairs = [(DatapathId, DatapathId)];

fn cached(criterion: &mut Criterion) {
    let network = network("fattree:8");
    let pairs = pairs(&network, HOT);
    let mut service = PathService::new(Arc::new(network.graph()));
    let request = Request::new(Kind::EdgeDisjoint, 8);
    ask(&mut service, &pairs, &request);
    let mut next = pairs.iter().cycle();
    criterion.bench_function("fattree-8/cached", |bench| {
        bench.iter(|| {
            let (from, to) = black_box(next.next().copied()).expect("a cycle does not end");
            service.paths(from, to, &request)
        });
    });
}

/// From the list of links to the last of the sets; and the same by a service that remembers nothing.
fn link_failure(criterion: &mut Criterion) {
    let network = network("fattree:16");
    let pairs = pairs(&network, HOT);
    let request = Request::new(Kind::EdgeDisjoint, 8);
    let left = without_one_link(&network.graph());

    let mut group = criterion.benchmark_group("fattree-16");
    group.sample_size(10);
    group.bench_function("1000-sets-after-a-failure", |bench| {
        bench.iter_custom(|rounds| {
            let mut service = PathService::new(Arc::new(network.graph()));
            (0..rounds).map(|_| after_failure(&mut service, &network, &left, &pairs, &request)).sum()
        });
    });
    group.bench_function("1000-sets-anew", |bench| {
        bench.iter(|| {
            ask(&mut PathService::new(Arc::new(Graph::new(0, [], left.iter().copied()))), &pairs, &request);
        });
    });
    group.finish();
}

/// The links of a graph except one in the middle of the list.
fn without_one_link(whole: &Graph) -> Vec<(Link, LinkState)> {
    let links: Vec<_> = whole.edges().map(|edge| (*whole.link(edge), *whole.state(edge))).collect();
    let failed = links[links.len() / 2].0;
    let is_left = |(link, _): &(Link, LinkState)| *link != failed && !link.is_reverse_of(&failed);
    links.iter().copied().filter(is_left).collect()
}

fn after_failure(
    service: &mut PathService,
    network: &Blueprint,
    left: &[(Link, LinkState)],
    pairs: &Pairs,
    request: &Request,
) -> Duration {
    service.set_graph(Arc::new(network.graph()));
    ask(service, pairs, request);
    let start = Instant::now();
    service.set_graph(Arc::new(Graph::new(0, [], left.iter().copied())));
    ask(service, pairs, request);
    start.elapsed()
}

fn ask(service: &mut PathService, pairs: &Pairs, request: &Request) {
    for (from, to) in pairs {
        black_box(service.paths(*from, *to, request));
    }
}

/// A network of 10,000 switches with 32 links each: one set, a new graph, and what a failed link costs those who ask again.
fn large(criterion: &mut Criterion) {
    let network = network("jellyfish:10000,33,10000");
    let pairs = pairs(&network, LARGE_HOT);
    let request = Request::new(Kind::EdgeDisjoint, 8);
    let left = without_one_link(&network.graph());
    let anew = || Arc::new(Graph::new(0, [], left.iter().copied()));

    let mut group = criterion.benchmark_group("jellyfish-10000");
    group.sample_size(10);
    group.bench_function("disjoint-8", |bench| {
        let mut finder = PathFinder::by_hops(Arc::new(network.graph()));
        let mut next = pairs.iter().cycle();
        bench.iter(|| {
            let (from, to) = black_box(next.next().copied()).expect("a cycle does not end");
            finder.edge_disjoint(from, to, 8)
        });
    });
    group.bench_function("graph", |bench| bench.iter(anew));
    group.bench_function("10000-sets-after-a-failure", |bench| {
        bench.iter_custom(|rounds| {
            let (whole, after) = (Arc::new(network.graph()), anew());
            let mut service = PathService::new(whole.clone());
            (0..rounds).map(|_| repair(&mut service, (&whole, &after), &pairs, &request)).sum()
        });
    });
    group.finish();
}

fn repair(
    service: &mut PathService,
    (whole, after): (&Arc<Graph>, &Arc<Graph>),
    pairs: &Pairs,
    request: &Request,
) -> Duration {
    service.set_graph(whole.clone());
    ask(service, pairs, request);
    let start = Instant::now();
    service.set_graph(after.clone());
    ask(service, pairs, request);
    start.elapsed()
}

criterion_group!(benches, cached, link_failure, large);
criterion_main!(benches);
