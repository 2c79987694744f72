//! Paths between edge switches in a FatTree of 8-port switches: 80 switches, 256 cables.

use std::hint::black_box;
use std::sync::Arc;

use braid_paths::{Path, PathFinder};
use braid_topology::{Graph, Link};
use braid_types::{DatapathId, PortNo, SwitchPort};
use criterion::{Criterion, criterion_group, criterion_main};

const K: u64 = 8;
const HALF: u64 = K / 2;

/// Switches 0..32 are edge, 32..64 aggregation, 64..80 core; four edge and four aggregation switches are a pod.
fn fat_tree() -> Graph {
    let pairs = (0..K * HALF).flat_map(|member| {
        let (pod, index) = (member / HALF, member % HALF);
        let up = move |other| ((member, HALF + other), (K * HALF + pod * HALF + other, index));
        let core =
            move |other| ((K * HALF + member, HALF + other), (2 * K * HALF + index * HALF + other, pod));
        (0..HALF).flat_map(move |other| [up(other), core(other)])
    });
    let end = |(switch, port): (u64, u64)| SwitchPort::new(DatapathId(switch), PortNo(port as u32 + 1));
    let directions = pairs.flat_map(|(a, b)| [(end(a), end(b)), (end(b), end(a))]);
    Graph::from_links(directions.map(|(src, dst)| Link { src, dst }))
}

fn paths(criterion: &mut Criterion) {
    let mut finder = PathFinder::by_hops(Arc::new(fat_tree()));
    let (from, same_pod, other_pod) = (DatapathId(0), DatapathId(1), DatapathId(31));
    assert_eq!(finder.edge_disjoint(from, other_pod, 8).iter().map(Path::hops).collect::<Vec<_>>(), [4; 4]);

    let mut group = criterion.benchmark_group("fat_tree_8");
    group.bench_function("shortest", |bench| bench.iter(|| finder.shortest(from, black_box(other_pod))));
    for (name, to) in [("same_pod", same_pod), ("other_pod", other_pod)] {
        group.bench_function(format!("edge_disjoint/{name}"), |bench| {
            bench.iter(|| finder.edge_disjoint(from, black_box(to), 4));
        });
    }
    group.finish();
}

criterion_group!(benches, paths);
criterion_main!(benches);
