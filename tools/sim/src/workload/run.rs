//! One run of a workload: flows that arrive at random, and their completion times.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use braid_types::{BitsPerSec, SplitMix64, Time};

use super::{Treatment, Workload};
use crate::engine::{Amount, ConnectionId, NewConnection, Picos, Simulation};
use crate::experiment::{Cancel, ExperimentError, GRACE};
use crate::network::Network;
use crate::steering::{Moved, Placed, Steering};

/// How often the controller reads what links carry.
const READING: Picos = Picos::from_millis(1_000);
/// Flows that began while it was measured may take so many times as long to end.
const MAX_SLOWDOWN: u32 = 10;

/// A flow, and how long it took.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flow {
    /// What it carried.
    pub bytes: u64,
    /// From when it was wanted to its last byte; nothing if that did not arrive in time.
    pub took: Option<Duration>,
}

/// What one run of a workload showed.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// What it was drawn from.
    pub seed: u64,
    /// Those that began while it was measured.
    pub flows: Vec<Flow>,
    /// How many events there were.
    pub events: u64,
    /// How long the machine took.
    pub elapsed: Duration,
    /// Whether nobody stopped it.
    pub completed: bool,
}

/// How flows of one kind are carried.
struct Carrier {
    treatment: Treatment,
    steering: Steering,
    // By transfer.
    connections: Vec<ConnectionId>,
}

struct Run<'a> {
    workload: &'a Workload,
    network: &'a Network,
    simulation: Simulation,
    small: Carrier,
    large: Carrier,
    arrivals: SplitMix64,
    next_arrival: Picos,
    next_reading: Picos,
    carried: Vec<u64>,
    pending: VecDeque<(Picos, ConnectionId, Moved)>,
    // By connection: what it carries, when it was wanted, and which transfer of which carrier it is.
    flows: Vec<(u64, Picos, bool, usize)>,
    open: usize,
}

/// Simulates a workload; the same seed gives the same outcome, but for the time that it takes.
///
/// # Errors
///
/// [`ExperimentError`], before anything is simulated, or when no path leads from one host to another.
pub fn run(workload: &Workload, seed: u64, cancel: &Cancel) -> Result<Outcome, ExperimentError> {
    let begun = Instant::now();
    let network = workload.check(seed)?;
    let mut run = Run::new(workload, &network, seed);
    let end = Picos::from(workload.warm_up + workload.measured);
    let limit = Picos::from(workload.warm_up + workload.measured * MAX_SLOWDOWN);
    while !cancel.is_cancelled() && run.simulation.now() < limit {
        if run.simulation.now() >= end && run.open == 0 {
            break;
        }
        run.step()?;
    }
    Ok(Outcome {
        seed,
        flows: run.measured(),
        events: run.simulation.events(),
        elapsed: begun.elapsed(),
        completed: !cancel.is_cancelled(),
    })
}

impl<'a> Run<'a> {
    fn new(workload: &'a Workload, network: &'a Network, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let simulation = network.simulation(random.next_u64());
        // What comes when is the same whatever is compared.
        let arrivals = random.fork();
        let mut carrier = |treatment: Treatment| Carrier {
            treatment,
            steering: Steering::new(treatment.scheme, network, random.fork()),
            connections: Vec::new(),
        };
        let (small, large) = (carrier(workload.small), carrier(workload.large));
        let mut run = Self {
            workload,
            network,
            simulation,
            small,
            large,
            arrivals,
            next_arrival: Picos::ZERO,
            next_reading: READING,
            carried: vec![0; network.links().len()],
            pending: VecDeque::new(),
            flows: Vec::new(),
            open: 0,
        };
        run.draw_next();
        run
    }

    /// Poisson arrivals at all hosts together.
    fn draw_next(&mut self) {
        let mean = self.workload.gap(self.network.hosts().len());
        let gap = exponential(&mut self.arrivals, mean);
        self.next_arrival += Picos::from_secs_f64(gap);
    }

    /// Up to what comes next, and that.
    fn step(&mut self) -> Result<(), ExperimentError> {
        let moved = self.pending.front().map_or(Picos::NEVER, |(due, ..)| *due);
        self.simulation.run_until(moved.min(self.next_arrival).min(self.next_reading));
        self.forget_finished();
        let now = self.simulation.now();
        if let Some((_, id, moved)) = self.pending.pop_front_if(|(due, ..)| *due <= now) {
            self.simulation.reroute(id, moved.subflow, &moved.way);
        } else if self.next_reading <= now {
            self.read_counters();
        } else {
            self.open_next()?;
            self.draw_next();
        }
        Ok(())
    }

    fn open_next(&mut self) -> Result<(), ExperimentError> {
        let hosts = self.network.hosts().len();
        let from = self.arrivals.below(hosts);
        let to = (from + 1 + self.arrivals.below(hosts - 1)) % hosts;
        let bytes = self.workload.sizes.draw(&mut self.arrivals);
        let is_large = bytes > self.workload.threshold;
        let now = self.simulation.now();
        self.open += usize::from(self.is_measured(now));
        let carrier = if is_large { &mut self.large } else { &mut self.small };
        let time = Time::from_nanos(now.0 / 1_000);
        let Placed { ways, moves } =
            carrier.steering.place(time, self.network, (from, to), carrier.treatment.subflows);
        if ways.is_empty() {
            return Err(ExperimentError::NoPath(from, to));
        }
        let new = NewConnection::mptcp(ways, Amount::Bytes(bytes), self.workload.control);
        let set_up = carrier.treatment.set_up.into();
        let id = self.simulation.open(&NewConnection { set_up, ..new });
        self.flows.push((bytes, now, is_large, carrier.connections.len()));
        carrier.connections.push(id);
        let due = now + Picos::from(carrier.treatment.set_up + GRACE);
        let connections = &carrier.connections;
        self.pending.extend(moves.into_iter().map(|it| (due, connections[it.transfer], it)));
        Ok(())
    }

    fn forget_finished(&mut self) {
        for id in self.simulation.take_finished() {
            let (_, begun, is_large, transfer) = self.flows[id.0 as usize];
            let carrier = if is_large { &mut self.large } else { &mut self.small };
            carrier.steering.ended(transfer);
            self.open -= usize::from(self.is_measured(begun));
        }
    }

    /// As the controller does: what each link has carried in the last second.
    fn read_counters(&mut self) {
        let mut loads = vec![BitsPerSec(0); self.carried.len()];
        for ((link, before), load) in self.network.ids().zip(&mut self.carried).zip(&mut loads) {
            let bytes = self.simulation.link(link).bytes;
            *load = BitsPerSec(((bytes - *before) as f64 * 8.0 / READING.as_secs_f64()) as u64);
            *before = bytes;
        }
        for carrier in [&mut self.small, &mut self.large] {
            carrier.steering.observe(|link| {
                let id = self.network.link_at(link.src);
                id.map_or(BitsPerSec(0), |id| loads[id.0 as usize])
            });
        }
        self.next_reading += READING;
    }

    fn is_measured(&self, begun: Picos) -> bool {
        let Workload { warm_up, measured, .. } = self.workload;
        (Picos::from(*warm_up)..Picos::from(*warm_up + *measured)).contains(&begun)
    }

    fn measured(&self) -> Vec<Flow> {
        let flows = (0..).zip(&self.flows).filter(|(_, (_, begun, ..))| self.is_measured(*begun));
        let took = |id, begun: Picos| {
            self.simulation.finished(ConnectionId(id)).map(|finished| (finished - begun).duration())
        };
        flows.map(|(id, (bytes, begun, ..))| Flow { bytes: *bytes, took: took(id, *begun) }).collect()
    }
}

/// A draw of the exponential distribution with this mean.
fn exponential(random: &mut SplitMix64, mean: f64) -> f64 {
    -mean * (1.0 - random.next_f64()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_draws_have_the_mean_that_they_promise() {
        let mut random = SplitMix64::new(7);
        let mean = (0..100_000).map(|_| exponential(&mut random, 3.0)).sum::<f64>() / 1e5;
        assert!((mean - 3.0).abs() < 0.05, "{mean}");
    }
}
