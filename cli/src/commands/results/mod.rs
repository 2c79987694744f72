//! `braid results`: the papers' figures beside Braid's, measured, shown and compared.

mod runner;
mod show;

use std::path::PathBuf;

use braid_lab::Interrupt;
use braid_results::{Job, Measured, Plan, ResultsError, Settings, Store};
use clap::Subcommand;

use crate::commands::lab;
use crate::exit::{self, Code, ExitWith};
use crate::output;
use crate::table::table;
use runner::SystemRunner;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run every scenario and every simulator preset of the papers, repeatedly, and store the results (root)
    ///
    /// Continues where it was interrupted: repetitions of the same build and the same scenario are not run again. A repetition
    /// beside other load is repeated, a few times at most. Exit code 5: an expectation was not met in some repetition.
    Run(Run),
    /// Show stored results beside the papers' figures, or write them as a page
    Show(show::Show),
    /// Compare two folders of results
    ///
    /// Exit code 5: an expectation that was met in the first is not met in the second.
    Diff(show::Diff),
}

#[derive(clap::Args)]
pub(crate) struct Where {
    /// The folder of the results
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    results: PathBuf,
    #[command(flatten)]
    plan: PlanFiles,
}

#[derive(clap::Args)]
pub(crate) struct PlanFiles {
    /// The folder of the scenarios
    #[arg(long, value_name = "FOLDER", default_value = "scenarios")]
    scenarios: PathBuf,
    /// A plan in the place of the one that comes with Braid
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct Run {
    /// Only these selections (such as ci), chapters (such as banfi), scenarios or presets
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Number of repetitions, instead of the plan's
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u16).range(1..=100))]
    repeat: Option<u16>,
    /// Attempts at a repetition beside other load, instead of the plan's
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u16).range(1..=20))]
    attempts: Option<u16>,
    /// Keep repetitions that other builds of Braid measured, if the scenario is the same
    #[arg(long)]
    any_build: bool,
    /// List what would be run, and how long it takes, and run nothing
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    folders: Where,
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run(&args),
        Command::Show(args) => show::show(&args),
        Command::Diff(args) => show::diff(&args),
    }
}

impl PlanFiles {
    fn read(&self) -> anyhow::Result<Plan> {
        let Some(path) = &self.plan else { return exit(Plan::shipped()) };
        let text = std::fs::read_to_string(path).exit_with(Code::NotFound)?;
        exit(Plan::parse(&text, &path.display().to_string()))
    }
}

/// Maps an error to its exit code.
fn exit<T>(result: Result<T, ResultsError>) -> anyhow::Result<T> {
    let code = result.as_ref().err().map_or(Code::Failure, |error| match error {
        ResultsError::Malformed { .. } | ResultsError::Plan { .. } => Code::Usage,
        ResultsError::Unknown { .. } => Code::NotFound,
        ResultsError::Machine(_) => Code::Machine,
        ResultsError::File { .. } | ResultsError::Interrupted | ResultsError::Plot { .. } => Code::Failure,
    });
    result.exit_with(code)
}

fn run(args: &Run) -> anyhow::Result<()> {
    let plan = args.folders.plan.read()?;
    let jobs = exit(plan.select(&args.only))?;
    if args.list {
        return list(args, &jobs);
    }
    let settings = Settings {
        scenarios: args.folders.plan.scenarios.clone(),
        repeat: args.repeat,
        attempts: args.attempts.unwrap_or(plan.attempts),
        any_build: args.any_build,
    };
    let interrupt = lab::exit(Interrupt::on_signals())?;
    let mut runner = SystemRunner::new(lab::controller(None)?, interrupt);
    let store = Store::new(&args.folders.results);
    let measured = exit(braid_results::measure(&jobs, &store, &settings, &mut runner))?;
    conclude(&measured)
}

fn list(args: &Run, jobs: &[Job<'_>]) -> anyhow::Result<()> {
    let rows = jobs.iter().map(|job| {
        let (source, _) = exit(braid_results::Source::load(job, &args.folders.plan.scenarios))?;
        let seconds = source.estimate().map_or_else(|| "?".to_owned(), |it| it.as_secs().to_string());
        let controls: Vec<_> = source.controls().into_iter().collect();
        let repeat = args.repeat.unwrap_or(job.repeat);
        Ok([job.name.clone(), repeat.to_string(), seconds, controls.join(" "), job.run.title.clone()])
    });
    let rows: Vec<_> = rows.collect::<anyhow::Result<_>>()?;
    output::text(&table(["RUN", "TIMES", "SECONDS", "CONTROLS", "SHOWS"], rows))
}

/// Prints a line for each repetition; an expectation that is not met, without a reason in the plan, is an error.
fn conclude(measured: &Measured) -> anyhow::Result<()> {
    let rows = measured.done.iter().map(|done| {
        let verdict = match (done.unmet.is_empty(), done.known.is_empty()) {
            (true, true) => "met",
            (true, false) => "not met, known",
            (false, _) => "not met",
        };
        let load = if done.disturbed { "other load" } else { "" };
        [
            done.name.clone(),
            done.number.to_string(),
            verdict.to_owned(),
            load.to_owned(),
            [done.unmet.as_slice(), &done.known].concat().join("; "),
        ]
    });
    output::text(&table(["RUN", "REPETITION", "EXPECTATIONS", "BESIDE", "NOT-MET"], rows))?;
    let unmet = measured.done.iter().filter(|done| !done.unmet.is_empty()).count();
    match unmet {
        0 => Ok(()),
        unmet => Err(exit::error(
            Code::Unmet,
            format!("{unmet} of {} repetitions did not meet every expectation", measured.done.len()),
        )),
    }
}
