use std::time::{Duration, Instant};

use braid_types::{BitsPerSec, Time};

use super::{Cancel, Experiment, ExperimentError, MAX_SUBFLOWS};
use crate::engine::{Amount, ConnectionId, NewConnection, Picos, Random, Simulation};
use crate::network::Network;
use crate::steering::Steering;

/// Transfers begin within so long of each other: together, but not in step.
const STAGGER: Duration = Duration::from_millis(1);
/// How often somebody may stop a run.
const SLICE: Duration = Duration::from_millis(10);

/// A transfer that goes on.
struct Opened {
    pair: (usize, usize),
    subflows: usize,
    id: ConnectionId,
}

/// What one run of an experiment showed.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// What it was drawn from.
    pub seed: u64,
    /// In the order in which they were opened.
    pub transfers: Vec<Transfer>,
    /// How many events there were.
    pub events: u64,
    /// Bytes of memory that links and subflows took at the end.
    pub memory: usize,
    /// How long the machine took.
    pub elapsed: Duration,
    /// How much of the time was simulated; less than 1 if somebody stopped the run.
    pub completed: f64,
}

/// A transfer, while it was measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transfer {
    /// The sender, by its place among the hosts.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// How many subflows it had.
    pub subflows: usize,
    /// What arrived in order, in bits a second, headers left out.
    pub goodput: f64,
    /// What the interfaces of the slower host carry together, frames counted whole.
    pub capacity: BitsPerSec,
}

impl Transfer {
    /// Of the optimum: of what the interfaces carry of data when frames are full.
    pub fn fraction(&self) -> f64 {
        self.goodput / (self.capacity.as_f64() * NewConnection::payload_share(self.subflows))
    }
}

impl Outcome {
    /// The mean of all transfers, of the optimum.
    pub fn mean(&self) -> f64 {
        self.transfers.iter().map(Transfer::fraction).sum::<f64>() / self.transfers.len().max(1) as f64
    }

    /// The fractions of all transfers, the least first.
    pub fn ranked(&self) -> Vec<f64> {
        let mut all: Vec<_> = self.transfers.iter().map(Transfer::fraction).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Simulates an experiment; the same seed gives the same outcome, but for the time that it takes.
///
/// # Errors
///
/// [`ExperimentError`], before anything is simulated.
pub fn run(experiment: &Experiment, seed: u64, cancel: &Cancel) -> Result<Outcome, ExperimentError> {
    let begun = Instant::now();
    let network = check(experiment, seed)?;
    let mut random = Random::new(seed);
    let mut simulation = network.simulation(random.bits());
    let opened = open_all(experiment, &network, &mut simulation, &mut random)?;
    let before = measure(&mut simulation, &opened, experiment.warm_up, cancel);
    let whole = experiment.warm_up + experiment.measured;
    let after = measure(&mut simulation, &opened, whole, cancel);
    let seconds = simulation.now().as_secs_f64() - experiment.warm_up.as_secs_f64();
    let rates =
        before.iter().zip(after).map(|(before, after)| (after - before) as f64 * 8.0 / seconds.max(1e-9));
    Ok(Outcome {
        seed,
        transfers: opened.iter().zip(rates).map(|(opened, rate)| opened.transfer(&network, rate)).collect(),
        events: simulation.events(),
        memory: simulation.memory(),
        elapsed: begun.elapsed(),
        completed: simulation.now().as_secs_f64() / whole.as_secs_f64(),
    })
}

/// Opens the transfers of the pattern, one after the other, as the controller would see them come.
fn open_all(
    experiment: &Experiment,
    network: &Network,
    simulation: &mut Simulation,
    random: &mut Random,
) -> Result<Vec<Opened>, ExperimentError> {
    let pairs = experiment.pattern.pairs(network.hosts().len(), &mut random.fork());
    let mut steering = Steering::new(experiment.scheme, network, random.fork());
    let mut starts: Vec<_> = pairs.iter().map(|_| random.below(STAGGER.as_nanos() as usize) as u64).collect();
    starts.sort_unstable();
    let mut opened = Vec::with_capacity(pairs.len());
    for (pair, start) in pairs.into_iter().zip(starts) {
        simulation.run_until(Picos::from_nanos(start));
        let ways = steering.ways(Time::from_nanos(start), network, pair, experiment.subflows);
        if ways.is_empty() {
            return Err(ExperimentError::NoPath(pair.0, pair.1));
        }
        let subflows = ways.len();
        let new = NewConnection::mptcp(ways, Amount::Endless, experiment.control);
        let id = simulation.open(&NewConnection { set_up: experiment.set_up.into(), ..new });
        opened.push(Opened { pair, subflows, id });
    }
    Ok(opened)
}

impl Opened {
    fn transfer(&self, network: &Network, goodput: f64) -> Transfer {
        let (from, to) = self.pair;
        let [sends, receives] =
            [from, to].map(|host| network.hosts()[host].iter().map(|plug| plug.rate.0).sum::<u64>());
        let capacity = BitsPerSec(sends.min(receives));
        Transfer { from, to, subflows: self.subflows, goodput, capacity }
    }
}

/// The most memory that a run of it takes, in bytes.
///
/// # Errors
///
/// [`ExperimentError`] if there is no such experiment.
pub fn most_memory(experiment: &Experiment, seed: u64) -> Result<u64, ExperimentError> {
    check(experiment, seed).map(|network| network.most_memory())
}

fn check(experiment: &Experiment, seed: u64) -> Result<Network, ExperimentError> {
    if experiment.measured.is_zero() {
        return Err(ExperimentError::NoTime);
    }
    let blueprint = experiment.spec(seed).generate(experiment.links())?;
    let network = Network::new(&blueprint, &experiment.defaults())?;
    let most = network.hosts().iter().map(Vec::len).max().unwrap_or(1);
    let (subflows, pairs) = (experiment.subflows, most * most);
    if !(1..=MAX_SUBFLOWS).contains(&subflows.saturating_mul(pairs)) {
        return Err(ExperimentError::Subflows { subflows, pairs });
    }
    Ok(network)
}

/// Simulates up to a time, unless somebody stops it, and says what each transfer has delivered.
fn measure(simulation: &mut Simulation, opened: &[Opened], until: Duration, cancel: &Cancel) -> Vec<u64> {
    let until = Picos::from(until);
    while simulation.now() < until && !cancel.is_cancelled() {
        simulation.run_until(until.min(simulation.now() + Picos::from(SLICE)));
    }
    opened.iter().map(|opened| simulation.delivered(opened.id)).collect()
}
