//! Path sets in fabrics of the field, none of them cached: each call answers for the next of 256 pairs of switches.
//!
//! The pairs are drawn as `benches/compare` draws them, which measures other libraries on the same ones.

mod support;

use std::hint::black_box;
use std::sync::Arc;

use braid_paths::{Kind, PathFinder, Request, solve};
use criterion::{Criterion, criterion_group, criterion_main};
use support::{network, pairs};

/// Name and [`Spec`]: a jellyfish has 8 or 16 links a switch, and two hosts.
const NETWORKS: [(&str, &str); 4] = [
    ("fattree-8", "fattree:8"),
    ("fattree-16", "fattree:16"),
    ("jellyfish-60", "jellyfish:60,10,120,1"),
    ("jellyfish-1000", "jellyfish:1000,18,2000,1"),
];
/// Name, kind of path set, and how many paths.
const QUESTIONS: [(&str, Kind, usize); 9] = [
    ("shortest", Kind::Shortest, 1),
    ("all-shortest-16", Kind::Shortest, 16),
    ("all-shortest", Kind::Shortest, Request::MAX_PATHS),
    ("k-shortest-8", Kind::KShortest, 8),
    ("disjoint-8", Kind::EdgeDisjoint, 8),
    ("node-disjoint-8", Kind::NodeDisjoint, 8),
    ("within-6-hops-64", Kind::WithinHops(6), 64),
    ("widest", Kind::Widest, 1),
    ("max-flow", Kind::MaxFlow, Request::MAX_PATHS),
];
const PAIRS: usize = 256;

fn path_sets(criterion: &mut Criterion) {
    for (name, spec) in NETWORKS {
        let network = network(spec);
        let pairs = pairs(&network, PAIRS);
        let mut finder = PathFinder::by_hops(Arc::new(network.graph()));
        let mut group = criterion.benchmark_group(name);
        for (name, kind, k) in QUESTIONS {
            let request = Request::new(kind, k);
            let mut next = pairs.iter().cycle();
            group.bench_function(name, |bench| {
                bench.iter(|| {
                    let (from, to) = black_box(next.next().copied()).expect("a cycle does not end");
                    solve(&mut finder, from, to, &request)
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, path_sets);
criterion_main!(benches);
