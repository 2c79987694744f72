//! `braid results show` and `braid results diff`: stored results as text, as a page, and compared.

use std::path::PathBuf;

use braid_results::diff::{Change, compare};
use braid_results::page::Page;
use braid_results::{Findings, Store, VerdictRow};

use super::{PlanFiles, Where, exit as exit_with};
use crate::exit::{self, Code};
use crate::output;
use crate::table::table;

#[derive(clap::Args)]
pub(crate) struct Show {
    /// Write the page here, and its plots into the folder `results` beside it
    #[arg(long, value_name = "FILE", conflicts_with = "markdown")]
    write: Option<PathBuf>,
    /// Print the page
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    folders: Where,
}

#[derive(clap::Args)]
pub(crate) struct Diff {
    /// The folder of the earlier results
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The folder of the later results
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// Show only what changed by this much, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    above: f64,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plan: PlanFiles,
}

pub(super) fn show(args: &Show) -> anyhow::Result<()> {
    let plan = args.folders.plan.read()?;
    let store = Store::new(&args.folders.results);
    let findings = exit_with(Findings::load(&plan, &store, &args.folders.plan.scenarios))?;
    if args.markdown || args.write.is_some() {
        let page = exit_with(Page::new(&findings))?;
        return match &args.write {
            Some(path) => exit_with(page.write(path)),
            None => output::text(&page.text),
        };
    }
    let rows = plan.runs().filter_map(|run| Some((run.name(), findings.runs.get(run.name())?)));
    let rows = rows.flat_map(|(name, found)| found.verdicts.iter().map(move |verdict| row(name, verdict)));
    output::text(&table(["RUN", "EXPECTATION", "LIMIT", "MEDIAN", "LEAST", "MOST", "MET"], rows))
}

fn row(name: &str, verdict: &VerdictRow) -> [String; 7] {
    let VerdictRow { limit, values, met, of, .. } = verdict;
    let sign = if verdict.at_least { ">=" } else { "<=" };
    let value = |of: fn(&braid_results::Statistics) -> f64| {
        values.as_ref().map_or_else(String::new, |values| format!("{:.4}", of(values)))
    };
    let met = if verdict.is_met() { "met".to_owned() } else { format!("NOT MET, {met} of {of}") };
    let (median, least, most) = (value(|it| it.median), value(|it| it.min), value(|it| it.max));
    [name.to_owned(), verdict.name.clone(), format!("{sign} {limit}"), median, least, most, met]
}

pub(super) fn diff(args: &Diff) -> anyhow::Result<()> {
    let plan = args.plan.read()?;
    let load = |folder: &PathBuf| exit_with(Findings::load(&plan, &Store::new(folder), &args.plan.scenarios));
    let changes = compare(&load(&args.before)?, &load(&args.after)?);
    if args.json {
        output::json(&serde_json::json!({ "schema": braid_lab::SCHEMA, "changes": changes }))?;
    } else {
        let shown = changes.iter().filter(|it| it.relative().abs() * 100.0 >= args.above || it.is_lost());
        output::text(&table(["RUN", "SETTING", "BEFORE", "AFTER", "CHANGE", ""], shown.map(line)))?;
    }
    match changes.iter().filter(|it| it.is_lost()).count() {
        0 => Ok(()),
        lost => Err(exit::error(Code::Unmet, format!("{lost} expectations that were met are not any more"))),
    }
}

fn line(change: &Change) -> [String; 6] {
    let number =
        |value: f64| if value.abs() >= 1e5 { format!("{:.1}M", value / 1e6) } else { format!("{value:.4}") };
    let note = match (change.is_lost(), change.apart) {
        (true, _) => "not met any more",
        (false, true) => "ranges apart",
        (false, false) => "",
    };
    let relative = format!("{:+.1} %", change.relative() * 100.0);
    let Change { run, what, before, after, .. } = change;
    [run.clone(), what.clone(), number(*before), number(*after), relative, note.to_owned()]
}
