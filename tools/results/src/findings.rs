//! The records of a store summarised: figures beside the papers', settings, and verdicts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use braid_lab::scenario::Scenario;
use braid_lab::{Report, RequestRow, Row};

use crate::error::ResultsError;
use crate::plan::{Figure, Plan, Run};
use crate::record::{Outcome, Record};
use crate::source::Source;
use crate::statistics::Statistics;
use crate::store::Store;

/// Everything of a plan that a store has.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// By the name of a run.
    pub runs: BTreeMap<String, RunFindings>,
}

/// The records of one run.
#[derive(Clone, PartialEq, Debug)]
pub struct RunFindings {
    /// By number.
    pub records: Vec<Record>,
    /// The scenario, or `None` for a study.
    pub scenario: Option<Box<Scenario>>,
    /// The paper's figures.
    pub figures: Vec<FigureRow>,
    /// Every setting of a scenario.
    pub settings: Vec<SettingRow>,
    /// Every expectation.
    pub verdicts: Vec<VerdictRow>,
}

/// A figure of a paper, and the values that stand for it.
#[derive(Clone, PartialEq, Debug)]
pub struct FigureRow {
    /// The figure.
    pub figure: Figure,
    /// `None` if nothing was measured, or not every repetition has a value.
    pub values: Option<Statistics>,
}

/// A setting of a scenario, over all repetitions.
#[derive(Clone, PartialEq, Debug)]
pub struct SettingRow {
    /// The variant, profile, congestion control, mode, tool, direction and number of streams.
    pub name: String,
    /// The name without the number of streams.
    pub line: String,
    /// The number of parallel connections.
    pub streams: u16,
    /// Goodput in bits a second; over all directions if there are many.
    pub goodput: Option<Statistics>,
    /// Goodput over the maximum flow.
    pub share: Option<Statistics>,
    /// Core-seconds for each Gbit, if that was measured.
    pub core_seconds: Option<Statistics>,
    /// The most memory that sockets held, in bytes, if that was measured.
    pub socket_bytes: Option<Statistics>,
    /// In how many milliseconds 99 % of the requests were answered, the slowest kind of them, while nothing else was sent, and
    /// meanwhile; if there were any.
    pub answers_ms: [Option<Statistics>; 2],
}

/// An expectation, over all repetitions.
#[derive(Clone, PartialEq, Debug)]
pub struct VerdictRow {
    /// Its name.
    pub name: String,
    /// The values.
    pub values: Option<Statistics>,
    /// Whether the limit is a lower one.
    pub at_least: bool,
    /// The limit.
    pub limit: f64,
    /// Repetitions in which it holds.
    pub met: usize,
    /// Repetitions.
    pub of: usize,
}

impl VerdictRow {
    /// Whether it holds in every repetition.
    pub fn is_met(&self) -> bool {
        self.of > 0 && self.met == self.of
    }
}

/// Directions that are shown separately.
const MAX_SEPARATE_DIRECTIONS: usize = 8;

impl<'a> Findings<'a> {
    /// What `store` has of `plan`; scenarios are read from a folder.
    ///
    /// # Errors
    ///
    /// [`ResultsError`] of a file that cannot be read.
    pub fn load(plan: &'a Plan, store: &Store, scenarios: &Path) -> Result<Self, ResultsError> {
        let mut runs = BTreeMap::new();
        for run in plan.runs() {
            let job = plan.job(run);
            let (source, digest) = Source::load(&job, scenarios)?;
            let mut records = store.all(&job.name)?;
            // What was measured of another scenario says nothing about this one.
            records.retain(|record| record.digest == digest);
            runs.insert(job.name, RunFindings::new(run, source, records));
        }
        Ok(Self { plan, runs })
    }

    /// All records.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.runs.values().flat_map(|run| &run.records)
    }
}

impl RunFindings {
    fn new(run: &Run, source: Source, records: Vec<Record>) -> Self {
        let scenario = match source {
            Source::Lab(scenario) => Some(scenario),
            Source::Study(_) => None,
        };
        let reports: Vec<_> = records.iter().filter_map(lab_report).collect();
        let figures = run.figures.iter().map(|it| figure(it, scenario.as_deref(), &reports)).collect();
        let (settings, verdicts) = (settings(&reports), verdicts(&records));
        Self { records, scenario, figures, settings, verdicts }
    }

    /// The errors of repetitions that failed.
    pub fn failures(&self) -> impl Iterator<Item = &str> {
        self.records.iter().filter_map(|record| match &record.outcome {
            Outcome::Failed(why) => Some(why.as_str()),
            _ => None,
        })
    }
}

pub(crate) fn lab_report(record: &Record) -> Option<&Report> {
    match &record.outcome {
        Outcome::Lab(report) => Some(report),
        _ => None,
    }
}

fn figure(figure: &Figure, scenario: Option<&Scenario>, reports: &[&Report]) -> FigureRow {
    let expectation = figure.expectation();
    let values: Vec<_> = scenario
        .map(|it| reports.iter().map(|report| report.judge(it, &expectation).value).collect())
        .unwrap_or_default();
    FigureRow { figure: figure.clone(), values: Statistics::of(&values) }
}

/// The names of a setting in the order of the report.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    order: usize,
    line: String,
    streams: u16,
}

fn settings(reports: &[&Report]) -> Vec<SettingRow> {
    let mut groups: BTreeMap<Key, Vec<Vec<&Row>>> = BTreeMap::new();
    for (repetition, report) in reports.iter().enumerate() {
        let directions: BTreeSet<_> = report.rows.iter().map(|row| &row.direction).collect();
        let together = directions.len() > MAX_SEPARATE_DIRECTIONS;
        let mut lines: Vec<String> = Vec::new();
        for row in &report.rows {
            let line = line(row, together, directions.len() > 1);
            let order = lines.iter().position(|it| *it == line).unwrap_or_else(|| {
                lines.push(line.clone());
                lines.len() - 1
            });
            let values = groups.entry(Key { order, line, streams: row.connections }).or_default();
            values.resize(values.len().max(repetition + 1), Vec::new());
            if let Some(values) = values.get_mut(repetition) {
                values.push(row);
            }
        }
    }
    groups.into_iter().map(|(key, values)| setting(key, &values)).collect()
}

fn line(row: &Row, together: bool, several: bool) -> String {
    let lab = [&row.variant, &row.profile, &row.congestion_control].into_iter().flatten().cloned();
    let what = row.work.map_or_else(|| row.mode.to_string(), |work| format!("{} {work}", row.mode));
    let direction = format!("{} to {}", row.direction.from, row.direction.to);
    let direction = (several && !together).then_some(direction);
    lab.chain([what]).chain(direction).collect::<Vec<_>>().join(", ")
}

fn setting(Key { line, streams, .. }: Key, values: &[Vec<&Row>]) -> SettingRow {
    // A repetition counts by the mean of its directions.
    let mean = |of: fn(&Row) -> f64| {
        let measured = values.iter().filter(|it| !it.is_empty());
        let means = measured.map(|it| it.iter().map(|row| of(row)).sum::<f64>() / it.len() as f64);
        Statistics::of(&means.collect::<Vec<_>>())
    };
    let name = if streams > 1 { format!("{line}, {streams} streams") } else { line.clone() };
    SettingRow {
        name,
        line,
        streams,
        goodput: mean(|row| row.goodput_bps),
        share: mean(|row| row.fraction_of_capacity),
        core_seconds: mean(|row| row.cost.map_or(f64::NAN, |it| it.core_seconds_per_gbit)),
        socket_bytes: mean(|row| row.cost.map_or(f64::NAN, |it| it.socket_bytes as f64)),
        answers_ms: [
            mean(|row| slowest(row, |it| it.idle.p99_ms)),
            mean(|row| slowest(row, |it| it.loaded.p99_ms)),
        ],
    }
}

/// Of all requests beside a transfer; NaN without any.
fn slowest(row: &Row, of: fn(&RequestRow) -> f64) -> f64 {
    row.requests.iter().map(of).fold(f64::NAN, f64::max)
}

fn verdicts(records: &[Record]) -> Vec<VerdictRow> {
    let mut rows: Vec<(VerdictRow, Vec<f64>)> = Vec::new();
    for verdict in records.iter().flat_map(|record| record.outcome.verdicts()) {
        let found = rows.iter().position(|(row, _)| row.name == verdict.name);
        let place = found.unwrap_or_else(|| {
            let (name, at_least, limit) = (verdict.name.clone(), verdict.at_least, verdict.limit);
            let row = VerdictRow { name, values: None, at_least, limit, met: 0, of: records.len() };
            rows.push((row, Vec::new()));
            rows.len() - 1
        });
        if let Some((row, values)) = rows.get_mut(place) {
            row.met += usize::from(verdict.ok);
            values.push(verdict.value);
        }
    }
    rows.into_iter().map(|(row, values)| VerdictRow { values: Statistics::of(&values), ..row }).collect()
}
