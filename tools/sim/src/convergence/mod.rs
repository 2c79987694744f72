//! Convergence studies: one connection over given paths, and the distribution of its bytes over time.

mod file;
mod report;
mod run;
mod show;

use std::time::Duration;

use braid_link_model::Parameters;

use crate::Control;
use crate::experiment::{Cancel, ExperimentError, side_by_side};
use crate::report::Report;

pub use file::parse;
pub(crate) use file::schema;
pub use report::Row;
pub use run::{Outcome, run};
pub use show::{csv, plot, table};

/// A connection with a subflow on each of some paths, simulated once with each control.
#[derive(Clone, PartialEq, Debug)]
pub struct Study {
    /// The name.
    pub name: String,
    /// The purpose, for people.
    pub description: String,
    /// The number of seeds, each with other delays.
    pub seeds: u64,
    /// The links, each for both directions, by the indices of their ends among the nodes.
    pub links: Vec<([usize; 2], Parameters)>,
    /// Whether the sender waits for its own interfaces, the first links of paths, instead of losing frames to their queues.
    pub hold_sender: bool,
    /// The nodes of each path, and its name.
    pub paths: Vec<(String, Vec<usize>)>,
    /// The congestion controls.
    pub controls: Vec<Control>,
    /// The total capacity of its paths in bits a second, frames counted whole.
    pub capacity: f64,
    /// When the host asks the controller for advice, and closes the subflows that it does not name. Each control is
    /// simulated without advice and with it.
    pub advice: Option<Duration>,
    /// The time it has to converge.
    pub settle: Duration,
    /// The measured time after that.
    pub measured: Duration,
    /// The interval of samples.
    pub sample: Duration,
    /// The indices of the paths that it should use.
    pub kept: Vec<usize>,
    /// The expectations.
    pub expect: Vec<Expectation>,
}

/// An expectation: the share of the bytes on the paths that it should use.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    /// For people.
    pub name: String,
    /// The congestion control.
    pub control: Control,
    /// Whether it is about the runs with advice.
    pub advised: bool,
    /// The lower bound.
    pub at_least: f64,
}

impl Study {
    /// The number of runs.
    pub fn runs(&self) -> u64 {
        self.settings().len() as u64 * self.seeds
    }

    /// Each control, without advice and, if there is any, with it.
    fn settings(&self) -> Vec<(Control, bool)> {
        let advised = if self.advice.is_some() { &[false, true][..] } else { &[false] };
        self.controls.iter().flat_map(|control| advised.iter().map(|advised| (*control, *advised))).collect()
    }

    /// Runs everything, with the seeds from 1 on, on so many threads; calls `done` after each run.
    ///
    /// # Errors
    ///
    /// [`ExperimentError`] if something cannot be run.
    pub fn run(
        &self,
        threads: usize,
        cancel: &Cancel,
        done: &(dyn Fn(String) + Sync),
    ) -> Result<Report<Row>, ExperimentError> {
        let settings = self.settings();
        let jobs = settings.iter().flat_map(|it| (1..=self.seeds).map(move |seed| (*it, seed)));
        let jobs: Vec<_> = jobs.collect();
        let outcomes = side_by_side(&jobs, threads, cancel, &|((control, advised), seed)| {
            let outcome = run(self, *control, *advised, *seed, cancel)?;
            let kept = outcome.share_of(&self.kept) * 100.0;
            let advised = if *advised { ", advised" } else { "" };
            done(format!("{control}{advised}, seed {seed}: {kept:.1} % on the paths that are kept"));
            Ok::<_, ExperimentError>(outcome)
        })?;
        Ok(report::report(self, &outcomes))
    }
}
