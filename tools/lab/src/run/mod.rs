//! Runs a scenario: builds its network, sends its traffic with real tools, compares, and removes everything.

mod background;
mod copy;
mod counters;
mod events;
mod expect;
mod iperf;
mod paths;
mod report;
mod sockets;
mod table;
mod transfer;

use crate::controller::Control;
use crate::deploy::Deployment;
use crate::error::LabError;
use crate::interrupt::Interrupt;
use crate::names::LabName;
use crate::progress::Progress;
use crate::ready;
use crate::scenario::{Scenario, Traffic};
use crate::store::Labs;

pub use report::{Delivery, Interval, MptcpUse, Report, Row, RowDirection, StreamRow, Verdict};

use transfer::Transfer;

impl Labs {
    /// Deploys `scenario` as the lab `name`, runs all of its traffic one after the other, and removes the lab; for each
    /// of its variants anew.
    ///
    /// # Errors
    ///
    /// What [`Labs::deploy`] and [`Deployment::measure`] return. An expectation that does not hold is not an error: see [`Report::ok`].
    pub fn run(
        &self,
        scenario: &Scenario,
        name: &LabName,
        control: &Control,
        progress: &dyn Progress,
        interrupt: &Interrupt,
    ) -> Result<Report, LabError> {
        if scenario.traffic.is_none() {
            return Err(LabError::NoTraffic(scenario.name.clone()));
        }
        let mut rows = Vec::new();
        for (variant, control) in variants(scenario, control) {
            progress
                .stage(&variant.map_or(format!("building {name}"), |it| format!("building {name} for {it}")));
            let lab = self.deploy(scenario, name, &control, interrupt)?;
            let of_variant = lab.measure(scenario, progress, interrupt)?;
            rows.extend(of_variant.into_iter().map(|row| Row { variant: variant.map(str::to_owned), ..row }));
            progress.stage(&format!("removing {name}"));
            lab.destroy()?;
        }
        progress.done();
        Ok(Report::new(scenario, rows))
    }
}

/// How the controller is run, and what that is called; once as it is if there is nothing to compare.
fn variants<'a>(scenario: &'a Scenario, control: &Control) -> Vec<(Option<&'a str>, Control)> {
    let variants = scenario.variants.iter();
    let all: Vec<_> = variants.map(|it| (Some(&*it.name), control.with_options(&it.controller))).collect();
    if all.is_empty() { vec![(None, control.clone())] } else { all }
}

impl Deployment {
    /// Runs all traffic of `scenario`, of which this is the lab, one transfer after the other.
    ///
    /// # Errors
    ///
    /// [`LabError::NoTraffic`], [`LabError::Traffic`] if a transfer did not take place as it was meant to, or
    /// [`LabError::Interrupted`]; processes may then be left, which go with the lab.
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
        for transfer in transfers(self, scenario, traffic) {
            if !rows.is_empty() && !scenario.events.is_empty() {
                // What the events did to the links is undone, but the controller may not know them all again.
                ready::wait(self, scenario, interrupt)?;
            }
            rows.push(transfer.run(rows.len(), progress, interrupt)?);
        }
        Ok(rows)
    }
}

/// Every direction in every mode, the modes outermost as in the table.
fn transfers<'a>(
    lab: &'a Deployment,
    scenario: &'a Scenario,
    traffic: &'a Traffic,
) -> impl Iterator<Item = Transfer<'a>> {
    let modes = traffic.modes.iter();
    modes.flat_map(move |mode| {
        let directions = traffic.directions.iter();
        directions.map(move |direction| Transfer::new(lab, scenario, traffic, *mode, direction))
    })
}
