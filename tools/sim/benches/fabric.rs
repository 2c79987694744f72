//! Events a second, in the network and with the traffic of docs/benchmarks.md: a FatTree with 128 hosts, each of which sends
//! to one and receives from one over four subflows, links of 10 Gbit/s, queues in both directions.
//!
//! `cargo bench -p braid-sim --bench fabric`

use std::time::{Duration, Instant};

use braid_link_model::QueueLimit;
use braid_sim::Control;
use braid_sim::engine::{Amount, NewConnection, Picos, Simulation};
use braid_sim::network::{LinkDefaults, Network};
use braid_sim::steering::Steering;
use braid_sim::traffic::Pattern;
use braid_topology::generate::{Links, Spec};
use braid_types::{BitsPerSec, SplitMix64, Time};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Slow start is over by then.
const WARM_UP: Picos = Picos::from_millis(20);
const SLICE: Picos = Picos::from_millis(1);

fn simulation(network: &str) -> Simulation {
    let spec: Spec = network.parse().expect("there is such a network");
    let delay = Duration::from_micros(10);
    let links = Links { capacity: BitsPerSec(10_000_000_000), delay: Some(delay) };
    let defaults = LinkDefaults { queue: QueueLimit::Packets(100), delay, hold_senders: true };
    let blueprint = spec.generate(links).expect("its sizes are possible");
    let network = Network::new(&blueprint, &defaults).expect("it can be simulated");
    let mut random = SplitMix64::new(1);
    let mut simulation = network.simulation(random.next_u64());
    let scheme = "disjoint:4/fewest-shared".parse().expect("there is such a scheme");
    let mut steering = Steering::new(scheme, &network, random.fork());
    let lia: Control = "lia".parse().expect("there is such a control");
    for pair in Pattern::Permutation.pairs(network.hosts().len(), &mut random) {
        let ways = steering.place(Time::ZERO, &network, pair, 4).ways;
        simulation.open(&NewConnection::mptcp(ways, Amount::Endless, lia));
    }
    simulation.run_until(WARM_UP);
    simulation
}

fn events(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("fabric, 1 ms of it");
    group.sample_size(20);
    for network in ["fattree:4", "fattree:8"] {
        let begun = simulation(network);
        let mut slice = begun.clone();
        slice.run_until(begun.now() + SLICE);
        group.throughput(Throughput::Elements(slice.events() - begun.events()));
        group.bench_function(network, |bencher| {
            bencher.iter_custom(|times| {
                let mut took = Duration::ZERO;
                for _ in 0..times {
                    let mut simulation = begun.clone();
                    let start = Instant::now();
                    simulation.run_until(begun.now() + SLICE);
                    took += start.elapsed();
                }
                took
            });
        });
    }
    group.finish();
}

criterion_group!(benches, events);
criterion_main!(benches);
