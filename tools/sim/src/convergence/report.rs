//! The report of a convergence study: shares, rates and time to settle by congestion control.

use serde::{Deserialize, Serialize};

use super::{Outcome, Study};
use crate::Control;
use crate::report::{Cost, Report, Verdict};
use crate::statistics::{confidence, mean};

/// The results of the runs with one control.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The congestion control.
    pub control: String,
    /// Whether the host closed the subflows that the controller did not name.
    pub advised: bool,
    /// The number of runs, including cancelled ones.
    pub runs: usize,
    /// The received data as a part of the paths' capacity; headers count as lost.
    pub fraction_of_capacity: f64,
    /// The share of the bytes on the paths that it should use, after the time to settle.
    pub kept: f64,
    /// Half the width of its 95 % confidence interval; `None` with one run.
    pub confidence: Option<f64>,
    /// Seconds until that share reached 90 % for good: the mean of the runs, `None` if one of them never did.
    pub converged_after: Option<f64>,
    /// The paths' names.
    pub paths: Vec<String>,
    /// By path, the mean rate of data in bits a second, after the time to settle.
    pub rates: Vec<f64>,
    /// Seconds between the samples of `series`.
    pub interval: f64,
    /// The first run: by sample, then by path, bits a second.
    pub series: Vec<Vec<f64>>,
}

impl Row {
    /// The name in tables.
    pub(super) fn label(&self) -> String {
        if self.advised { format!("{} advised", self.control) } else { self.control.clone() }
    }
}

/// The results with each control; the outcomes are ordered by control and seed.
pub(super) fn report(study: &Study, outcomes: &[Option<Outcome>]) -> Report<Row> {
    let by_setting = study.settings().into_iter().zip(outcomes.chunks(study.seeds.max(1) as usize));
    let rows = by_setting
        .map(|(setting, outcomes)| row(study, setting, &outcomes.iter().flatten().collect::<Vec<_>>()));
    let rows: Vec<_> = rows.collect();
    let verdicts = study.expect.iter().map(|expect| {
        let is_it = |row: &&Row| row.control == expect.control.name() && row.advised == expect.advised;
        let row = rows.iter().find(is_it);
        Verdict::at_least(&expect.name, row.map_or(0.0, |row| row.kept), expect.at_least)
    });
    let verdicts = verdicts.collect();
    let complete = outcomes.iter().all(|it| it.as_ref().is_some_and(|outcome| outcome.completed));
    let mut cost = Cost::default();
    outcomes.iter().flatten().for_each(|outcome| cost.add(outcome.events, outcome.elapsed));
    Report::new(&study.name, rows, verdicts, complete, cost)
}

fn row(study: &Study, (control, advised): (Control, bool), outcomes: &[&Outcome]) -> Row {
    let means: Vec<_> = outcomes.iter().map(|outcome| outcome.means()).collect();
    let rates: Vec<_> = (0..study.paths.len())
        .map(|path| mean(&means.iter().filter_map(|it| it.get(path).copied()).collect::<Vec<_>>()))
        .collect();
    let shares: Vec<_> = outcomes.iter().map(|outcome| outcome.share_of(&study.kept)).collect();
    let interval = study.sample.as_secs_f64();
    let converged: Option<Vec<_>> =
        outcomes.iter().map(|it| Some(it.converged_after(&study.kept, 0.9)? as f64 * interval)).collect();
    Row {
        control: control.to_string(),
        advised,
        runs: outcomes.len(),
        fraction_of_capacity: rates.iter().sum::<f64>() / study.capacity,
        kept: mean(&shares),
        confidence: confidence(&shares),
        converged_after: converged.filter(|it| !it.is_empty()).map(|it| mean(&it)),
        paths: study.paths.iter().map(|(name, _)| name.clone()).collect(),
        rates,
        interval,
        series: outcomes.first().map(|it| it.rates.clone()).unwrap_or_default(),
    }
}
