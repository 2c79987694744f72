//! The report of a transfer study: throughputs by method, network and traffic.

use serde::{Deserialize, Serialize};

use super::{Cell, Study, Value};
use crate::experiment::Outcome;
use crate::report::{Cost, Report};
use crate::statistics::{confidence, mean};

/// What the runs of one experiment showed. Throughputs are of the optimum: what the hosts' interfaces carry of data.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The name of the way to choose paths.
    pub method: String,
    /// The same, in full.
    pub scheme: String,
    /// The network; one that is drawn at random has another seed in each run.
    pub network: String,
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
    /// The same of the interfaces' rate, as papers normalise: headers count as lost.
    pub mean_of_rate: f64,
    /// Half the width of its 95 % confidence interval; nothing with one run.
    pub confidence: Option<f64>,
    /// The mean over the runs of the slowest transfer's.
    pub worst: f64,
    /// The mean throughput of all transfers and runs in bits a second, without headers.
    pub goodput: f64,
    /// The transfers from the slowest to the fastest, each place the mean over the runs.
    pub ranked: Vec<f64>,
    /// The mean that a paper reports.
    pub paper: Option<f64>,
}

impl Row {
    fn new(cell: &Cell, outcomes: &[Outcome]) -> Self {
        let means: Vec<_> = outcomes.iter().map(Outcome::mean).collect();
        let ranked = rank(outcomes);
        Self {
            method: cell.method.clone(),
            scheme: cell.experiment.scheme.to_string(),
            network: cell.experiment.network.to_string(),
            pattern: cell.experiment.pattern.to_string(),
            subflows: cell.experiment.subflows,
            control: cell.experiment.control.to_string(),
            runs: outcomes.len(),
            mean: mean(&means),
            mean_of_rate: mean(&outcomes.iter().map(Outcome::mean_of_rate).collect::<Vec<_>>()),
            confidence: confidence(&means),
            worst: ranked.first().copied().unwrap_or(0.0),
            goodput: mean(&outcomes.iter().map(Outcome::goodput).collect::<Vec<_>>()),
            ranked,
            paper: cell.paper,
        }
    }

    pub(super) const fn value(&self, value: Value) -> f64 {
        match value {
            Value::Mean => self.mean,
            Value::Worst => self.worst,
            Value::Goodput => self.goodput,
        }
    }
}

fn rank(outcomes: &[Outcome]) -> Vec<f64> {
    let all: Vec<_> = outcomes.iter().map(Outcome::ranked).collect();
    let places = all.iter().map(Vec::len).min().unwrap_or(0);
    (0..places).map(|place| mean(&all.iter().map(|ranked| ranked[place]).collect::<Vec<_>>())).collect()
}

/// What the runs of each cell showed.
pub(super) fn report(study: &Study, outcomes: &[Vec<Outcome>]) -> Report<Row> {
    let rows: Vec<_> =
        study.cells.iter().zip(outcomes).map(|(cell, outcomes)| Row::new(cell, outcomes)).collect();
    let whole = |outcomes: &Vec<Outcome>| {
        outcomes.len() as u64 == study.seeds && outcomes.iter().all(|outcome| outcome.completed >= 1.0)
    };
    let verdicts = study.expect.iter().map(|expect| expect.verdict(&rows)).collect();
    let mut cost = Cost::default();
    outcomes.iter().flatten().for_each(|outcome| cost.add(outcome.events, outcome.elapsed));
    Report::new(&study.name, rows, verdicts, outcomes.iter().all(whole), cost)
}
