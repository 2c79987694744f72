//! The record of one repetition: what was run, where, beside what, and its outcome.

use std::collections::BTreeSet;
use std::fmt;

use braid_lab::Report;
use braid_sim::ReportKind;
use serde::{Deserialize, Serialize};

use crate::load::Load;
use crate::machine::{Machine, Provenance};
use crate::shorten::Shortening;

/// One repetition. Serialised, it is one file of a store.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Always `braid/v1`.
    pub schema: String,
    /// The name of the job.
    pub name: String,
    /// The number of the repetition, from 1.
    pub number: u16,
    /// A digest of the scenario or study, with its shortening.
    pub digest: String,
    /// What was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortening: Option<Shortening>,
    /// The commit and the time.
    pub made: Provenance,
    /// The machine.
    pub machine: Machine,
    /// The congestion controls.
    pub controls: BTreeSet<String>,
    /// What else ran on the machine.
    pub load: Load,
    /// How many attempts were made, because other load disturbed the ones before.
    pub attempts: u16,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of a repetition.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The report of a scenario.
    Lab(Box<Report>),
    /// The report of a study.
    Study(Box<ReportKind>),
    /// The run failed.
    Failed(String),
}

/// A verdict of either kind of report.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Judged {
    pub name: String,
    pub value: f64,
    pub at_least: bool,
    pub limit: f64,
    pub ok: bool,
    pub needs_quiet_machine: bool,
}

impl Record {
    /// Whether other load was beside it that may have changed its figures. A simulation has none of the machine's time in it.
    pub fn is_disturbed(&self) -> bool {
        self.load.is_disturbing() && !matches!(self.outcome, Outcome::Study(_))
    }
}

impl Outcome {
    /// The verdicts on its expectations, in their order.
    pub(crate) fn verdicts(&self) -> Vec<Judged> {
        match self {
            Self::Lab(report) => report.expectations.iter().map(of_lab).collect(),
            Self::Study(report) => report.expectations().iter().map(of_study).collect(),
            Self::Failed(_) => Vec::new(),
        }
    }
}

/// Its name, its value and its limit.
impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, limit, .. } = self;
        let bound = if self.at_least { "least" } else { "most" };
        write!(f, "{name} ({value:.3}, at {bound} {limit})")
    }
}

fn of_lab(it: &braid_lab::Verdict) -> Judged {
    let at_least = it.bound == braid_lab::Bound::AtLeast;
    Judged {
        name: it.name.clone(),
        value: it.value,
        at_least,
        limit: it.limit,
        ok: it.ok,
        needs_quiet_machine: it.needs_quiet_machine,
    }
}

fn of_study(it: &braid_sim::report::Verdict) -> Judged {
    let limit = it.at_least.or(it.at_most).unwrap_or(f64::NAN);
    Judged {
        name: it.name.clone(),
        value: it.value,
        at_least: it.at_least.is_some(),
        limit,
        ok: it.ok,
        needs_quiet_machine: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_told_with_its_value_and_limit() {
        let name = "the controller is sent nothing of joins".to_owned();
        let verdict =
            Judged { name, value: 2.0, at_least: false, limit: 0.0, ok: false, needs_quiet_machine: false };
        assert_eq!(verdict.to_string(), "the controller is sent nothing of joins (2.000, at most 0)");
    }
}
