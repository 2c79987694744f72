//! What a scenario expects of what was measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::values::{Aggregate, Metric, Mode, Tool};

/// An expectation about settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// Its name.
    pub name: String,
    /// The value; for rates the mean of all runs.
    pub value: Metric,
    /// Selects settings of this mode.
    pub mode: Option<Mode>,
    /// Selects settings of this tool.
    pub tool: Option<Tool>,
    /// Selects settings of this length.
    pub bytes: Option<u64>,
    /// Selects settings of this variant.
    pub variant: Option<String>,
    /// Selects settings in which this host sends.
    pub from: Option<String>,
    /// The value is divided by that of this setting.
    pub relative_to: Option<Reference>,
    /// Whether the limit depends on the machine: where others take its processors, emulated links carry less.
    pub needs_quiet_machine: bool,
    /// Whether all settings must keep the limit, or one.
    pub of: Aggregate,
    /// As many profiles must keep the limit with each congestion control; `None` stands for all.
    pub profiles: Option<usize>,
    /// The limit of the value.
    pub limit: Limit,
}

/// The setting that a value is compared with. What it does not name is the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// Another variant, in the same mode if it has that.
    Variant(String),
    /// The greatest value of several variants, each as above.
    BestOf(Vec<String>),
    /// The same, or what is published if that is greater.
    BestKnown(BestKnown),
    /// The sum of the values of several variants, each as above.
    SumOf(Vec<String>),
    /// Another mode.
    Mode(Mode),
    /// The direction in which this host sends.
    Sender(String),
}

/// The best that others reach: measured in the same run, or published as a ratio to the best of some variants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestKnown {
    /// The variants that are the others.
    pub measured: Vec<String>,
    /// The greatest published ratio of each profile that has one.
    pub published: BTreeMap<String, f64>,
    /// The variants to the best of which the published ratios are.
    pub published_of: Vec<String>,
}

impl BestKnown {
    /// The best value with this profile, where `best_of` gives the greatest value of variants; `None` if it lacks one.
    pub(crate) fn value(
        &self,
        profile: Option<&str>,
        best_of: impl Fn(&[String]) -> Option<f64>,
    ) -> Option<f64> {
        let measured = best_of(&self.measured)?;
        let Some(ratio) = profile.and_then(|name| self.published.get(name)) else { return Some(measured) };
        Some(measured.max(ratio * best_of(&self.published_of)?))
    }
}

/// A limit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At or above.
    AtLeast(f64),
    /// At or below.
    AtMost(f64),
}

impl Limit {
    /// Whether `value` keeps the limit.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
        }
    }
}
