//! Execution of a scenario: deployment, traffic by real tools, comparison, and removal.

mod background;
mod captures;
mod cost;
mod counters;
mod events;
mod expect;
mod files;
mod leaders;
mod model;
mod paths;
mod report;
mod round;
mod settings;
mod sockets;
mod table;
mod tools;
mod transfer;
mod watch;

use std::time::Instant;

use crate::controller::Control;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::names::LabName;
use crate::progress::Progress;
use crate::scenario::{Scenario, Traffic, Variant};
use crate::store::Labs;

pub use model::{ModelRow, PathRow};
pub use report::{
    Bound, CaptureRow, Delivery, EventRow, HandshakeRow, Interval, LabRow, LeaderRow, MptcpUse, PathChange,
    Report, Row, RowDirection, StreamRow, Verdict,
};

use round::Round;
use transfer::Setting;

/// An observer of a lab that runs a scenario.
pub trait RunObserver {
    /// The lab is up.
    fn built(&mut self, lab: &Deployment);

    /// All traffic has run; the lab is removed when this returns.
    ///
    /// # Errors
    ///
    /// An error ends the run.
    fn measured(&mut self, lab: &Deployment, report: &Report) -> Result<(), LabError>;
}

struct NoObserver;

impl RunObserver for NoObserver {
    fn built(&mut self, _: &Deployment) {}

    fn measured(&mut self, _: &Deployment, _: &Report) -> Result<(), LabError> {
        Ok(())
    }
}

impl Labs {
    /// Deploys `scenario` as lab `name`, runs all of its traffic in sequence, and removes the lab; anew for each variant.
    ///
    /// # Errors
    ///
    /// Those of [`Labs::deploy`] and [`Deployment::measure`]. An unmet expectation is not an error: see [`Report::ok`].
    pub fn run(
        &self,
        scenario: &Scenario,
        name: &LabName,
        control: &Control,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Report, LabError> {
        self.run_watched(scenario, name, control, progress, interrupt, &mut NoObserver)
    }

    /// As [`Labs::run`], with an observer.
    ///
    /// # Errors
    ///
    /// Those of [`Labs::run`], and of the observer.
    pub fn run_watched(
        &self,
        scenario: &Scenario,
        name: &LabName,
        control: &Control,
        progress: &dyn Progress,
        interrupt: &Interrupt,
        observer: &mut dyn RunObserver,
    ) -> Result<Report, LabError> {
        if scenario.traffic.is_none() {
            return Err(LabError::NoTraffic(scenario.name.clone()));
        }
        let (mut labs, mut rows) = (Vec::new(), Vec::new());
        for variant in variants(scenario) {
            let called = (!scenario.variants.is_empty()).then_some(variant.name.as_str());
            let title = called.map_or_else(|| name.to_string(), |called| format!("{name} for {called}"));
            progress.stage(&format!("building {title}"));
            let scenario = scenario.with_variant(&variant);
            let start = Instant::now();
            let lab = self.deploy(&scenario, name, &control.with_variant(&variant), interrupt)?;
            labs.push(LabRow { variant: called.map(str::to_owned), ..cost::of(&lab, start.elapsed()) });
            observer.built(&lab);
            let of_variant = lab.measure(&scenario, progress, interrupt)?;
            rows.extend(of_variant.into_iter().map(|row| Row { variant: called.map(str::to_owned), ..row }));
            observer.measured(&lab, &Report::new(&scenario, labs.clone(), rows.clone()))?;
            progress.stage(&format!("removing {name}"));
            lab.destroy()?;
        }
        progress.done();
        Ok(Report::new(scenario, labs, rows))
    }
}

/// The variants of a scenario; one without changes if there are none.
fn variants(scenario: &Scenario) -> Vec<Variant> {
    if scenario.variants.is_empty() { vec![Variant::default()] } else { scenario.variants.clone() }
}

impl Deployment {
    /// Runs all traffic of `scenario` in this lab, one transfer after the other.
    ///
    /// # Errors
    ///
    /// [`LabError::NoTraffic`], [`LabError::Traffic`] if a transfer failed, or
    /// [`LabError::Interrupted`]; processes that are left end with the lab.
    pub fn measure(
        &self,
        scenario: &Scenario,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Vec<Row>, LabError> {
        let Some(traffic) = &scenario.traffic else {
            return Err(LabError::NoTraffic(scenario.name.clone()));
        };
        let mut rows = Vec::new();
        for round in rounds(self, scenario, traffic) {
            if !rows.is_empty() && !scenario.events.is_empty() {
                // Links and controllers are restored, but not all may be rediscovered.
                self.wait_until_ready(scenario, interrupt)?;
            }
            rows.extend(round.run(rows.len(), progress, interrupt)?);
        }
        Ok(rows)
    }
}

/// All settings and directions, the modes outermost as in the table.
fn rounds<'a>(lab: &'a Deployment, scenario: &'a Scenario, traffic: &'a Traffic) -> Vec<Round<'a>> {
    let at_once = if traffic.simultaneous { traffic.directions.len() } else { 1 };
    let mut rounds = Vec::new();
    for setting in settings(traffic) {
        let chunks = traffic.directions.chunks(at_once.max(1));
        rounds.extend(chunks.map(|directions| Round::new(lab, scenario, traffic, setting, directions)));
    }
    rounds
}

fn settings(traffic: &Traffic) -> Vec<Setting> {
    let mut settings = Vec::new();
    for mode in traffic.modes.iter().copied() {
        for work in traffic.works.iter().copied() {
            for connections in traffic.streams.iter().copied() {
                settings.extend((1..=traffic.repeat).map(|run| Setting { mode, work, connections, run }));
            }
        }
    }
    settings
}
