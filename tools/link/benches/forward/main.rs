//! Forwarding benchmark: throughput of a link on one core against a bare packet-socket forwarder, and precision of its delay.
//!
//! `cargo bench -p braid-link --bench forward` as root, on at least two cores: one for the sender, one for the link;
//! `-- rates` or `-- delays` for one part.

mod bare;
mod delay;
mod network;
mod rate;

use std::fmt;
use std::time::Duration;

use braid_link_model::{Delay, Parameters, QueueLimit};
use braid_types::BitsPerSec;
use rate::Rate;

/// Each forwarder has its turn so many times, since others use the machine, too.
const ROUNDS: usize = 5;

fn main() {
    if !nix::unistd::Uid::effective().is_root() {
        println!("skipped: packet sockets need root");
        return;
    }
    network::make();
    let asked: Vec<_> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let wanted = |part: &str| asked.is_empty() || asked.iter().any(|it| it == part);
    if wanted("rates") {
        rates();
    }
    if wanted("delays") {
        delays();
    }
}

fn rates() {
    let cable = Parameters::default();
    let far = Parameters { delay: Delay::from_millis(20), ..cable };
    let queue = QueueLimit::Packets(10_000);
    let full = Parameters {
        rate: Some(BitsPerSec(100_000_000_000)),
        jitter: Delay::from_millis(1),
        queue,
        loss: "0.01%".parse().expect("a share"),
        ..far
    };
    let names = ["bare TPACKET_V3", "link", "link, 20 ms", "link, 20 ms, rate, jitter, loss"];
    let mut rates = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        rates[0].push(rate::of(|stop| bare::forward("a1", "b1", stop)));
        for (rates, parameters) in rates[1..].iter_mut().zip([cable, far, full]) {
            rates.push(rate::of(|stop| network::link(parameters, stop)));
        }
    }
    println!(
        "frames of 1,500 bytes a second of one core, and by the clock; medians of {ROUNDS}, least to most"
    );
    let bare = Spread::of(&rates[0], |rate| rate.core).median;
    for (name, rates) in names.iter().zip(&rates) {
        let (core, clock) = (Spread::of(rates, |rate| rate.core), Spread::of(rates, |rate| rate.clock));
        println!("{name:32} {core}  {:.2} x bare; {clock}", core.median / bare);
    }
}

fn delays() {
    for millis in [1, 20, 100] {
        let parameters = Parameters { delay: Delay::from_millis(millis), ..Parameters::default() };
        let mut errors = delay::errors(parameters, Duration::from_millis(millis));
        errors.sort_unstable();
        let at = |share: f64| errors[((errors.len() - 1) as f64 * share) as usize];
        println!(
            "delay of {millis:>3} ms, {} frames, too late by: p1 {} p50 {} p99 {} most {} µs",
            errors.len(),
            at(0.01),
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}

/// The middle and the ends of what was measured.
struct Spread {
    median: f64,
    least: f64,
    most: f64,
}

impl Spread {
    fn of(rates: &[Rate], which: impl Fn(&Rate) -> f64) -> Self {
        let mut values: Vec<_> = rates.iter().map(which).collect();
        values.sort_by(f64::total_cmp);
        Self { median: values[values.len() / 2], least: values[0], most: values[values.len() - 1] }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} ({:.0} to {:.0})", self.median, self.least, self.most)
    }
}
