//! The tables of the page.

use std::fmt::Write;

use braid_sim::ReportKind;
use braid_sim::convergence;
use braid_sim::report::Report;
use braid_sim::{study, workload};

use crate::findings::{Findings, RunFindings, SettingRow, VerdictRow};
use crate::plan::{Run, Unit};
use crate::record::Outcome;
use crate::statistics::Statistics;

/// What is not met, with the reasons.
pub(super) fn not_met(findings: &Findings<'_>) -> String {
    let mut rows = String::new();
    for chapter in &findings.plan.chapters {
        for run in &chapter.runs {
            let Some(found) = findings.runs.get(run.name()) else { continue };
            for verdict in found.verdicts.iter().filter(|it| !it.is_met()) {
                rows += &not_met_row(&chapter.title, run, verdict);
            }
            for why in found.failures() {
                let _ = writeln!(rows, "| {} | {} | | | | failed: {} |", chapter.title, run.title, cell(why));
            }
        }
    }
    if findings.records().next().is_none() {
        return String::new();
    }
    if rows.is_empty() {
        return "\n## Not met\n\nEvery expectation that was measured is met.\n".to_owned();
    }
    let heading = "| paper | run | expectation | limit | measured | reason |\n|---|---|---|---|---|---|\n";
    format!("\n## Not met\n\n{heading}{rows}")
}

fn not_met_row(chapter: &str, run: &Run, verdict: &VerdictRow) -> String {
    let VerdictRow { name, values, met, of, .. } = verdict;
    let (values, limit) = (values.map_or_else(|| "no value".to_owned(), plain), limit(verdict));
    let reason = run.reasons.get(name).map_or("not known", String::as_str);
    let (title, name, reason) = (&run.title, cell(name), cell(reason));
    format!("| {chapter} | {title} | {name} | {limit} | {values}; met in {met} of {of} | {reason} |\n")
}

/// The paper's figures.
pub(super) fn figures(found: &RunFindings) -> String {
    if found.figures.is_empty() {
        return String::new();
    }
    let mut text = "\n| | paper | here |\n|---|---|---|\n".to_owned();
    for row in &found.figures {
        let here = row.values.map_or_else(|| "not measured".to_owned(), |it| with_unit(it, row.figure.unit));
        let _ = writeln!(text, "| {} | {} | {here} |", cell(&row.figure.name), cell(&row.figure.paper));
    }
    text
}

/// Goodput of every setting of a scenario.
pub(super) fn settings(found: &RunFindings) -> String {
    if found.settings.is_empty() {
        return String::new();
    }
    let columns: Vec<_> =
        COLUMNS.iter().filter(|it| found.settings.iter().any(|row| it.is_for(row))).collect();
    let titles: String = columns.iter().map(|it| format!(" {} |", it.title)).collect();
    let mut text = format!("\n| setting |{titles}\n|---|{}\n", "---|".repeat(columns.len()));
    for row in &found.settings {
        let cells: String = columns.iter().map(|it| format!(" {} |", it.cell(row))).collect();
        let _ = writeln!(text, "| {} |{cells}", cell(&row.name));
    }
    text
}

/// A column of the table of settings.
struct Column {
    title: &'static str,
    of: fn(&SettingRow) -> Option<Statistics>,
    text: fn(Statistics) -> String,
    /// Whether it is left out where nothing of it was measured.
    may_lack: bool,
}

const COLUMNS: [Column; 6] = [
    Column { title: "Mbit/s", of: |row| row.goodput, text: |it| bare(it, Unit::Mbit), may_lack: false },
    Column {
        title: "% of the maximum flow",
        of: |row| row.share,
        text: |it| bare(it, Unit::Percent),
        may_lack: false,
    },
    Column {
        title: "core-seconds a Gbit",
        of: |row| row.core_seconds,
        text: |it| bare(it, Unit::Ratio),
        may_lack: true,
    },
    Column {
        title: "MB in sockets",
        of: |row| row.socket_bytes,
        text: |it| spread(it, |bytes| format!("{:.2}", bytes / 1e6)),
        may_lack: true,
    },
    Column {
        title: "p99 of requests before it, ms",
        of: |row| row.answers_ms[0],
        text: |it| spread(it, |ms| format!("{ms:.1}")),
        may_lack: true,
    },
    Column {
        title: "p99 of requests, ms",
        of: |row| row.answers_ms[1],
        text: |it| spread(it, |ms| format!("{ms:.1}")),
        may_lack: true,
    },
];

impl Column {
    fn is_for(&self, row: &SettingRow) -> bool {
        !self.may_lack || (self.of)(row).is_some()
    }

    fn cell(&self, row: &SettingRow) -> String {
        (self.of)(row).map(self.text).unwrap_or_default()
    }
}

/// The expectations with their limits.
pub(super) fn verdicts(run: &Run, found: &RunFindings) -> String {
    if found.verdicts.is_empty() {
        return String::new();
    }
    let mut text = "\n| expectation | limit | measured | |\n|---|---|---|---|\n".to_owned();
    for verdict in &found.verdicts {
        let VerdictRow { name, values, met, of, .. } = verdict;
        let values = values.map_or_else(|| "no value".to_owned(), plain);
        let judged = match verdict.is_met() {
            true => "met".to_owned(),
            false => format!("**not met** in {} of {of}", of - met),
        };
        let _ = writeln!(text, "| {} | {} | {values} | {judged} |", cell(name), limit(verdict));
    }
    for (name, reason) in &run.reasons {
        if found.verdicts.iter().any(|it| it.name == *name && !it.is_met()) {
            let _ = writeln!(text, "\nNot met, “{name}”: {}", super::wrapped(reason));
        }
    }
    text
}

/// The rows of a study; its seeds are its repetitions.
pub(super) fn study(found: &RunFindings) -> String {
    let mut reports = found.records.iter().filter_map(|record| match &record.outcome {
        Outcome::Study(report) => Some(report),
        _ => None,
    });
    match reports.next_back().map(|it| &**it) {
        Some(ReportKind::Transfers(report)) => transfers(report),
        Some(ReportKind::Convergence(report)) => convergence(report),
        Some(ReportKind::Workload(report)) => workload(report),
        None => String::new(),
    }
}

fn transfers(report: &Report<study::Row>) -> String {
    let mut text = "\nPercent of the optimum, ± half the 95 % confidence interval over the seeds.\n\n\
        | method | traffic | subflows | paper | of the data that interfaces carry | of their rate | slowest | seeds |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in &report.rows {
        let paper = row.paper.map(percent).unwrap_or_default();
        let study::Row { method, pattern, subflows, runs, .. } = row;
        let (here, slowest) = (interval(row.mean, row.confidence), percent(row.worst));
        let rate = percent(row.mean_of_rate);
        let _ = writeln!(
            text,
            "| {method} | {pattern} | {subflows} | {paper} | {here} | {rate} | {slowest} | {runs} |"
        );
    }
    text
}

fn convergence(report: &Report<convergence::Row>) -> String {
    let mut text = "\nThe share of the bytes on the link-disjoint paths, ± half the 95 % confidence interval over the seeds.\n\n\
        | control | | share in % | in use after | of capacity in % | seeds |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for row in &report.rows {
        let advised = if row.advised { "advised" } else { "" };
        let after = row.converged_after.map_or_else(|| "never".to_owned(), |it| format!("{it:.0} s"));
        let (share, capacity) = (interval(row.kept, row.confidence), percent(row.fraction_of_capacity));
        let _ =
            writeln!(text, "| {} | {advised} | {share} | {after} | {capacity} | {} |", row.control, row.runs);
    }
    text
}

fn workload(report: &Report<workload::Row>) -> String {
    let has_intervals = report.rows.iter().any(|row| row.short.p99_confidence.is_some());
    let intervals = if has_intervals { ", ± half the 95 % confidence interval over the seeds" } else { "" };
    let mut text = format!("\nFlow completion times in milliseconds{intervals}.\n\n");
    text += "\
        | load | method | short: mean | median | 95 % | 99 % | large: mean | 99 % | seeds |\n\
        |---|---|---|---|---|---|---|---|---|\n";
    for row in &report.rows {
        let workload::Row { short, large, .. } = row;
        let [mean, median, p95, of_large] = [short.mean, short.median, short.p95, large.mean].map(millis);
        let all = [mean, median, p95, slowest(short), of_large, slowest(large)].join(" | ");
        let _ = writeln!(text, "| {} % | {} | {all} | {} |", percent(row.load), cell(&row.method), row.runs);
    }
    text
}

fn slowest(class: &workload::Class) -> String {
    let confidence = class.p99_confidence.map(|half| format!(" ± {}", millis(half))).unwrap_or_default();
    format!("{}{confidence}", millis(class.p99))
}

fn millis(seconds: f64) -> String {
    format!("{:.1}", seconds * 1e3)
}

fn interval(mean: f64, half: Option<f64>) -> String {
    half.map_or_else(|| percent(mean), |half| format!("{} ± {}", percent(mean), percent(half)))
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn limit(verdict: &VerdictRow) -> String {
    let sign = if verdict.at_least { "≥" } else { "≤" };
    format!("{sign} {}", number(verdict.limit))
}

/// A number with four digits that count; rates in Mbit/s.
fn number(value: f64) -> String {
    let places: usize = match value.abs() {
        it if it >= 1e5 => return format!("{:.1} Mbit/s", value / 1e6),
        it if it >= 100.0 => 1,
        it if it >= 10.0 => 2,
        it if it == 0.0 || it >= 0.01 => 3,
        _ => 6,
    };
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Values of an expectation, whose unit follows from its name.
fn plain(values: Statistics) -> String {
    spread(values, number)
}

pub(super) fn bare(values: Statistics, unit: Unit) -> String {
    let scale = match unit {
        Unit::Mbit => 1e-6,
        Unit::Percent => 100.0,
        _ => 1.0,
    };
    spread(values, |value| match unit {
        Unit::Mbit | Unit::Percent | Unit::Seconds => format!("{:.1}", value * scale),
        Unit::Ratio => format!("{value:.3}"),
        Unit::Count => format!("{value:.0}"),
    })
}

fn with_unit(values: Statistics, unit: Unit) -> String {
    let name = match unit {
        Unit::Mbit => " Mbit/s",
        Unit::Percent => " %",
        Unit::Seconds => " s",
        Unit::Ratio | Unit::Count => "",
    };
    format!("{}{name}", bare(values, unit))
}

fn spread(values: Statistics, text: impl Fn(f64) -> String) -> String {
    let Statistics { count, median, min, max } = values;
    if count == 1 { text(median) } else { format!("{} ({} to {})", text(median), text(min), text(max)) }
}

/// Text that does not end a table's cell.
pub(super) fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_count() {
        let all = [0.0, 0.00134, 0.93, 1.8, 41.25, 18.6e6].map(number);
        assert_eq!(all, ["0", "0.00134", "0.93", "1.8", "41.25", "18.6 Mbit/s"]);
        assert_eq!(number(100.0), "100");
    }

    #[test]
    fn one_value_has_no_spread() {
        let values = |all: &[f64]| with_unit(Statistics::of(all).unwrap(), Unit::Mbit);
        assert_eq!(
            (values(&[9e6]).as_str(), values(&[9e6, 7e6, 8e6]).as_str()),
            ("9.0 Mbit/s", "8.0 (7.0 to 9.0) Mbit/s")
        );
    }
}
