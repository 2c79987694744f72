//! The report of a run: transfers, streams, captures, expectations; the document of `--json`.

mod rows;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Deserializer, Serialize};

use super::expect::{self, Whole};
use super::model::{self, ModelRow};
use super::profiles::{self, ProfileRow};
use super::table;
use crate::scenario::{Average, Expectation, Scenario};

pub(super) use rows::lab_title;
pub use rows::{
    CaptureRow, CostRow, Delivery, EventRow, HandshakeRow, Interval, LabRow, LeaderRow, MptcpUse, PathChange,
    Row, RowDirection, StreamRow,
};

/// The report of a run. Serialised, it is the document of `--json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Always `braid/v1`.
    #[serde(skip_deserializing, default = "schema")]
    pub schema: &'static str,
    /// The scenario's name.
    pub scenario: String,
    /// The cost of each variant's lab.
    pub labs: Vec<LabRow>,
    /// A row for each transfer.
    pub rows: Vec<Row>,
    /// What stands for the runs of a setting in tables and plots.
    #[serde(default, skip_serializing_if = "is_default")]
    pub average: Average,
    /// A row for each profile of the lines and each congestion control, if the scenario has profiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileRow>,
    /// The fitted stream model, if the scenario sends over single paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRow>,
    /// A verdict on each expectation.
    pub expectations: Vec<Verdict>,
    /// Whether all expectations hold that do not need a quiet machine.
    pub ok: bool,
}

/// The verdict on an expectation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// The expectation's name.
    pub name: String,
    /// The deciding value among the rows; NaN, in JSON `null`, if there is none.
    #[serde(deserialize_with = "nan_if_null")]
    pub value: f64,
    /// The side on which the limit lies.
    pub bound: Bound,
    /// The limit.
    pub limit: f64,
    /// Whether the expectation holds.
    pub ok: bool,
    /// Whether it decides only where nothing else ran on the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_quiet_machine: bool,
}

/// The side on which a limit lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The value is at or above the limit.
    AtLeast,
    /// The value is at or below the limit.
    AtMost,
}

fn is_default(average: &Average) -> bool {
    *average == Average::default()
}

fn schema() -> &'static str {
    crate::SCHEMA
}

/// JSON has no NaN.
fn nan_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

impl Report {
    pub(super) fn new(scenario: &Scenario, labs: Vec<LabRow>, rows: Vec<Row>) -> Self {
        let model = model::of(scenario, &rows);
        let whole = whole(scenario, model.as_ref());
        let expectations: Vec<_> = scenario.expect.iter().map(|it| expect::judge(it, &rows, whole)).collect();
        let ok = expectations.iter().all(|verdict| verdict.ok || verdict.needs_quiet_machine);
        Self {
            schema: crate::SCHEMA,
            scenario: scenario.name.clone(),
            labs,
            average: whole.average,
            profiles: profiles::of(scenario, &rows, whole),
            rows,
            model,
            expectations,
            ok,
        }
    }

    /// A verdict on another expectation of the same scenario.
    pub fn judge(&self, scenario: &Scenario, expectation: &Expectation) -> Verdict {
        expect::judge(expectation, &self.rows, whole(scenario, self.model.as_ref()))
    }

    /// The process's exit code: 0, or 5 if an expectation does not hold.
    pub fn exit_code(&self) -> u8 {
        if self.ok { 0 } else { 5 }
    }

    /// The report as text: a table of the rows, and a line for each expectation.
    pub fn to_text(&self) -> String {
        table::render(self)
    }
}

fn whole(scenario: &Scenario, model: Option<&ModelRow>) -> Whole {
    let warm_up = scenario.traffic.as_ref().map_or(0.0, |traffic| traffic.warm_up.as_secs_f64());
    let average = scenario.traffic.as_ref().map(|traffic| traffic.average).unwrap_or_default();
    Whole { capacity: total_capacity(scenario), warm_up, a: model.map_or(f64::NAN, |it| it.a), average }
}

/// The maximum flow from all senders to all receivers, in bits per second.
fn total_capacity(scenario: &Scenario) -> f64 {
    let directions = scenario.traffic.as_ref().map(|traffic| traffic.directions.as_slice());
    let (from, to): (Vec<_>, Vec<_>) = directions.into_iter().flatten().map(|it| (it.from, it.to)).unzip();
    scenario.topology.capacity_of_all(&from, &to).as_f64()
}
