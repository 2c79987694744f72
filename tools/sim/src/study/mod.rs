//! Studies: many experiments that are compared, with each other and with what a paper reports. A file describes one.

mod expectation;
mod file;
mod preset;
mod report;
mod show;

use std::sync::Arc;
use std::time::Duration;

use braid_topology::Blueprint;

use crate::experiment::{Cancel, Experiment, ExperimentError, Layout, Outcome, sweep};
use crate::report::Report;

pub use expectation::{Expectation, Subject, Value};
pub use file::StudyError;
pub(crate) use file::{malformed, schema, text};
pub use preset::{Preset, UnknownPreset};
pub use report::Row;
pub(crate) use show::quoted;
pub use show::{csv, plot, table};

/// What is compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Study {
    /// What it is called.
    pub name: String,
    /// What it shows, for people.
    pub description: String,
    /// How many seeds it is run with, unless somebody says otherwise.
    pub seeds: u64,
    /// What is compared, in the order in which it is shown.
    pub cells: Vec<Cell>,
    /// What must hold afterwards.
    pub expect: Vec<Expectation>,
}

/// One experiment of a study.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// The name of the way to choose paths.
    pub method: String,
    /// What is simulated.
    pub experiment: Experiment,
    /// The mean that a paper reports, of the optimum.
    pub paper: Option<f64>,
}

/// What somebody changes in a study before it is run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// The network of all methods. What the study expects, and what papers report, is of another: it is left out.
    pub network: Option<Arc<Blueprint>>,
    /// How many seeds.
    pub seeds: Option<u64>,
    /// How long is measured.
    pub measured: Option<Duration>,
    /// How windows change.
    pub control: Option<crate::Control>,
}

impl Cell {
    /// What a run of it showed, in a line.
    fn tell(&self, outcome: &Outcome) -> String {
        let speed = outcome.events as f64 / 1e6 / outcome.elapsed.as_secs_f64().max(1e-9);
        let Experiment { pattern, subflows, .. } = &self.experiment;
        let percent = outcome.mean() * 100.0;
        let (method, seed) = (&self.method, outcome.seed);
        format!(
            "{method}, {pattern}, {subflows} subflows, seed {seed}: {percent:.1} %, {speed:.1} M events/s"
        )
    }
}

impl Study {
    /// The same, with changes made.
    #[must_use]
    pub fn with(mut self, changes: Changes) -> Self {
        self.seeds = changes.seeds.unwrap_or(self.seeds);
        for cell in &mut self.cells {
            let experiment = &mut cell.experiment;
            if let Some(network) = &changes.network {
                experiment.network = Layout::Given(Arc::clone(network));
                cell.paper = None;
            }
            experiment.measured = changes.measured.unwrap_or(experiment.measured);
            experiment.control = changes.control.unwrap_or(experiment.control);
        }
        if changes.network.is_some() {
            self.expect.clear();
        }
        self
    }

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
        self.check_memory(threads, memory)?;
        let experiments: Vec<_> = self.cells.iter().map(|cell| cell.experiment.clone()).collect();
        let seeds: Vec<_> = (1..=self.seeds).collect();
        let outcomes =
            sweep(&experiments, &seeds, threads, cancel, &|at, outcome| done(self.cells[at].tell(outcome)))?;
        Ok(report::report(self, &outcomes))
    }

    fn check_memory(&self, threads: usize, memory: u64) -> Result<(), ExperimentError> {
        let mut most = 0;
        for cell in &self.cells {
            most = most.max(crate::experiment::most_memory(&cell.experiment, 1)?);
        }
        ExperimentError::check_memory(most, threads, memory)
    }
}
