//! Workloads of short and long flows that come as they like, and how long each takes.

mod file;
mod report;
mod run;
mod show;
mod sizes;

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Control;
use crate::experiment::{Cancel, ExperimentError, Fabric, MAX_SUBFLOWS, side_by_side};
use crate::network::Network;
use crate::report::Report;
use crate::steering::Scheme;

pub use file::parse;
pub(crate) use file::schema;
pub use report::{Class, Row};
pub use run::{Flow, Outcome, run};
pub use show::{csv, plot, table};
pub use sizes::{Sizes, UnknownSizes};

/// Flows between hosts drawn at random, each as likely, at a load of the hosts' interfaces.
#[derive(Clone, PartialEq, Debug)]
pub struct Workload {
    /// The network.
    pub fabric: Fabric,
    /// How large flows are.
    pub sizes: Sizes,
    /// What arrives at hosts, of what their interfaces carry; frames counted whole.
    pub load: f64,
    /// Flows of more bytes are large.
    pub threshold: u64,
    /// How those are carried that are not.
    pub small: Treatment,
    /// How large ones are.
    pub large: Treatment,
    /// How windows change.
    pub control: Control,
    /// What comes before is not counted.
    pub warm_up: Duration,
    /// Flows count that begin in this time.
    pub measured: Duration,
}

/// How flows are carried.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Treatment {
    /// Their paths.
    pub scheme: Scheme,
    /// Subflows for each pair of interfaces.
    pub subflows: usize,
    /// How long the first packet of each waits for the controller.
    pub set_up: Duration,
}

impl Workload {
    /// The mean time between flows, in seconds.
    fn gap(&self, hosts: usize) -> f64 {
        let wire = self.sizes.mean() * 8.0 / crate::engine::NewConnection::payload_share(1);
        wire / (self.load * self.fabric.rate.as_f64() * hosts as f64)
    }

    fn check(&self, seed: u64) -> Result<Network, ExperimentError> {
        if self.measured.is_zero() {
            return Err(ExperimentError::NoTime);
        }
        if !(self.load > 0.0 && self.load < 1.0) {
            return Err(ExperimentError::Load(self.load));
        }
        let network = self.fabric.lay_out(seed)?;
        let most = network.hosts().iter().map(Vec::len).max().unwrap_or(1);
        for Treatment { subflows, .. } in [self.small, self.large] {
            let pairs = most * most;
            if !(1..=MAX_SUBFLOWS).contains(&subflows.saturating_mul(pairs)) {
                return Err(ExperimentError::Subflows { subflows, pairs });
            }
        }
        Ok(network)
    }
}

/// Workloads that are compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Study {
    /// What it is called.
    pub name: String,
    /// What it shows, for people.
    pub description: String,
    /// How many seeds it is run with, unless somebody says otherwise.
    pub seeds: u64,
    /// Flows of no more bytes are short.
    pub short: u64,
    /// What is compared, in the order in which it is shown.
    pub cells: Vec<Cell>,
    /// What must hold afterwards.
    pub expect: Vec<Expectation>,
}

/// One workload of a study.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// The name of the way to carry flows.
    pub method: String,
    /// What is simulated.
    pub workload: Workload,
}

/// What must hold: how long flows take with one method, over how long with another.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    /// For people.
    pub name: String,
    /// Whose.
    pub method: String,
    /// Over whose.
    pub relative_to: String,
    /// At which load.
    pub load: f64,
    /// Which flows.
    pub of: Kind,
    /// What of their times.
    pub value: Figure,
    /// It lies at or below.
    pub at_most: f64,
}

/// Which flows count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The short ones.
    #[default]
    Short,
    /// The large ones.
    Large,
    /// All.
    All,
}

/// A figure of how long flows take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Figure {
    /// The mean.
    Mean,
    /// The median.
    Median,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    #[default]
    P99,
}

impl Study {
    /// How many runs it takes.
    pub fn runs(&self) -> u64 {
        self.cells.len() as u64 * self.seeds
    }

    /// Runs everything, with the seeds from 1 on, on so many threads; calls `done` after each run.
    ///
    /// # Errors
    ///
    /// [`ExperimentError`] if something cannot be run, or would not fit into so many bytes of memory.
    pub fn run(
        &self,
        threads: usize,
        memory: u64,
        cancel: &Cancel,
        done: &(dyn Fn(String) + Sync),
    ) -> Result<Report<Row>, ExperimentError> {
        let mut most = 0;
        for cell in &self.cells {
            most = most.max(cell.workload.check(1)?.most_memory());
        }
        ExperimentError::check_memory(most, threads, memory)?;
        let jobs: Vec<_> =
            self.cells.iter().flat_map(|cell| (1..=self.seeds).map(move |seed| (cell, seed))).collect();
        let outcomes = side_by_side(&jobs, threads, cancel, &|(cell, seed): &(&Cell, u64)| {
            let outcome = run(&cell.workload, *seed, cancel);
            outcome.iter().for_each(|outcome| done(cell.tell(outcome)));
            outcome
        })?;
        Ok(report::report(self, &outcomes))
    }
}

impl Cell {
    /// What a run of it showed, in a line.
    fn tell(&self, outcome: &Outcome) -> String {
        let speed = outcome.events as f64 / 1e6 / outcome.elapsed.as_secs_f64().max(1e-9);
        let (method, load, seed) = (&self.method, self.workload.load * 100.0, outcome.seed);
        let flows = outcome.flows.len();
        format!("{method}, load {load:.0} %, seed {seed}: {flows} flows, {speed:.1} M events/s")
    }
}
