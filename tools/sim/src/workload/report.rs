//! The report of a workload study: flow completion times of short, large and all flows.

use serde::{Deserialize, Serialize};

use super::{Expectation, Figure, Flow, Kind, Outcome, Study};
use crate::report::{Cost, Report, Verdict};
use crate::statistics::{mean, quantile};

/// What the runs of one workload showed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The name of the way to carry flows.
    pub method: String,
    /// The distribution of sizes.
    pub sizes: String,
    /// The load of the hosts' interfaces.
    pub load: f64,
    /// Paths of flows that are not large.
    pub small_scheme: String,
    /// Paths of large flows, and how many subflows those have.
    pub large_scheme: String,
    /// Subflows of large flows.
    pub large_subflows: usize,
    /// Runs that were made, to their end or not.
    pub runs: usize,
    /// The short ones.
    pub short: Class,
    /// Those that are large.
    pub large: Class,
    /// All of them.
    pub all: Class,
}

/// How long flows of some sizes took, over all runs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Class {
    /// How many there were.
    pub flows: usize,
    /// How many of them had not ended ten times the measured time later; these are in no other figure.
    pub unfinished: usize,
    /// The mean, in seconds.
    pub mean: f64,
    /// The median, in seconds.
    pub median: f64,
    /// The 95th percentile, in seconds.
    pub p95: f64,
    /// The 99th percentile, in seconds.
    pub p99: f64,
}

impl Row {
    const fn class(&self, kind: Kind) -> &Class {
        match kind {
            Kind::Short => &self.short,
            Kind::Large => &self.large,
            Kind::All => &self.all,
        }
    }
}

impl Class {
    const fn figure(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Mean => self.mean,
            Figure::Median => self.median,
            Figure::P95 => self.p95,
            Figure::P99 => self.p99,
        }
    }

    fn of<'a>(flows: impl Iterator<Item = &'a Flow>) -> Self {
        let all: Vec<_> = flows.map(|flow| flow.took).collect();
        let mut took: Vec<_> = all.iter().flatten().map(std::time::Duration::as_secs_f64).collect();
        took.sort_by(f64::total_cmp);
        Self {
            flows: all.len(),
            unfinished: all.len() - took.len(),
            mean: mean(&took),
            median: quantile(&took, 0.5),
            p95: quantile(&took, 0.95),
            p99: quantile(&took, 0.99),
        }
    }
}

/// What the runs of all cells showed; the outcomes come by cell and seed.
pub(super) fn report(study: &Study, outcomes: &[Option<Outcome>]) -> Report<Row> {
    let rows: Vec<_> = study
        .cells
        .iter()
        .zip(outcomes.chunks(study.seeds.max(1) as usize))
        .map(|(cell, outcomes)| {
            let workload = &cell.workload;
            let flows = || outcomes.iter().flatten().flat_map(|outcome| &outcome.flows);
            Row {
                method: cell.method.clone(),
                sizes: workload.sizes.to_string(),
                load: workload.load,
                small_scheme: workload.small.scheme.to_string(),
                large_scheme: workload.large.scheme.to_string(),
                large_subflows: workload.large.subflows,
                runs: outcomes.iter().flatten().count(),
                short: Class::of(flows().filter(|flow| flow.bytes <= study.short)),
                large: Class::of(flows().filter(|flow| flow.bytes > workload.threshold)),
                all: Class::of(flows()),
            }
        })
        .collect();
    let verdict = |expect: &Expectation| {
        let of = |method: &String| {
            let row = rows.iter().find(|row| row.method == *method && (row.load - expect.load).abs() < 1e-9);
            row.map_or(f64::NAN, |row| row.class(expect.of).figure(expect.value))
        };
        Verdict::at_most(&expect.name, of(&expect.method) / of(&expect.relative_to), expect.at_most)
    };
    let verdicts = study.expect.iter().map(verdict).collect();
    let complete = outcomes.iter().all(|it| it.as_ref().is_some_and(|outcome| outcome.completed));
    let mut cost = Cost::default();
    outcomes.iter().flatten().for_each(|outcome| cost.add(outcome.events, outcome.elapsed));
    Report::new(&study.name, rows, verdicts, complete, cost)
}
