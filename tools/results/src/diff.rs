//! Two stores compared: medians of settings, and verdicts that changed.

use serde::Serialize;

use crate::findings::{Findings, RunFindings};

/// A setting or an expectation that both stores have.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// The run.
    pub run: String,
    /// The setting or the expectation.
    pub what: String,
    /// The median before.
    pub before: f64,
    /// The median after.
    pub after: f64,
    /// Whether the two ranges, from the least to the greatest value, have nothing in common.
    pub apart: bool,
    /// Of an expectation: whether it was met before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<[bool; 2]>,
}

impl Change {
    /// The change relative to before.
    pub fn relative(&self) -> f64 {
        self.after / self.before - 1.0
    }

    /// Whether an expectation was met, and is not any more.
    pub fn is_lost(&self) -> bool {
        self.met == Some([true, false])
    }
}

/// What both have, in the order of the page.
pub fn compare(before: &Findings<'_>, after: &Findings<'_>) -> Vec<Change> {
    let runs = after.plan.runs().map(crate::Run::name);
    let both = runs.filter_map(|name| Some((name, before.runs.get(name)?, after.runs.get(name)?)));
    both.flat_map(|(name, before, after)| changes(name, before, after)).collect()
}

fn changes(run: &str, before: &RunFindings, after: &RunFindings) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut add = |what: &str, values: [Option<crate::Statistics>; 2], met| {
        if let [Some(before), Some(after)] = values {
            let apart = before.max < after.min || after.max < before.min;
            let (run, what) = (run.to_owned(), what.to_owned());
            changes.push(Change { run, what, before: before.median, after: after.median, apart, met });
        }
    };
    for row in &after.settings {
        let other = before.settings.iter().find(|it| it.name == row.name);
        add(&row.name, [other.and_then(|it| it.goodput), row.goodput], None);
    }
    for row in &after.verdicts {
        if let Some(other) = before.verdicts.iter().find(|it| it.name == row.name) {
            add(&row.name, [other.values, row.values], Some([other.is_met(), row.is_met()]));
        }
    }
    changes
}
