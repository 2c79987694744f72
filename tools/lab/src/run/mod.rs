//! Execution of a scenario: deployment, traffic by real tools, comparison, and removal.

mod background;
mod captures;
mod cost;
mod cost_meter;
mod counters;
mod events;
mod expect;
mod files;
mod leaders;
mod model;
mod paths;
mod profiles;
mod report;
mod requests;
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
use crate::preflight;
use crate::progress::Progress;
use crate::scenario::{Case, Scenario, Traffic};
use crate::store::Labs;

pub use model::{ModelRow, PathRow};
pub use profiles::{Goodput, ProfileColumns, ProfileRow, Ratio};
pub use report::{
    Bound, CaptureRow, CostRow, Delivery, EventRow, HandshakeRow, Interval, LabRow, LeaderRow, MptcpUse,
    PathChange, Report, Row, RowDirection, StreamRow, Verdict,
};
pub use requests::{RequestRow, ResponseTimes};

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
        let cases = scenario.cases();
        // What the last one lacks is not found out after hours.
        let mut controls = cases.iter().map(|case| (case, control.with_variant(&case.variant)));
        controls.try_for_each(|(case, control)| {
            preflight::check(&case.scenario, &control).and_then(|()| preflight::check_traffic(&case.scenario))
        })?;
        for case in cases {
            let title = title(scenario, &case);
            progress.stage(&format!("building {name}{title}"));
            let start = Instant::now();
            let lab = self.deploy(&case.scenario, name, &control.with_variant(&case.variant), interrupt)?;
            let called = || (!scenario.variants.is_empty()).then(|| case.variant.name.clone());
            labs.push(LabRow {
                variant: called(),
                profile: case.profile.clone(),
                congestion_control: case.congestion_control.clone(),
                ..cost::of(&lab, start.elapsed())
            });
            observer.built(&lab);
            let measured = lab.measure(&case.scenario, progress, interrupt)?;
            rows.extend(measured.into_iter().map(|row| Row {
                variant: called(),
                profile: case.profile.clone(),
                congestion_control: case.congestion_control.clone(),
                ..row
            }));
            observer.measured(&lab, &Report::new(&case.scenario, labs.clone(), rows.clone()))?;
            progress.stage(&format!("removing {name}"));
            lab.destroy()?;
        }
        progress.done();
        Ok(Report::new(scenario, labs, rows))
    }
}

/// Such as ` for line A, baseline, cubic`.
fn title(scenario: &Scenario, case: &Case) -> String {
    let variant = (!scenario.variants.is_empty()).then_some(&case.variant.name);
    let parts: Vec<_> = [variant, case.profile.as_ref(), case.congestion_control.as_ref()]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    if parts.is_empty() { String::new() } else { format!(" for {}", parts.join(", ")) }
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
            if !rows.is_empty() {
                self.restart_sites(scenario, interrupt)?;
            }
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
