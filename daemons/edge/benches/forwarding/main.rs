//! Forwarding benchmark: throughput, cost and added delay of two edges between two hosts over two unlimited paths.
//!
//! `cargo bench -p braid-edge --bench forwarding [-- SECONDS [PART...]]`, as root, with iperf3 and ethtool. Parts are
//! `super`, `hosts`, `full`, `delay`; all, if none is given.

mod controller;
mod delay;
mod testbed;
mod traffic;

use std::time::Duration;

use testbed::{Cut, Testbed};

/// How frames are to be on their way.
const KINDS: [(&str, &str, Cut); 3] = [
    ("gso", "GSO packets", Cut::Nowhere),
    ("hosts", "full frames from the hosts", Cut::Hosts),
    ("full", "full frames everywhere", Cut::Everywhere),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let seconds = words.first().and_then(|word| word.parse().ok()).unwrap_or(8);
    let parts: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| word.parse::<u64>().is_err()).collect();
    let wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    if !testbed::is_possible() {
        println!("skipped: needs root, ip, ethtool and iperf3");
        return;
    }
    let mut most = 1e9;
    for (part, name, cut) in KINDS {
        if wanted(part) {
            let rate = carry(name, cut, seconds);
            most = if cut == Cut::Nowhere { rate } else { most };
        }
    }
    if wanted("delay") {
        delay(most / 10.0, seconds);
    }
}

/// One TCP flow as fast as it goes; its rate in bits per second.
fn carry(name: &str, cut: Cut, seconds: u64) -> f64 {
    let testbed = Testbed::with_edges(cut);
    traffic::iperf(&testbed, 1, &[]);
    let before = testbed.cores();
    let result = traffic::iperf(&testbed, seconds, &[]);
    let used: Vec<_> = testbed.cores().iter().zip(&before).map(|(after, before)| *after - *before).collect();
    let gbits = result.bits_per_second * seconds as f64 / 1e9;
    let price: Vec<_> = used.iter().map(|used| format!("{:.3}", used.as_secs_f64() / gbits)).collect();
    let share: Vec<_> =
        used.iter().map(|used| format!("{:.0} %", used.as_secs_f64() / seconds as f64 * 100.0)).collect();
    println!(
        "{name}: {:.2} Gbit/s; core-seconds a Gbit at the edges {}, of a core {}; {} retransmissions",
        result.bits_per_second / 1e9,
        price.join(" and "),
        share.join(" and "),
        result.retransmits,
    );
    testbed.report();
    result.bits_per_second
}

/// The added delay of a flow's messages through both edges, compared with a cable, while other flows take `load`.
fn delay(load: f64, seconds: u64) {
    let rows = [("a cable", Testbed::with_a_cable()), ("edges", Testbed::with_edges(Cut::Nowhere))];
    let medians: Vec<[Duration; 2]> = rows
        .iter()
        .map(|(name, testbed)| {
            let background = traffic::background(testbed, seconds, load);
            let delays = delay::measure(testbed, seconds);
            drop(background);
            println!("delay by {name} at {:.2} Gbit/s: p50 {:?}, p99 {:?}", load / 1e9, delays[0], delays[1]);
            delays
        })
        .collect();
    if let [cable, edges] = medians.as_slice() {
        let added = |place: usize| edges[place].saturating_sub(cable[place]);
        println!("added by two edges: p50 {:?}, p99 {:?}", added(0), added(1));
    }
}
