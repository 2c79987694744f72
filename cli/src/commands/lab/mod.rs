//! `braid lab`: labs run, deployed, listed, inspected and removed.

mod dry_run;
mod link;
mod link_table;
mod scenario;
mod shorten;

use std::env::current_exe;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context;
use braid_lab::scenario::Seconds;
use braid_lab::{
    Control, ControllerSettings, Inspection, Interrupt, LabError, LabName, Labs, Place, Report, Scenario,
    StderrProgress,
};
use clap::Subcommand;

use crate::exit::{self, Code, ExitWith};
use crate::table::table;
use crate::topology::source::Source;
use crate::{check, complete, output};

pub(crate) use scenario::{NetworkArgs, load, open};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Build the network of a scenario, run its traffic, compare, and remove everything
    ///
    /// Prints a table, or one JSON document with --json. Exit code 5: an expectation was not met.
    Run(Run),
    /// Build the network of a scenario, or of any topology, and leave it up
    ///
    /// Examples: braid lab deploy scenarios/ams-gva.yaml; braid lab deploy Geant2012.graphml --hosts 4;
    /// braid lab deploy ring:6 --hosts s1,s4 --rate 50Mbit
    Deploy(Deploy),
    /// Check scenario files, the options and policies of their variants included, without building anything
    Check(check::Args),
    /// Remove a lab and everything it made
    Destroy(Destroy),
    /// List the labs of this machine
    List(List),
    /// Show a lab: its hosts, switches and links, and where to reach them
    Inspect(Inspect),
    /// Run a command on a host of a lab, or beside its switches
    ///
    /// Examples: braid lab exec ams-gva ams -- ping -c 3 10.0.1.2;
    /// braid lab exec ams-gva -- ovs-ofctl -O OpenFlow13 dump-flows ams1
    Exec(Exec),
    /// Show and change the links of a running lab
    #[command(subcommand)]
    Link(link::Command),
}

#[derive(clap::Args)]
pub(crate) struct Run {
    /// The scenario file
    #[arg(value_name = "FILE", add = complete::yaml_files())]
    scenario: PathBuf,
    /// The lab's name while it is up; by default the scenario's
    #[arg(long)]
    name: Option<LabName>,
    /// Record every event of the controller to this file; each of several controllers to one with its name added
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write the report, its table, plots and captures into this folder
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print what would be built and run, and stop; needs no root
    #[arg(long, conflicts_with_all = ["record", "output"])]
    dry_run: bool,
    /// Number of repetitions, instead of the scenario's `repeat`
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u16).range(1..=100))]
    repeat: Option<u16>,
    /// Only these profiles of the scenario, by name, by number from 1, or by range, such as 1-4,rtt_320
    #[arg(long, value_name = "LIST")]
    profiles: Option<String>,
    /// How long each transfer is measured, instead of the scenario's `duration`, such as 5s
    #[arg(long, value_name = "TIME")]
    duration: Option<Seconds>,
    /// How long iperf3 or HTTP/3 sends before that, instead of the scenario's `warm_up`
    #[arg(long, value_name = "TIME")]
    warm_up: Option<Seconds>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Deploy {
    /// The scenario file; or a network: GraphML, node-link JSON, Braid's JSON, `-` for standard input, or a generator such as
    /// ring:6
    #[arg(value_name = "SOURCE", add = complete::networks())]
    source: Source,
    #[command(flatten)]
    network: NetworkArgs,
    /// Print what would be built, and stop; needs no root
    #[arg(long, conflicts_with = "record")]
    dry_run: bool,
    /// The lab's name; by default the scenario's
    #[arg(long)]
    name: Option<LabName>,
    /// Start no controller: the switches wait for your own rules
    #[arg(long, conflicts_with = "record")]
    no_controller: bool,
    /// Record every event of the controller to this file; each of several controllers to one with its name added
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Destroy {
    /// The lab's name
    #[arg(add = complete::labs())]
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
    #[arg(add = complete::labs())]
    name: LabName,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Exec {
    /// The lab's name
    #[arg(add = complete::labs())]
    name: LabName,
    /// The host; without it, the command runs beside the switches
    #[arg(add = complete::hosts_of_lab())]
    host: Option<String>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(run) => self::run(&run),
        Command::Deploy(deploy) => self::deploy(&deploy),
        Command::Check(files) => files.each(|file| Ok(dry_run::summary(&load(file)?))),
        Command::Destroy(Destroy { name }) => {
            let removed = exit(Labs::system().destroy(&name))?;
            let (namespaces, processes) = (removed.namespaces, removed.processes);
            output::text(&format!("Removed lab {name}: {namespaces} namespaces, {processes} processes\n"))
        }
        Command::List(List { json }) => list(json),
        Command::Inspect(Inspect { name, json }) => show(&exit(Labs::system().inspect(&name))?, json),
        Command::Exec(Exec { name, host, command }) => exec(&name, host.as_deref(), &command),
        Command::Link(command) => link::execute(command),
    }
}

/// Maps a lab's error to its exit code.
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

/// This executable as the lab's controller.
pub(crate) fn controller(record: Option<PathBuf>) -> anyhow::Result<Control> {
    let executable = current_exe().context("cannot determine the path of this executable")?;
    Ok(Control::Braid(ControllerSettings { record, ..ControllerSettings::new(executable) }))
}

/// The lab's name: the given one, or the scenario's.
pub(crate) fn name_of(name: Option<LabName>, scenario: &Scenario) -> anyhow::Result<LabName> {
    name.map_or_else(|| exit(scenario.name.parse().map_err(LabError::from)), Ok)
}

fn run(run: &Run) -> anyhow::Result<()> {
    let scenario = shorten::shortened(load(&run.scenario)?, run)?;
    let name = name_of(run.name.clone(), &scenario)?;
    if run.dry_run {
        return dry_run::print(&scenario, &name, run.json);
    }
    let control = controller(run.record.clone())?;
    let interrupt = exit(Interrupt::on_signals())?;
    let report = Labs::system().run(&scenario, &name, &control, &StderrProgress::new(), &interrupt);
    let report = exit(report)?;
    if let Some(output) = &run.output {
        exit(report.write(output))?;
    }
    conclude(&report, run.json)
}

/// Prints a run's report; an unmet expectation is an error.
pub(crate) fn conclude(report: &Report, json: bool) -> anyhow::Result<()> {
    if json {
        output::json(report)?;
    } else {
        output::text(&report.to_text())?;
    }
    let unmet: Vec<_> = report
        .expectations
        .iter()
        .filter(|it| !it.ok && !it.needs_quiet_machine)
        .map(|it| it.name.as_str())
        .collect();
    if report.ok {
        Ok(())
    } else {
        Err(exit::error(Code::Unmet, format!("expectations not met: {}", unmet.join("; "))))
    }
}

fn deploy(deploy: &Deploy) -> anyhow::Result<()> {
    let scenario = open(&deploy.source, &deploy.network)?;
    let name = name_of(deploy.name.clone(), &scenario)?;
    if deploy.dry_run {
        return dry_run::print(&scenario, &name, deploy.json);
    }
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
    let rows = labs.iter().map(|lab| {
        let [hosts, switches, links] = [lab.hosts, lab.switches, lab.links].map(|count| count.to_string());
        [lab.lab.to_string(), lab.scenario.clone(), lab.state.to_string(), hosts, switches, links]
    });
    output::text(&table(["LAB", "SCENARIO", "STATE", "HOSTS", "SWITCHES", "LINKS"], rows))
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
    text += &controllers(lab);
    for problem in &lab.problems {
        text += &format!("problem: {problem}\n");
    }
    let links = link_table::links(&lab.links);
    output::text(&format!("{text}\n{}\n{}\n{links}", hosts(lab), switches(lab)))
}

/// Where the controller is reached, or each member of a cluster.
fn controllers(lab: &Inspection) -> String {
    let Some(controller) = &lab.controller else { return String::new() };
    if controller.members.is_empty() {
        return format!("controller: http://{}\n", controller.http);
    }
    let leads = |name| if lab.leader.as_ref() == Some(name) { ", leads" } else { "" };
    let members = controller.members.iter();
    members.map(|it| format!("controller {}: http://{}{}\n", it.name, it.http, leads(&it.name))).collect()
}

fn hosts(lab: &Inspection) -> String {
    let interfaces = lab.hosts.iter().flat_map(|host| host.interfaces.iter().map(move |it| (host, it)));
    let rows = interfaces.map(|(host, interface)| {
        let addresses: Vec<_> = interface.addresses.iter().map(ToString::to_string).collect();
        let (name, namespace) = (host.name.clone(), host.namespace.clone());
        [name, namespace, interface.name.clone(), interface.mac.to_string(), addresses.join(" ")]
    });
    table(["HOST", "NAMESPACE", "INTERFACE", "MAC", "ADDRESSES"], rows)
}

fn switches(lab: &Inspection) -> String {
    let ports = lab.switches.iter().flat_map(|switch| switch.ports.iter().map(move |port| (switch, port)));
    let rows = ports.map(|(switch, port)| {
        let (name, dpid) = (switch.name.clone(), switch.dpid.to_string());
        [name, dpid, port.number.to_string(), port.device.clone(), port.peer.clone()]
    });
    table(["SWITCH", "DATAPATH", "PORT", "DEVICE", "LEADS-TO"], rows)
}
