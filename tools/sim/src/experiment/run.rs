//! One run of an experiment: transfers that start together, link failures and repairs, and the outcome.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use braid_types::{BitsPerSec, SplitMix64, SwitchPort, Time};

use super::{Cancel, Experiment, ExperimentError, Failures, MAX_SUBFLOWS};
use crate::engine::{Amount, ConnectionId, NewConnection, Picos, Simulation};
use crate::network::Network;
use crate::steering::{Moved, Placed, Steering};
use crate::traffic::Pattern;

/// Transfers begin within this time: together, but not in step.
const STAGGER: Duration = Duration::from_millis(1);
/// The controller's delay before a reroute, in addition to that of a subflow's first packet.
pub(crate) const GRACE: Duration = Duration::from_millis(20);
/// The interval of checks for cancellation.
const SLICE: Duration = Duration::from_millis(10);

/// A transfer that goes on.
struct Opened {
    pair: (usize, usize),
    subflows: usize,
    id: ConnectionId,
}

/// Pending events, in the order of time.
type Pending = VecDeque<(Picos, Happening)>;

enum Happening {
    Move(Moved),
    Cut(BTreeSet<SwitchPort>),
    Repair(BTreeSet<SwitchPort>),
}

/// A run that goes on.
struct Run<'a> {
    network: &'a Network,
    simulation: Simulation,
    steering: Steering,
    opened: Vec<Opened>,
    pending: Pending,
}

/// The outcome of one run of an experiment.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Its seed.
    pub seed: u64,
    /// In the order in which they were opened.
    pub transfers: Vec<Transfer>,
    /// The number of events.
    pub events: u64,
    /// Bytes of memory that links and subflows took at the end.
    pub memory: usize,
    /// The computing time.
    pub elapsed: Duration,
    /// The measured time; zero if the run was cancelled during the warm-up.
    pub measured: Duration,
    /// The part of the time that was simulated; less than 1 if the run was cancelled.
    pub completed: f64,
}

/// A transfer in the measured time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transfer {
    /// The sender, by its place among the hosts.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// The number of subflows.
    pub subflows: usize,
    /// The data that arrived in order, in bits a second, without headers.
    pub goodput: f64,
    /// The total capacity of the slower host's interfaces, frames counted whole.
    pub capacity: BitsPerSec,
}

impl Transfer {
    /// The goodput as a part of the optimum: the data that the interfaces carry in full frames.
    pub fn fraction(&self) -> f64 {
        self.goodput / (self.capacity.as_f64() * NewConnection::payload_share(self.subflows))
    }
}

impl Outcome {
    /// The mean of all transfers, of the optimum.
    pub fn mean(&self) -> f64 {
        self.transfers.iter().map(Transfer::fraction).sum::<f64>() / self.transfers.len().max(1) as f64
    }

    /// The mean of all transfers, of the rate of the slower host's interfaces, frames counted whole.
    pub fn mean_of_rate(&self) -> f64 {
        let all = self.transfers.iter().map(|it| it.goodput / it.capacity.as_f64());
        all.sum::<f64>() / self.transfers.len().max(1) as f64
    }

    /// The mean of all transfers, in bits a second.
    pub fn goodput(&self) -> f64 {
        self.transfers.iter().map(|it| it.goodput).sum::<f64>() / self.transfers.len().max(1) as f64
    }

    /// The fractions of all transfers, the least first.
    pub fn ranked(&self) -> Vec<f64> {
        let mut all: Vec<_> = self.transfers.iter().map(Transfer::fraction).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Simulates an experiment; the same seed gives the same outcome, except for computing time.
///
/// # Errors
///
/// [`ExperimentError`], before anything is simulated.
pub fn run(experiment: &Experiment, seed: u64, cancel: &Cancel) -> Result<Outcome, ExperimentError> {
    let begun = Instant::now();
    let network = check(experiment, seed)?;
    let mut run = Run::open(experiment, &network, seed)?;
    let before = run.measure(experiment.warm_up, cancel);
    let whole = experiment.warm_up + experiment.measured;
    let after = run.measure(whole, cancel);
    let Run { simulation, opened, .. } = run;
    let measured = (simulation.now() - Picos::from(experiment.warm_up)).duration();
    let seconds = measured.as_secs_f64().max(1e-9);
    let rates = before.iter().zip(after).map(|(before, after)| (after - before) as f64 * 8.0 / seconds);
    Ok(Outcome {
        seed,
        transfers: opened.iter().zip(rates).map(|(opened, rate)| opened.transfer(&network, rate)).collect(),
        events: simulation.events(),
        memory: simulation.memory(),
        elapsed: begun.elapsed(),
        measured,
        completed: simulation.now().as_secs_f64() / whole.as_secs_f64(),
    })
}

impl<'a> Run<'a> {
    /// Opens the transfers of the pattern, one after the other, as the controller would see them come.
    fn open(experiment: &Experiment, network: &'a Network, seed: u64) -> Result<Self, ExperimentError> {
        let mut random = SplitMix64::new(seed);
        let simulation = network.simulation(random.next_u64());
        let pairs = experiment.pattern.pairs(network.hosts().len(), &mut random.fork());
        let steering = Steering::new(experiment.scheme, network, random.fork());
        let mut starts: Vec<_> =
            pairs.iter().map(|_| random.below(STAGGER.as_nanos() as usize) as u64).collect();
        starts.sort_unstable();
        let opened = Vec::with_capacity(pairs.len());
        let mut run = Self { network, simulation, steering, opened, pending: Pending::new() };
        for (pair, start) in pairs.into_iter().zip(starts) {
            run.simulation.run_until(Picos::from_nanos(start));
            run.open_one(experiment, pair)?;
        }
        if let Some(failures) = experiment.failures {
            run.break_links(failures, &mut random);
        }
        Ok(run)
    }

    fn open_one(&mut self, experiment: &Experiment, pair: (usize, usize)) -> Result<(), ExperimentError> {
        let now = self.simulation.now();
        let Placed { ways, moves } = self.steering.place(time(now), self.network, pair, experiment.subflows);
        if ways.is_empty() {
            return Err(ExperimentError::NoPath(pair.0, pair.1));
        }
        let subflows = ways.len();
        let new = NewConnection::mptcp(ways, Amount::Endless, experiment.control);
        let id = self.simulation.open(&NewConnection { set_up: experiment.set_up.into(), ..new });
        self.opened.push(Opened { pair, subflows, id });
        let due = now + Picos::from(experiment.set_up + GRACE);
        self.pending.extend(moves.into_iter().map(|it| (due, Happening::Move(it))));
        Ok(())
    }

    /// Draws the links that break, both directions of each.
    fn break_links(&mut self, failures: Failures, random: &mut SplitMix64) {
        let graph = self.network.graph();
        let links = graph.edges().map(|edge| graph.link(edge)).filter(|link| link.src < link.dst);
        let mut links: Vec<_> = links.map(|link| [link.src, link.dst]).collect();
        random.shuffle(&mut links);
        let gone: BTreeSet<_> = links.into_iter().take(failures.links).flatten().collect();
        let at = Picos::from(failures.at);
        self.pending.push_back((at, Happening::Cut(gone.clone())));
        self.pending.push_back((at + Picos::from(failures.repair), Happening::Repair(gone)));
        self.pending.make_contiguous().sort_by_key(|(due, _)| *due);
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Move(moved) => self.reroute(moved),
            Happening::Cut(gone) => {
                let links = gone.iter().filter_map(|port| self.network.link_at(*port));
                links.for_each(|link| self.simulation.cut(link));
            }
            Happening::Repair(gone) => {
                let now = time(self.simulation.now());
                let moves = self.steering.repair(now, self.network, &gone);
                moves.into_iter().for_each(|moved| self.reroute(moved));
            }
        }
    }

    fn reroute(&mut self, Moved { transfer, subflow, way }: Moved) {
        if let Some(opened) = self.opened.get(transfer) {
            self.simulation.reroute(opened.id, subflow, &way);
        }
    }

    /// Simulates up to a time, unless cancelled; returns the bytes that each transfer has delivered.
    fn measure(&mut self, until: Duration, cancel: &Cancel) -> Vec<u64> {
        let until = Picos::from(until);
        while self.simulation.now() < until && !cancel.is_cancelled() {
            let slice = until.min(self.simulation.now() + Picos::from(SLICE));
            while let Some((due, happening)) = self.pending.pop_front_if(|(due, _)| *due <= slice) {
                self.simulation.run_until(due);
                self.happen(happening);
            }
            self.simulation.run_until(slice);
        }
        self.opened.iter().map(|opened| self.simulation.delivered(opened.id)).collect()
    }
}

/// As the controller counts it.
const fn time(picos: Picos) -> Time {
    Time::from_nanos(picos.0 / 1_000)
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
    let network = experiment.fabric().lay_out(seed)?;
    if let Pattern::Listed(listed) = &experiment.pattern
        && let Some((from, to)) = listed.impossible(network.hosts().len())
    {
        let (name, last) = (listed.name.clone(), network.hosts().len() - 1);
        return Err(ExperimentError::Listed { name, from, to, last });
    }
    let most = network.hosts().iter().map(Vec::len).max().unwrap_or(1);
    let (subflows, pairs) = (experiment.subflows, most * most);
    if !(1..=MAX_SUBFLOWS).contains(&subflows.saturating_mul(pairs)) {
        return Err(ExperimentError::Subflows { subflows, pairs });
    }
    Ok(network)
}
