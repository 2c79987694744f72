//! Path sets in fabrics of the field, none of them cached: each call answers for the next of 256 pairs of switches.
//!
//! The pairs are drawn as `benches/compare` draws them, which measures other libraries on the same ones.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Arc;

use braid_paths::{Kind, PathFinder, Request, solve};
use braid_topology::Blueprint;
use braid_topology::generate::{Links, Spec};
use braid_types::DatapathId;
use criterion::{Criterion, criterion_group, criterion_main};

/// Name and [`Spec`]: a jellyfish has 8 or 16 links a switch, and two hosts.
const NETWORKS: [(&str, &str); 4] = [
    ("fattree-8", "fattree:8"),
    ("fattree-16", "fattree:16"),
    ("jellyfish-60", "jellyfish:60,10,120,1"),
    ("jellyfish-1000", "jellyfish:1000,18,2000,1"),
];
/// Name, kind of path set, and how many paths.
const QUESTIONS: [(&str, Kind, usize); 5] = [
    ("shortest", Kind::Shortest, 1),
    ("all-shortest-16", Kind::Shortest, 16),
    ("k-shortest-8", Kind::KShortest, 8),
    ("disjoint-8", Kind::EdgeDisjoint, 8),
    ("max-flow", Kind::MaxFlow, Request::MAX_PATHS),
];
const PAIRS: usize = 256;
const SEED: u64 = 1;

fn path_sets(criterion: &mut Criterion) {
    for (name, spec) in NETWORKS {
        let spec: Spec = spec.parse().expect("a spec");
        let network = spec.generate(Links::default()).expect("sizes that exist");
        let pairs = pairs(&network);
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

/// Pairs of different switches that have hosts.
fn pairs(network: &Blueprint) -> Vec<(DatapathId, DatapathId)> {
    let interfaces = network.hosts().iter().flat_map(|host| &host.interfaces);
    let edge: BTreeSet<_> = interfaces.map(|interface| network.port_at(interface.end).dpid).collect();
    let edge: Vec<_> = edge.into_iter().collect();
    let mut state = SEED;
    let mut below = |limit: usize| (split_mix(&mut state) % limit as u64) as usize;
    let mut pair = || {
        let from = below(edge.len());
        let to = (from + 1 + below(edge.len() - 1)) % edge.len();
        (edge[from], edge[to])
    };
    (0..PAIRS).map(|_| pair()).collect()
}

/// The next of a sequence of random numbers. Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, 2014.
const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

criterion_group!(benches, path_sets);
criterion_main!(benches);
