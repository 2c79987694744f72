//! Convergence studies: one connection over given paths, and how its bytes are divided among them in the course of time.

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
pub use report::Row;
pub use run::{Outcome, run};
pub use show::{csv, plot, table};

/// A connection with a subflow on each of some paths, once with each control.
#[derive(Clone, PartialEq, Debug)]
pub struct Study {
    /// What it is called.
    pub name: String,
    /// What it shows, for people.
    pub description: String,
    /// How many seeds it is run with: each has other delays.
    pub seeds: u64,
    /// The links, each for both directions, by the places of their ends among the nodes.
    pub links: Vec<([usize; 2], Parameters)>,
    /// Whether the sender waits for its own interfaces, the first links of paths, instead of losing frames to their queues.
    pub hold_sender: bool,
    /// The nodes of each path, and its name.
    pub paths: Vec<(String, Vec<usize>)>,
    /// How windows change.
    pub controls: Vec<Control>,
    /// What its paths carry together at most, in bits a second, frames counted whole.
    pub capacity: f64,
    /// When the host asks the controller which subflows are worth having, and closes the others; each control is run without
    /// that and with it.
    pub advice: Option<Duration>,
    /// After this time it has converged, or not.
    pub settle: Duration,
    /// So long is measured then.
    pub measured: Duration,
    /// How often rates are taken.
    pub sample: Duration,
    /// The paths, by place, that it is to keep to.
    pub kept: Vec<usize>,
    /// What must hold afterwards.
    pub expect: Vec<Expectation>,
}

/// What must hold: the share of the bytes on the paths that are to be kept to.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    /// For people.
    pub name: String,
    /// With which control.
    pub control: Control,
    /// Of the runs with advice.
    pub advised: bool,
    /// It lies at or above.
    pub at_least: f64,
}

impl Study {
    /// How many runs it takes.
    pub fn runs(&self) -> u64 {
        self.settings().len() as u64 * self.seeds
    }

    /// Each control, without advice and, if there is any, with it.
    fn settings(&self) -> Vec<(Control, bool)> {
        let advised = if self.advice.is_some() { &[false, true][..] } else { &[false] };
        self.controls.iter().flat_map(|control| advised.iter().map(|advised| (*control, *advised))).collect()
    }

    /// Runs everything, with the seeds from 1 on, on so many threads; `done` is told after each run.
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
