use serde::Serialize;

use super::{Cell, Expectation, Study, Subject, Value};
use crate::experiment::Outcome;

/// What a study showed. Serialised, it is the one document of `--json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Always `braid/v1`.
    pub schema: &'static str,
    /// The study's name.
    pub scenario: String,
    /// One for each experiment.
    pub rows: Vec<Row>,
    /// One for each expectation.
    pub expectations: Vec<Verdict>,
    /// Whether all of them hold, and nothing was left out.
    pub ok: bool,
    /// Whether all runs were made to their end.
    pub complete: bool,
    /// Events of all runs.
    pub events: u64,
    /// Seconds that all runs took, one after the other.
    pub seconds: f64,
}

/// What the runs of one experiment showed. Throughputs are of the optimum: what the hosts' interfaces carry of data.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The name of the way to choose paths.
    pub method: String,
    /// The same, in full.
    pub scheme: String,
    /// The traffic.
    pub pattern: String,
    /// Subflows for each pair of interfaces.
    pub subflows: usize,
    /// The congestion control.
    pub control: String,
    /// Runs that were made, to their end or not.
    pub runs: usize,
    /// The mean throughput of all transfers and runs.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval; nothing with one run.
    pub confidence: Option<f64>,
    /// The mean over the runs of the slowest transfer's.
    pub worst: f64,
    /// The transfers from the slowest to the fastest, each place the mean over the runs.
    pub ranked: Vec<f64>,
    /// The mean that a paper reports.
    pub paper: Option<f64>,
}

/// Whether an expectation holds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict {
    /// The expectation's name.
    pub name: String,
    /// What was measured.
    pub value: f64,
    /// It had to lie at or above.
    pub at_least: f64,
    /// Whether it does.
    pub ok: bool,
}

impl Report {
    /// Puts together what the runs of each cell showed.
    pub(super) fn new(study: &Study, outcomes: &[Vec<Outcome>]) -> Self {
        let rows: Vec<_> =
            study.cells.iter().zip(outcomes).map(|(cell, outcomes)| Row::new(cell, outcomes)).collect();
        let whole = |outcomes: &Vec<Outcome>| {
            outcomes.len() as u64 == study.seeds && outcomes.iter().all(|outcome| outcome.completed >= 1.0)
        };
        let complete = outcomes.iter().all(whole);
        let expectations: Vec<_> = study.expect.iter().map(|expect| verdict(expect, &rows)).collect();
        Self {
            schema: "braid/v1",
            scenario: study.name.clone(),
            ok: complete && expectations.iter().all(|verdict| verdict.ok),
            rows,
            expectations,
            complete,
            events: outcomes.iter().flatten().map(|outcome| outcome.events).sum(),
            seconds: outcomes.iter().flatten().map(|outcome| outcome.elapsed.as_secs_f64()).sum(),
        }
    }
}

impl Row {
    fn new(cell: &Cell, outcomes: &[Outcome]) -> Self {
        let means: Vec<_> = outcomes.iter().map(Outcome::mean).collect();
        let ranked = rank(outcomes);
        Self {
            method: cell.method.clone(),
            scheme: cell.experiment.scheme.to_string(),
            pattern: cell.experiment.pattern.to_string(),
            subflows: cell.experiment.subflows,
            control: cell.experiment.control.to_string(),
            runs: outcomes.len(),
            mean: mean(&means),
            confidence: confidence(&means),
            worst: ranked.first().copied().unwrap_or(0.0),
            ranked,
            paper: cell.paper,
        }
    }

    const fn value(&self, value: Value) -> f64 {
        match value {
            Value::Mean => self.mean,
            Value::Worst => self.worst,
        }
    }
}

fn rank(outcomes: &[Outcome]) -> Vec<f64> {
    let all: Vec<_> = outcomes.iter().map(Outcome::ranked).collect();
    let places = all.iter().map(Vec::len).min().unwrap_or(0);
    (0..places).map(|place| mean(&all.iter().map(|ranked| ranked[place]).collect::<Vec<_>>())).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Student's t for 95 % with this many degrees of freedom, within 1 % for more than two.
fn confidence(values: &[f64]) -> Option<f64> {
    let freedom = values.len().checked_sub(2)? as f64 + 1.0;
    let mean = mean(values);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom;
    let t = match freedom as u64 {
        1 => 12.706,
        2 => 4.303,
        _ => 1.96 + 2.372 / freedom + 2.823 / freedom.powi(2) + 2.556 / freedom.powi(3),
    };
    Some(t * (variance / values.len() as f64).sqrt())
}

fn verdict(expect: &Expectation, rows: &[Row]) -> Verdict {
    let value = match &expect.subject {
        Subject::WithinPoints(points) => {
            let papers: Vec<_> =
                rows.iter().filter_map(|row| Some((row.mean - row.paper?).abs() * 100.0)).collect();
            papers.iter().filter(|off| *off <= points).count() as f64 / papers.len().max(1) as f64
        }
        Subject::Value { value, method, relative_to, pattern, subflows } => {
            let pattern = pattern.to_string();
            let of = |method: &String| {
                let row = rows
                    .iter()
                    .find(|row| row.method == *method && row.pattern == pattern && row.subflows == *subflows);
                row.map_or(0.0, |row| row.value(*value))
            };
            of(method) / relative_to.as_ref().map_or(1.0, of)
        }
    };
    Verdict { name: expect.name.clone(), value, at_least: expect.at_least, ok: value >= expect.at_least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_follows_students_t() {
        // Tables give 4.303, 3.182, 2.262 and 2.045 for 2, 3, 9 and 29 degrees of freedom.
        for (count, t) in [(3, 4.303), (4, 3.182), (10, 2.262), (30, 2.045)] {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            let mean = mean(&values);
            let deviation =
                (values.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / f64::from(count - 1)).sqrt();
            let expected = t * deviation / f64::from(count).sqrt();
            assert!((confidence(&values).unwrap() / expected - 1.0).abs() < 0.01, "{count}");
        }
        assert_eq!((confidence(&[]), confidence(&[1.0])), (None, None));
    }
}
