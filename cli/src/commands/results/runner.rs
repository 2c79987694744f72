//! The lab and the simulator as what runs the plan's jobs.

use std::thread::{self, available_parallelism};
use std::time::Duration;

use braid_lab::scenario::Scenario;
use braid_lab::{Control, Interrupt, LabError, LabName, Labs, StderrProgress};
use braid_results::{Load, LoadWatch, Outcome, ResultsError, Runner, Source};
use braid_sim::experiment::Cancel;
use braid_sim::{Progress, StudyKind};

use crate::commands::sim::free_memory;
use crate::exit;

/// The lab of every run: only one is up at a time.
const LAB: &str = "results";
const INTERRUPT_POLL: Duration = Duration::from_millis(100);

pub(super) struct SystemRunner {
    labs: Labs,
    control: Control,
    interrupt: Interrupt,
    cancel: Cancel,
}

impl SystemRunner {
    pub(super) fn new(control: Control, interrupt: Interrupt) -> Self {
        let (cancel, signals) = (Cancel::default(), interrupt.clone());
        let studies = cancel.clone();
        thread::spawn(move || {
            while signals.check().is_ok() {
                thread::sleep(INTERRUPT_POLL);
            }
            studies.cancel();
        });
        Self { labs: Labs::system(), control, interrupt, cancel }
    }

    fn lab(&self, scenario: &Scenario) -> Result<Outcome, ResultsError> {
        let name: LabName = LAB.parse().map_err(|error| ResultsError::Machine(format!("{error}")))?;
        let report = self.labs.run(scenario, &name, &self.control, &StderrProgress::new(), &self.interrupt);
        match report {
            Ok(report) => Ok(Outcome::Lab(Box::new(report))),
            Err(LabError::Interrupted) => Err(ResultsError::Interrupted),
            // Another run of the same scenario can end otherwise; on a machine that cannot, none can.
            Err(error) if error.exit_code() == 4 => Err(ResultsError::Machine(error.to_string())),
            Err(error) => Ok(Outcome::Failed(error.to_string())),
        }
    }

    fn study(&self, study: &StudyKind) -> Result<Outcome, ResultsError> {
        let threads = available_parallelism().map_or(1, usize::from);
        let progress = Progress::new(study.runs());
        let report = study.run(threads, free_memory(), &self.cancel, &|what| progress.done(what));
        progress.end();
        match report {
            Ok(report) if report.is_complete() => Ok(Outcome::Study(Box::new(report))),
            Ok(_) => Err(ResultsError::Interrupted),
            Err(error) => Ok(Outcome::Failed(error.to_string())),
        }
    }
}

impl Runner for SystemRunner {
    fn run(&mut self, _: &str, source: &Source) -> Result<(Outcome, Load), ResultsError> {
        let watch = LoadWatch::start();
        let outcome = match source {
            Source::Lab(scenario) => self.lab(scenario),
            Source::Study(study) => self.study(study),
        };
        let load = watch.finish();
        Ok((outcome?, load))
    }

    fn tell(&mut self, text: &str) {
        exit::say(text);
    }
}
