//! Expectations of a study: agreement with a paper's figures, and bounds on values.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use braid_types::{choice_schema, with_schema};

use super::{Cell, Row, text};
use crate::report::Verdict;

/// What must hold for a study.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    /// For people.
    pub name: String,
    /// What is looked at.
    pub subject: Subject,
    /// It lies at or above.
    pub at_least: f64,
}

/// What an expectation looks at.
#[derive(Clone, PartialEq, Debug)]
pub enum Subject {
    /// The share of the cells with a figure of a paper that lie within so many points of it.
    WithinPoints(f64),
    /// The same, with throughputs relative to the interfaces' rate.
    WithinPointsOfRate(f64),
    /// Of the pairs of methods for which a paper has figures that are more than so many points apart, with the same traffic
    /// and number of subflows, the share for which the same one has more.
    SameOrder(f64),
    /// A value of a cell, or over that of another.
    Value {
        /// Which value.
        value: Value,
        /// Of which.
        of: Subjected,
        /// Over which.
        relative_to: Option<Subjected>,
    },
}

/// A cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subjected {
    /// Its method.
    pub method: String,
    /// Its traffic.
    pub pattern: String,
    /// Its subflows.
    pub subflows: usize,
}

/// A value of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// The mean of all transfers, of the optimum.
    Mean,
    /// The mean over the seeds of the slowest transfer, of the optimum.
    Worst,
    /// The mean of all transfers, in bits a second.
    Goodput,
}

/// As it is written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    name: String,
    within_points: Option<f64>,
    within_points_of_rate: Option<f64>,
    same_order: Option<f64>,
    value: Option<Value>,
    method: Option<String>,
    pattern: Option<String>,
    subflows: Option<usize>,
    relative_to: Option<String>,
    /// Those of the other method, if they are not as many.
    relative_subflows: Option<usize>,
    at_least: f64,
}

with_schema!(Value, choice_schema(["mean", "worst", "goodput"]));

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer)
    }
}

impl FromStr for Value {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mean" => Ok(Self::Mean),
            "worst" => Ok(Self::Worst),
            "goodput" => Ok(Self::Goodput),
            _ => Err(format!("{text:?} is neither mean nor worst nor goodput")),
        }
    }
}

impl Expect {
    /// What it means among these cells, or what is wrong with it.
    pub(super) fn check(self, cells: &[Cell]) -> Result<Expectation, String> {
        let Self { name, value, method, pattern, subflows, .. } = &self;
        let figures = (self.within_points, self.within_points_of_rate, self.same_order);
        let subject = match (figures, value, method, pattern, subflows) {
            ((Some(points), None, None), None, ..) => Subject::WithinPoints(points),
            ((None, Some(points), None), None, ..) => Subject::WithinPointsOfRate(points),
            ((None, None, Some(points)), None, ..) => Subject::SameOrder(points),
            ((None, None, None), Some(value), Some(method), Some(pattern), Some(subflows)) => {
                let cell = |method: &String, subflows: usize| {
                    Subjected { method: method.clone(), pattern: pattern.clone(), subflows }.among(cells)
                };
                let others = self.relative_subflows.unwrap_or(*subflows);
                let relative_to = self.relative_to.as_ref().map(|method| cell(method, others));
                let known = |error| format!("{name}: {error}");
                let of = cell(method, *subflows).map_err(known)?;
                Subject::Value { value: *value, of, relative_to: relative_to.transpose().map_err(known)? }
            }
            _ => {
                return Err(format!(
                    "{name}: give either within_points, or within_points_of_rate, or same_order, or value, method, pattern and subflows"
                ));
            }
        };
        Ok(Expectation { name: self.name, subject, at_least: self.at_least })
    }
}

impl Subjected {
    fn among(self, cells: &[Cell]) -> Result<Self, String> {
        let is_it = |cell: &Cell| {
            let experiment = &cell.experiment;
            let traffic = experiment.pattern.to_string() == self.pattern;
            cell.method == self.method && traffic && experiment.subflows == self.subflows
        };
        let Self { method, pattern, subflows } = &self;
        match cells.iter().any(is_it) {
            true => Ok(self),
            false => Err(format!("{method} is not run with {pattern} traffic and {subflows} subflows")),
        }
    }

    fn is(&self, row: &Row) -> bool {
        row.method == self.method && row.pattern == self.pattern && row.subflows == self.subflows
    }
}

impl Expectation {
    /// Whether it holds for what was measured.
    pub(super) fn verdict(&self, rows: &[Row]) -> Verdict {
        let value = match &self.subject {
            Subject::WithinPoints(points) => within_points(rows, *points, |row| row.mean),
            Subject::WithinPointsOfRate(points) => within_points(rows, *points, |row| row.mean_of_rate),
            Subject::SameOrder(points) => same_order(rows, *points),
            Subject::Value { value, of, relative_to } => {
                let find =
                    |it: &Subjected| rows.iter().find(|row| it.is(row)).map_or(0.0, |row| row.value(*value));
                find(of) / relative_to.as_ref().map_or(1.0, find)
            }
        };
        Verdict::at_least(&self.name, value, self.at_least)
    }
}

fn within_points(rows: &[Row], points: f64, of: fn(&Row) -> f64) -> f64 {
    let off = rows.iter().filter_map(|row| Some((of(row) - row.paper?).abs() * 100.0));
    share(off.map(|off| off <= points))
}

fn same_order(rows: &[Row], points: f64) -> f64 {
    let others =
        rows.iter().enumerate().flat_map(|(at, one)| rows.iter().skip(at + 1).map(move |it| (one, it)));
    let beside = others.filter(|(one, it)| one.pattern == it.pattern && one.subflows == it.subflows);
    let pairs = beside.filter_map(|(one, it)| Some((one.paper? - it.paper?, one.mean - it.mean)));
    share(pairs.filter(|(paper, _)| paper.abs() * 100.0 > points).map(|(paper, here)| paper * here > 0.0))
}

/// The share of those that are true; of none, nothing.
fn share(all: impl Iterator<Item = bool>) -> f64 {
    let (count, good) = all.fold((0, 0), |(count, good), it| (count + 1, good + i32::from(it)));
    f64::from(good) / f64::from(count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: &str, subflows: usize, mean: f64, paper: Option<f64>) -> Row {
        Row {
            method: method.to_owned(),
            scheme: String::new(),
            network: String::new(),
            pattern: "permutation".to_owned(),
            subflows,
            control: String::new(),
            runs: 1,
            mean,
            confidence: None,
            mean_of_rate: mean / 2.0,
            worst: mean / 2.0,
            goodput: mean * 1e8,
            ranked: vec![mean],
            paper,
        }
    }

    fn value(subject: Subject, rows: &[Row]) -> f64 {
        Expectation { name: String::new(), subject, at_least: 0.0 }.verdict(rows).value
    }

    #[test]
    fn order_counts_where_the_paper_has_one() {
        let rows = [
            row("A", 1, 0.50, Some(0.60)),
            row("B", 1, 0.55, Some(0.50)),
            row("C", 1, 0.40, Some(0.595)),
            row("D", 1, 0.99, None),
            row("A", 2, 0.90, Some(0.90)),
            row("B", 2, 0.80, Some(0.70)),
        ];
        // A over B is not so here with one subflow and is with two; C over B is not; A and C are too close.
        assert_eq!(value(Subject::SameOrder(1.0), &rows), 1.0 / 3.0);
        assert_eq!(value(Subject::WithinPoints(6.0), &rows), 2.0 / 5.0);
        assert_eq!(value(Subject::WithinPointsOfRate(6.0), &rows), 0.0);
        assert_eq!(value(Subject::SameOrder(50.0), &rows), 0.0);
    }

    #[test]
    fn values_of_cells_with_other_numbers_of_subflows_are_compared() {
        let rows = [row("A", 1, 0.5, None), row("B", 2, 0.75, None)];
        let cell = |method: &str, subflows| Subjected {
            method: method.to_owned(),
            pattern: "permutation".to_owned(),
            subflows,
        };
        for what in [Value::Mean, Value::Worst, Value::Goodput] {
            let subject = Subject::Value { value: what, of: cell("B", 2), relative_to: Some(cell("A", 1)) };
            assert!((value(subject, &rows) - 1.5).abs() < 1e-9);
        }
    }
}
