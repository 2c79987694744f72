//! Queues of events against each other, as links use them: take the next one, enter it again a little later.
//!
//! `cargo bench -p braid-sim --bench event_queue`

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::hint::black_box;

use braid_sim::engine::{EventQueue, Picos};
use braid_types::SplitMix64;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// A frame of 1,514 bytes at 10 Gbit/s.
const FRAME: u64 = 1_211_200;

/// When a link is due again: mostly after a frame, sometimes after an acknowledgement or a pause.
fn later(random: &mut SplitMix64) -> u64 {
    match random.below(8) {
        0 | 1 => FRAME / 20,
        2 => FRAME * 10,
        _ => FRAME,
    }
}

fn hold<Q>(queue: &mut Q, things: u32, pop: impl Fn(&mut Q) -> (u32, u64), push: impl Fn(&mut Q, u32, u64)) {
    let mut random = SplitMix64::new(1);
    for _ in 0..things {
        let (thing, due) = pop(queue);
        push(queue, black_box(thing), due + later(&mut random));
    }
}

fn queues(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("take one, enter one");
    for things in [128_u32, 1_024, 16_384] {
        group.throughput(Throughput::Elements(things.into()));
        let name = |queue| BenchmarkId::new(queue, things);
        let starts = (0..things).map(|thing| (u64::from(thing) * FRAME / u64::from(things), thing));

        let mut queue = EventQueue::new(Picos(FRAME / u64::from(things)));
        queue.reserve(things as usize);
        starts.clone().for_each(|(due, thing)| queue.push(thing, Picos(due)));
        let pop =
            |queue: &mut EventQueue| queue.pop(Picos::NEVER).map(|(it, due)| (it, due.0)).unwrap_or_default();
        let push = |queue: &mut EventQueue, thing, due| queue.push(thing, Picos(due));
        group.bench_function(name("event_queue"), |bencher| {
            bencher.iter(|| hold(&mut queue, things, pop, push));
        });

        let mut heap: BinaryHeap<_> = starts.clone().map(Reverse).collect();
        let pop = |heap: &mut BinaryHeap<Reverse<(u64, u32)>>| {
            heap.pop().map(|it| (it.0.1, it.0.0)).unwrap_or_default()
        };
        let push = |heap: &mut BinaryHeap<_>, thing, due| heap.push(Reverse((due, thing)));
        group.bench_function(name("binary heap"), |bencher| {
            bencher.iter(|| hold(&mut heap, things, pop, push));
        });

        let mut tree: BTreeSet<_> = starts.clone().collect();
        let pop =
            |tree: &mut BTreeSet<(u64, u32)>| tree.pop_first().map(|it| (it.1, it.0)).unwrap_or_default();
        let push = |tree: &mut BTreeSet<_>, thing, due| _ = tree.insert((due, thing));
        group.bench_function(name("ordered tree"), |bencher| {
            bencher.iter(|| hold(&mut tree, things, pop, push));
        });

        let mut winners = Winners::new(things, starts);
        group.bench_function(name("tournament"), |bencher| {
            bencher.iter(|| hold(&mut winners, things, |it| it.first(), Winners::change));
        });
    }
    group.finish();
}

/// A tournament tree over a fixed set of things: entering one again is one walk from its leaf to the root.
struct Winners {
    nodes: Vec<(u64, u32)>,
    leaves: usize,
}

impl Winners {
    fn new(things: u32, starts: impl Iterator<Item = (u64, u32)>) -> Self {
        let leaves = (things as usize).next_power_of_two();
        let mut winners = Self { nodes: vec![(u64::MAX, 0); leaves * 2], leaves };
        starts.for_each(|(due, thing)| winners.change(thing, due));
        winners
    }

    fn first(&self) -> (u32, u64) {
        (self.nodes[1].1, self.nodes[1].0)
    }

    fn change(&mut self, thing: u32, due: u64) {
        let mut node = self.leaves + thing as usize;
        self.nodes[node] = (due, thing);
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[node * 2].min(self.nodes[node * 2 + 1]);
        }
    }
}

criterion_group!(benches, queues);
criterion_main!(benches);
