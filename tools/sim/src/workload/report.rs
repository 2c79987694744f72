//! The report of a workload study: flow completion times of short, large and all flows.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Expectation, Figure, Flow, Kind, Outcome, Study};
use crate::report::{Cost, Report, Verdict};
use crate::statistics::{confidence, mean, quantile};

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
    /// Half the width of the 95 % confidence interval of the 99th percentile, from that of each run; `None` with one run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_confidence: Option<f64>,
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

    /// Of the flows that are counted, of all runs.
    fn of(runs: &[Option<Outcome>], is_counted: impl Fn(&Flow) -> bool) -> Self {
        let runs = runs.iter().flatten().map(|run| run.flows.iter().filter(|flow| is_counted(flow)));
        let runs: Vec<Vec<_>> = runs.map(|flows| flows.map(|flow| flow.took).collect()).collect();
        let all = || runs.iter().flatten();
        let took = sorted(all());
        let ended = runs.iter().map(sorted).filter(|run| !run.is_empty());
        let slowest: Vec<_> = ended.map(|run| quantile(&run, 0.99)).collect();
        Self {
            flows: all().count(),
            unfinished: all().count() - took.len(),
            mean: mean(&took),
            median: quantile(&took, 0.5),
            p95: quantile(&took, 0.95),
            p99: quantile(&took, 0.99),
            p99_confidence: confidence(&slowest),
        }
    }
}

/// The seconds of those that have ended, in order.
fn sorted<'a>(took: impl IntoIterator<Item = &'a Option<Duration>>) -> Vec<f64> {
    let mut seconds: Vec<_> = took.into_iter().flatten().map(Duration::as_secs_f64).collect();
    seconds.sort_by(f64::total_cmp);
    seconds
}

/// What the runs of all cells showed; the outcomes come by cell and seed.
pub(super) fn report(study: &Study, outcomes: &[Option<Outcome>]) -> Report<Row> {
    let rows: Vec<_> = study
        .cells
        .iter()
        .zip(outcomes.chunks(study.seeds.max(1) as usize))
        .map(|(cell, outcomes)| {
            let workload = &cell.workload;
            Row {
                method: cell.method.clone(),
                sizes: workload.sizes.to_string(),
                load: workload.load,
                small_scheme: workload.small.scheme.to_string(),
                large_scheme: workload.large.scheme.to_string(),
                large_subflows: workload.large.subflows,
                runs: outcomes.iter().flatten().count(),
                short: Class::of(outcomes, |flow| flow.bytes <= study.short),
                large: Class::of(outcomes, |flow| flow.bytes > workload.threshold),
                all: Class::of(outcomes, |_| true),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn run(millis: &[u64]) -> Option<Outcome> {
        let flow = |it: &u64| Flow { bytes: *it, took: Some(Duration::from_millis(*it)) };
        let flows = millis.iter().map(flow).collect();
        Some(Outcome { seed: 1, flows, events: 0, elapsed: Duration::ZERO, completed: true })
    }

    #[test]
    fn the_interval_is_that_of_the_runs_which_have_such_flows() {
        let of = |runs: &[Option<Outcome>]| Class::of(runs, |flow| flow.bytes >= 100);
        let two = of(&[run(&[100, 120]), run(&[140, 1]), run(&[2]), None]);
        assert_eq!((two.flows, two.p99), (3, 0.14));
        // t of one degree of freedom times the standard error of 0.12 and 0.14.
        assert!((two.p99_confidence.unwrap() - 12.706 * 0.01).abs() < 1e-9, "{two:?}");
        assert_eq!((of(&[run(&[100])]).p99_confidence, of(&[]).p99_confidence), (None, None));
    }
}
