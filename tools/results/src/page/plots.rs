//! The plots of the page.

use std::collections::BTreeMap;

use braid_lab::Report;
use braid_lab::plot::{self, Line, Series};

use crate::error::ResultsError;
use crate::findings::{RunFindings, lab_report};
use crate::plan::{Plot, Run};
use crate::record::Outcome;

/// Lines in a plot over time.
const MAX_LINES: usize = 8;

/// The plot of a run, as SVG, if it has one and was measured.
pub(super) fn draw(run: &Run, found: &RunFindings) -> Result<Option<String>, ResultsError> {
    let failed = |why: String| ResultsError::Plot { run: run.name().to_owned(), why };
    let lines = |axes: &Line<'_>, series: Vec<Series>| {
        if series.is_empty() {
            return Ok(None);
        }
        plot::lines(&run.title, axes, &series).map(Some).map_err(|error| failed(error.to_string()))
    };
    match run.plot {
        Plot::None => Ok(None),
        Plot::OverTime => {
            let first = found.records.iter().find_map(lab_report);
            lines(&Line::TIME, first.map(over_time).unwrap_or_default())
        }
        Plot::Profiles => {
            let first = found.records.iter().find_map(lab_report);
            first.map(|it| it.profiles_plot().map_err(|error| failed(error.to_string()))).transpose()
        }
        Plot::Streams => lines(&Line::STREAMS, streams(found)),
        Plot::Figures => lines(&Line { x: &run.x_axis, y: "Mbit/s" }, figures(found)),
        Plot::Study => {
            let study = found.records.iter().find_map(|record| match &record.outcome {
                Outcome::Study(report) => Some(report),
                _ => None,
            });
            study.map(|report| report.plot(None).map_err(failed)).transpose()
        }
    }
}

fn over_time(report: &Report) -> Vec<Series> {
    let rows = report.rows.iter().take(MAX_LINES);
    let series = rows.map(|row| Series {
        name: format!(
            "{}{}, {} to {}",
            row.variant.as_ref().map(|it| format!("{it}, ")).unwrap_or_default(),
            row.mode,
            row.direction.from,
            row.direction.to
        ),
        points: row.intervals.iter().map(|it| (it.end, it.bps / 1e6)).collect(),
    });
    series.collect()
}

fn streams(found: &RunFindings) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for row in &found.settings {
        let Some(goodput) = row.goodput else { continue };
        let point = (f64::from(row.streams), goodput.median / 1e6);
        match lines.iter_mut().find(|line| line.name == row.line) {
            Some(line) => line.points.push(point),
            None => lines.push(Series { name: row.line.clone(), points: vec![point] }),
        }
    }
    lines
}

fn figures(found: &RunFindings) -> Vec<Series> {
    let mut lines: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for row in &found.figures {
        if let (Some(x), Some(line), Some(values)) = (row.figure.x, &row.figure.line, row.values) {
            lines.entry(line).or_default().push((x, values.median / 1e6));
        }
    }
    lines.into_iter().map(|(name, points)| Series { name: name.to_owned(), points }).collect()
}
