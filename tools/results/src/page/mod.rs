//! The page: Markdown from a plan and its findings, and a plot for each run that wants one.

mod plots;
mod profiles;
mod tables;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use crate::error::ResultsError;
use crate::findings::{Findings, RunFindings};
use crate::measure::describe;
use crate::plan::{Chapter, Run};
use crate::store;

/// The folder of the plots, beside the page.
const PLOTS: &str = "results";

/// A page and its plots.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    /// In Markdown.
    pub text: String,
    /// File names and SVG.
    pub plots: Vec<(String, String)>,
}

impl Page {
    /// The page of all findings.
    ///
    /// # Errors
    ///
    /// [`ResultsError::Plot`].
    pub fn new(findings: &Findings<'_>) -> Result<Self, ResultsError> {
        let mut text = format!("# Results beside the papers'\n\n{}\n", wrapped(&findings.plan.introduction));
        text += "\nThis page is written by `braid results show --write docs/results.md`; do not edit it.\n";
        text += &tables::not_met(findings);
        text += &measured_how(findings);
        let mut plots = Vec::new();
        for chapter in &findings.plan.chapters {
            text += &self::chapter(chapter, findings, &mut plots)?;
        }
        Ok(Self { text, plots })
    }

    /// Writes the page, and its plots into a folder beside it.
    ///
    /// # Errors
    ///
    /// [`ResultsError::File`].
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        store::write(path, &self.text)?;
        let folder = path.parent().unwrap_or(Path::new("")).join(PLOTS);
        self.plots.iter().try_for_each(|(name, svg)| store::write(&folder.join(name), svg))
    }
}

fn chapter(
    chapter: &Chapter,
    findings: &Findings<'_>,
    plots: &mut Vec<(String, String)>,
) -> Result<String, ResultsError> {
    let mut text = format!("\n## {}\n", chapter.title);
    if !chapter.text.is_empty() {
        let _ = writeln!(text, "\n{}", wrapped(&chapter.text));
    }
    for run in &chapter.runs {
        if let Some(found) = findings.runs.get(run.name()) {
            text += &self::run(run, found, plots)?;
        }
    }
    Ok(text)
}

fn run(run: &Run, found: &RunFindings, plots: &mut Vec<(String, String)>) -> Result<String, ResultsError> {
    let mut text = format!("\n### {}\n\n`{}`", run.title, run.command());
    text += &match found.records.len() {
        0 => ": not measured yet.\n".to_owned(),
        count => format!(", {}.\n", times(count)),
    };
    if !run.text.is_empty() {
        let _ = writeln!(text, "\n{}", wrapped(&run.text));
    }
    text += &disturbed(found);
    for why in found.failures() {
        let _ = writeln!(text, "\nA repetition failed: {}", why.replace('\n', " "));
    }
    text += &tables::figures(found);
    text += &profiles::table(found).unwrap_or_else(|| tables::settings(found));
    text += &tables::study(found);
    text += &tables::verdicts(run, found);
    if let Some(svg) = plots::draw(run, found)? {
        let name = format!("{}.svg", run.name());
        let _ = writeln!(text, "\n![{}]({PLOTS}/{name})", run.title);
        plots.push((name, svg));
    }
    Ok(text)
}

fn times(count: usize) -> String {
    match count {
        1 => "run once".to_owned(),
        count => format!("run {count} times"),
    }
}

fn disturbed(found: &RunFindings) -> String {
    let disturbed: Vec<_> = found.records.iter().filter(|it| it.is_disturbed()).collect();
    let worst = disturbed.iter().max_by(|a, b| a.load.weight().total_cmp(&b.load.weight()));
    worst.map_or_else(String::new, |worst| {
        let (count, of, load) = (disturbed.len(), found.records.len(), describe(&worst.load));
        format!("\nOther load was beside {count} of the {of} repetitions; at most: {load}.\n")
    })
}

fn measured_how(findings: &Findings<'_>) -> String {
    let names = |of: fn(&crate::Record) -> String| {
        let all: BTreeSet<_> = findings.records().map(of).filter(|it| !it.is_empty()).collect();
        all.into_iter().collect::<Vec<_>>().join("; ")
    };
    let rows = [
        ("commit", names(|it| it.made.name())),
        ("build", names(|it| it.made.binary.clone())),
        ("kernel", names(|it| it.machine.kernel.clone())),
        ("system", names(|it| it.machine.system.clone())),
        ("processors", names(|it| format!("{} × {}", it.machine.processors, it.machine.processor))),
        ("memory", names(|it| format!("{:.0} GB", it.machine.memory_bytes as f64 / 1e9))),
        ("congestion controls", names(|it| it.controls.iter().cloned().collect::<Vec<_>>().join(", "))),
    ];
    if findings.records().next().is_none() {
        return "\nNothing is measured yet.\n".to_owned();
    }
    let mut text = "\n## Where and when\n\n| | |\n|---|---|\n".to_owned();
    for (name, value) in rows {
        let _ = writeln!(text, "| {name} | {} |", value.replace('|', "\\|"));
    }
    text += "\nTables have the median of the repetitions, and in brackets the least and the greatest. An\nexpectation is met if it holds in every repetition.\n";
    text
}

/// Lines of at most 100 columns; paragraphs, tables and lists stay as they are.
fn wrapped(text: &str) -> String {
    const COLUMNS: usize = 100;
    let mut paragraphs = Vec::new();
    for paragraph in text.trim().split("\n\n") {
        if paragraph.starts_with(['|', '-', '`']) && paragraph.contains('\n') {
            paragraphs.push(paragraph.trim_end().to_owned());
            continue;
        }
        let (mut lines, mut line) = (Vec::new(), String::new());
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > COLUMNS {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        lines.push(line);
        paragraphs.push(lines.join("\n"));
    }
    paragraphs.join("\n\n")
}
