//! The cost and latency of watchers: a FatTree with k = 8 and 500 streams at a time.

use std::time::{Duration, Instant};

use crate::audience::{Asker, Watchers};
use crate::fat_tree;
use crate::process::Process;
use crate::report;
use braid_load::{Load, Network};

const STREAMS: usize = 500;
const WATCHERS: usize = 100;
const WINDOW: usize = 64;
/// Both directions of a connection.
const RULES: u64 = 2;
/// Some 2 s, so that each reports several states.
const CONNECTIONS: usize = 30_000;
const ROUNDS: usize = 4;

pub(crate) fn run(time: Duration) {
    let controller = Process::start("controller");
    let (mut network, hosts) = fat_tree::deploy(&controller);
    let mut requests = fat_tree::requests(&hosts);
    println!("FatTree, k = 8: 80 switches, 128 hosts, {STREAMS} streams at a time");
    let load =
        Load { window: WINDOW, time: Duration::from_secs(3), most: usize::MAX, streams: STREAMS, rate: None };
    let outcome = network.load(&mut requests, load).expect("a controller that answers");
    report::rate("new connections", &outcome, RULES, Duration::ZERO);
    let ceiling = outcome.packets as f64 / outcome.took.as_secs_f64();

    let (mut alone, mut watched) = (Vec::new(), Vec::new());
    let (index, first) = requests.iter_mut().next().expect("hosts at a switch");
    for _ in 0..ROUNDS {
        alone.extend(
            network.time(*index, first, (CONNECTIONS, RULES), STREAMS).expect("a controller that answers"),
        );
        let watchers = Watchers::start(controller.http, WATCHERS);
        pause(&mut network, Duration::from_millis(1_500));
        watched.extend(
            network.time(*index, first, (CONNECTIONS, RULES), STREAMS).expect("a controller that answers"),
        );
        println!("  {:30} {:10.1} MB", "read by watchers", watchers.stop() as f64 / 1e6);
    }
    report::latency("nobody watches", alone.clone());
    report::latency(&format!("{WATCHERS} watch"), watched.clone());
    report::quotient("against nobody watching", watched, alone);

    let asker = Asker::start(controller.http);
    let half = network
        .load(&mut requests, Load { time, rate: Some(ceiling / 2.0), ..load })
        .expect("a controller that answers");
    report::rate("at half of that", &half, RULES, Duration::ZERO);
    let mut all = Vec::new();
    for (path, times) in asker.stop() {
        all.extend_from_slice(&times);
        report::latency(&path, times);
    }
    report::latency("all of the API", all);
}

/// Plays the network for so long.
fn pause(network: &mut Network, time: Duration) {
    let start = Instant::now();
    network.serve_until(|_| start.elapsed() > time).expect("a controller that answers");
}
