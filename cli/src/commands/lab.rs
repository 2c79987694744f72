use std::env::current_exe;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context;
use braid_lab::{
    Control, ControllerSettings, Inspection, Interrupt, LabError, LabName, Labs, Place, Report, Scenario,
    StderrProgress,
};
use clap::Subcommand;
use comfy_table::{Table, presets};

use crate::exit::{self, Code, ExitWith};
use crate::output;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Build the network of a scenario, run its traffic, compare, and remove everything
    ///
    /// Prints a table, or one JSON document with --json. Exit code 5: an expectation was not met.
    Run(Run),
    /// Build the network of a scenario and leave it up
    Deploy(Deploy),
    /// Remove a lab and everything it made
    Destroy(Destroy),
    /// List the labs of this machine
    List(List),
    /// Show a lab: its hosts, switches and links, and where to reach them
    Inspect(Inspect),
    /// Run a command on a host of a lab, or where its switches are
    ///
    /// Example: braid lab exec ams-gva ams -- ping -c 3 10.0.1.2
    Exec(Exec),
}

#[derive(clap::Args)]
pub(crate) struct Run {
    /// The scenario file
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// The lab's name while it is up; by default the scenario's
    #[arg(long)]
    name: Option<LabName>,
    /// Have the controller write every event to this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Deploy {
    /// The scenario file
    #[arg(value_name = "FILE")]
    scenario: PathBuf,
    /// The lab's name; by default the scenario's
    #[arg(long)]
    name: Option<LabName>,
    /// Start no controller: the switches wait for rules of yours
    #[arg(long, conflicts_with = "record")]
    no_controller: bool,
    /// Have the controller write every event to this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Destroy {
    /// The lab's name
    name: LabName,
}

#[derive(clap::Args)]
pub(crate) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Inspect {
    /// The lab's name
    name: LabName,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Exec {
    /// The lab's name
    name: LabName,
    /// The host; without it, where the switches are
    host: Option<String>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(run) => self::run(&run),
        Command::Deploy(deploy) => self::deploy(&deploy),
        Command::Destroy(Destroy { name }) => {
            let removed = exit(Labs::system().destroy(&name))?;
            let (namespaces, processes) = (removed.namespaces, removed.processes);
            output::text(&format!("Removed lab {name}: {namespaces} namespaces, {processes} processes\n"))
        }
        Command::List(List { json }) => list(json),
        Command::Inspect(Inspect { name, json }) => show(&exit(Labs::system().inspect(&name))?, json),
        Command::Exec(Exec { name, host, command }) => exec(&name, host.as_deref(), &command),
    }
}

/// Gives a lab's error its exit code.
pub(crate) fn exit<T>(result: Result<T, LabError>) -> anyhow::Result<T> {
    let code = result.as_ref().err().map_or(Code::Failure, |error| match error.exit_code() {
        2 => Code::Usage,
        3 => Code::NotFound,
        4 => Code::Machine,
        5 => Code::Unmet,
        _ => Code::Failure,
    });
    result.exit_with(code)
}

/// The scenario in a file.
pub(crate) fn load(path: &std::path::Path) -> anyhow::Result<Scenario> {
    let text = std::fs::read_to_string(path);
    let text = text.with_context(|| format!("scenario {}", path.display())).exit_with(Code::NotFound)?;
    exit(Scenario::parse(&text, &path.display().to_string()).map_err(LabError::from))
}

/// This program as the lab's controller.
pub(crate) fn controller(record: Option<PathBuf>) -> anyhow::Result<Control> {
    let executable = current_exe().context("the path of this program")?;
    Ok(Control::Braid(ControllerSettings { executable, record }))
}

/// The lab's name: as given, or the scenario's.
pub(crate) fn name_of(name: Option<LabName>, scenario: &Scenario) -> anyhow::Result<LabName> {
    name.map_or_else(|| exit(scenario.name.parse().map_err(LabError::from)), Ok)
}

fn run(run: &Run) -> anyhow::Result<()> {
    let scenario = load(&run.scenario)?;
    let name = name_of(run.name.clone(), &scenario)?;
    let control = controller(run.record.clone())?;
    let interrupt = exit(Interrupt::on_signals())?;
    let report = Labs::system().run(&scenario, &name, &control, &StderrProgress::new(), &interrupt);
    conclude(&exit(report)?, run.json)
}

/// Prints what a run showed; an expectation that was not met is an error.
pub(crate) fn conclude(report: &Report, json: bool) -> anyhow::Result<()> {
    if json {
        output::json(report)?;
    } else {
        output::text(&report.to_text())?;
    }
    let unmet: Vec<_> = report.expectations.iter().filter(|it| !it.ok).map(|it| it.name.as_str()).collect();
    if report.ok { Ok(()) } else { Err(exit::error(Code::Unmet, format!("not met: {}", unmet.join("; ")))) }
}

fn deploy(deploy: &Deploy) -> anyhow::Result<()> {
    let scenario = load(&deploy.scenario)?;
    let name = name_of(deploy.name.clone(), &scenario)?;
    let control = if deploy.no_controller { Control::None } else { controller(deploy.record.clone())? };
    let labs = Labs::system();
    let interrupt = exit(Interrupt::on_signals())?;
    exit(labs.deploy(&scenario, &name, &control, &interrupt))?.keep();
    show(&exit(labs.inspect(&name))?, deploy.json)
}

fn list(json: bool) -> anyhow::Result<()> {
    let labs = exit(Labs::system().list())?;
    if json {
        return output::json(&serde_json::json!({ "schema": "braid/v1", "labs": labs }));
    }
    let mut table = table(["lab", "scenario", "state", "hosts", "switches", "links"]);
    for lab in labs {
        let counts = [lab.hosts, lab.switches, lab.links].map(|count| count.to_string());
        table.add_row([lab.lab.to_string(), lab.scenario, lab.state.to_string()].into_iter().chain(counts));
    }
    output::text(&format!("{table}\n"))
}

fn exec(name: &LabName, host: Option<&str>, command: &[OsString]) -> anyhow::Result<()> {
    let place = host.map_or(Place::Fabric, Place::Host);
    let (program, args) = command.split_first().context("no command")?;
    match exit(Labs::system().exec(name, place, program, args))? {}
}

fn show(lab: &Inspection, json: bool) -> anyhow::Result<()> {
    if json {
        return output::json(lab);
    }
    let mut text = format!("lab {}: {}\nfolder: {}\n", lab.lab, lab.state, lab.folder.display());
    if let Some(controller) = &lab.controller {
        text += &format!("controller: http://{}\n", controller.http);
    }
    output::text(&format!("{text}\n{}\n\n{}\n", hosts(lab), switches(lab)))
}

fn hosts(lab: &Inspection) -> Table {
    let mut table = table(["host", "namespace", "interface", "MAC address", "addresses"]);
    for host in &lab.hosts {
        for interface in &host.interfaces {
            let addresses: Vec<_> = interface.addresses.iter().map(ToString::to_string).collect();
            let (mac, addresses) = (interface.mac.to_string(), addresses.join(" "));
            table.add_row([&host.name, &host.namespace, &interface.name, &mac, &addresses]);
        }
    }
    table
}

fn switches(lab: &Inspection) -> Table {
    let mut table = table(["switch", "datapath id", "port", "device", "leads to"]);
    for switch in &lab.switches {
        for port in &switch.ports {
            let (dpid, number) = (switch.dpid.to_string(), port.number.to_string());
            table.add_row([&switch.name, &dpid, &number, &port.device, &port.peer]);
        }
    }
    table
}

/// An empty table in the house style.
pub(crate) fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
}
