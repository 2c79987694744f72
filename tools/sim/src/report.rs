//! The report of a study, of any kind: one document, with the expectations that were checked.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

/// The results of a study. Serialised, it is the one document of `--json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report<R> {
    /// Always `braid/v1`.
    #[serde(skip_deserializing, default = "schema")]
    pub schema: &'static str,
    /// The study's name.
    pub scenario: String,
    /// What was measured.
    pub rows: Vec<R>,
    /// One for each expectation.
    pub expectations: Vec<Verdict>,
    /// Whether all of them hold, and no run was cancelled.
    pub ok: bool,
    /// Whether all runs were made to their end.
    pub complete: bool,
    /// Events of all runs.
    pub events: u64,
    /// Seconds that all runs took, one after the other.
    pub seconds: f64,
}

/// Whether an expectation holds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// The expectation's name.
    pub name: String,
    /// What was measured; NaN, in JSON `null`, if nothing was.
    #[serde(deserialize_with = "nan_if_null")]
    pub value: f64,
    /// It had to lie at or above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// It had to lie at or below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Whether it does.
    pub ok: bool,
}

/// What runs took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Cost {
    events: u64,
    elapsed: Duration,
}

impl Cost {
    pub(crate) fn add(&mut self, events: u64, elapsed: Duration) {
        self.events += events;
        self.elapsed += elapsed;
    }
}

const fn schema() -> &'static str {
    "braid/v1"
}

/// JSON has no NaN.
fn nan_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

impl<R> Report<R> {
    pub(crate) fn new(
        name: &str,
        rows: Vec<R>,
        expectations: Vec<Verdict>,
        complete: bool,
        cost: Cost,
    ) -> Self {
        Self {
            schema: schema(),
            scenario: name.to_owned(),
            ok: complete && expectations.iter().all(|verdict| verdict.ok),
            rows,
            expectations,
            complete,
            events: cost.events,
            seconds: cost.elapsed.as_secs_f64(),
        }
    }
}

impl Verdict {
    /// On a value that must not be smaller.
    pub(crate) fn at_least(name: &str, value: f64, limit: f64) -> Self {
        Self { name: name.to_owned(), value, at_least: Some(limit), at_most: None, ok: value >= limit }
    }

    /// On a value that must not be larger.
    pub(crate) fn at_most(name: &str, value: f64, limit: f64) -> Self {
        Self { name: name.to_owned(), value, at_least: None, at_most: Some(limit), ok: value <= limit }
    }
}
