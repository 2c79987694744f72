//! `braid sim`: studies simulated packet by packet, from files or presets.

mod compare;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::Context;
use braid_sim::experiment::{Cancel, ExperimentError};
use braid_sim::study::{Changes, Preset, StudyError};
use braid_sim::{Control, Progress, ReportKind, StudyKind};
use braid_topology::Blueprint;
use clap::Subcommand;

use crate::commands::lab::{self, NetworkArgs};
use crate::exit::{self, Code, ExitWith};
use crate::table::table;
use crate::topology::source::Source;
use crate::{check, complete, output};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Simulate what a file or a preset compares, packet by packet
    ///
    /// Prints a table, or one JSON document with --json. Throughputs are of what the hosts' interfaces carry of data; in
    /// brackets is what a paper reports. Interrupted, it prints what there is, marked as incomplete. Exit code 5: an
    /// expectation was not met.
    Run(Run),
    /// Check study files without simulating anything
    Check(check::Args),
    /// List the studies that come with Braid
    Presets,
    /// Run a scenario in a lab and in the simulator, and print how far their goodputs are apart
    ///
    /// As `braid lab run` does, it takes root; the simulator's part alone does not (--simulator-only). Exit code 5: a row
    /// is further apart than --within.
    Compare(compare::Compare),
}

#[derive(clap::Args)]
pub(crate) struct Run {
    /// A study, as docs/simulator.md describes it
    #[arg(value_name = "FILE", required_unless_present = "preset", conflicts_with = "preset", add = complete::yaml_files())]
    file: Option<PathBuf>,
    /// A study that comes with Braid: see `braid sim presets`
    #[arg(long, add = complete::presets())]
    preset: Option<Preset>,
    /// Simulate this network instead of the study's: a file (GraphML, node-link JSON, Braid's JSON or a scenario), `-` for
    /// standard input, or a generator
    ///
    /// Links have the rates and delays of the file. What the study expects, and what papers report, is left out.
    #[arg(long, value_name = "SOURCE", add = complete::networks())]
    network: Option<Source>,
    #[command(flatten)]
    hosts: NetworkArgs,
    /// How many seeds, from 1 on; by default what the study says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: Option<u64>,
    /// How many runs side by side; by default as many as there are processors. It changes no result
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    threads: Option<u16>,
    /// How long is measured, in seconds of the simulation; by default what the study says
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    measured: Option<Duration>,
    /// The congestion control: cubic, reno, lia, olia or balia; by default what the study says
    #[arg(long)]
    control: Option<Control>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write the rows as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw the transfers by rank
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw those with so many subflows; by default 4 or, where there are none, the most
    #[arg(long, value_name = "N", requires = "svg")]
    svg_subflows: Option<usize>,
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run(&args),
        Command::Check(files) => files.each(|file| Ok(format!("{} runs", study(file)?.runs()))),
        Command::Presets => presets(),
        Command::Compare(args) => compare::execute(&args),
    }
}

fn run(args: &Run) -> anyhow::Result<()> {
    let study = load(args)?;
    if args.network.is_none() && args.hosts.is_given() {
        return Err(exit::error(Code::Usage, "--hosts, --rate and --delay are for --network: give it, too"));
    }
    let network = args.network.as_ref().map(|source| network(source, &args.hosts, &study)).transpose()?;
    let changes = Changes { network, seeds: args.seeds, measured: args.measured, control: args.control };
    let study = study.with(changes);
    let threads = args.threads.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from);
    let cancel = Cancel::on_signals().context("cannot listen to signals")?;
    let progress = Progress::new(study.runs());
    let report = study.run(threads, free_memory(), &cancel, &|what| progress.done(what));
    progress.end();
    let report = report.map_err(|error| {
        let code = if matches!(error, ExperimentError::Memory { .. }) { Code::Machine } else { Code::Usage };
        exit::error(code, error)
    })?;
    write_files(args, &report)?;
    conclude(&report, args.json)
}

fn load(args: &Run) -> anyhow::Result<StudyKind> {
    match (&args.preset, &args.file) {
        (Some(preset), _) => preset.study().exit_with(Code::Failure),
        (None, file) => study(file.as_deref().unwrap_or_else(|| "".as_ref())),
    }
}

/// The network to simulate instead of the study's.
fn network(source: &Source, hosts: &NetworkArgs, study: &StudyKind) -> anyhow::Result<Arc<Blueprint>> {
    if matches!(study, StudyKind::Convergence(_)) {
        let what = format!("{} is a study of given paths, which has its own network", study.name());
        return Err(exit::error(Code::Usage, format!("{what}: leave out --network")));
    }
    let scenario = lab::open(source, hosts)?;
    let network = scenario.blueprint().with_context(|| source.to_string());
    network.map(Arc::new).exit_with(Code::Usage)
}

/// The study in a file.
fn study(file: &Path) -> anyhow::Result<StudyKind> {
    let study = StudyKind::load(file);
    let code = match &study {
        Err(StudyError::Unreadable { .. }) => Code::NotFound,
        _ => Code::Usage,
    };
    study.exit_with(code)
}

fn write_files(args: &Run, report: &ReportKind) -> anyhow::Result<()> {
    if let Some(path) = &args.csv {
        write(path, report.csv())?;
    }
    if let Some(path) = &args.svg {
        let picture = report.plot(args.svg_subflows).map_err(|why| exit::error(Code::Usage, why))?;
        write(path, picture)?;
    }
    Ok(())
}

fn write(path: &Path, text: String) -> anyhow::Result<()> {
    let written = fs::write(path, text).with_context(|| format!("cannot write {}", path.display()));
    written.exit_with(Code::Failure)
}

/// Prints what a study showed; an expectation that was not met is an error, and so is an end before time.
fn conclude(report: &ReportKind, json: bool) -> anyhow::Result<()> {
    if json {
        output::json(report)?;
    } else {
        output::text(&report.table())?;
        let verdicts = report.expectations().iter().map(|it| {
            let ok = if it.ok { "ok" } else { "not met" };
            let least = it.at_least.map(|limit| format!("at least {limit:.2}"));
            let most = it.at_most.map(|limit| format!("at most {limit:.2}"));
            let limit = least.or(most).unwrap_or_default();
            [ok.to_owned(), format!("{:.2}", it.value), limit, it.name.clone()]
        });
        output::text(&format!("\n{}", table(["", "IS", "HAS TO BE", "EXPECTATION"], verdicts)))?;
        let (events, seconds) = report.cost();
        let speed = events as f64 / 1e6 / seconds.max(1e-9);
        exit::say(&format!("{speed:.1} million events a second and thread"));
    }
    if !report.is_complete() {
        return Err(exit::error(
            Code::Failure,
            "stopped before the end: the figures are of what was run until then",
        ));
    }
    let unmet: Vec<_> = report.expectations().iter().filter(|it| !it.ok).map(|it| it.name.as_str()).collect();
    if unmet.is_empty() {
        Ok(())
    } else {
        Err(exit::error(Code::Unmet, format!("not met: {}", unmet.join("; "))))
    }
}

fn presets() -> anyhow::Result<()> {
    let rows = Preset::ALL.into_iter().map(|preset| {
        let study = preset.study().exit_with(Code::Failure)?;
        Ok([preset.to_string(), study.runs().to_string(), study.description().trim().to_owned()])
    });
    let rows: Vec<_> = rows.collect::<anyhow::Result<_>>()?;
    output::text(&table(["PRESET", "RUNS", "WHAT IT SHOWS"], rows))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|it| (0.001..=60.0).contains(it));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "not a number of seconds from 0.001 to 60".to_owned())
}

/// Bytes that may be used, and all where nobody says.
pub(crate) fn free_memory() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map_or(u64::MAX, |kilobytes| kilobytes.saturating_mul(1_024))
}
