//! `braid openflow load`: emulated switches and hosts that load a controller.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use braid_client::{Client, Url};
use braid_load::discovery::{self, Busy, Death, Progress, Reading, Rejoin, Report};
use braid_load::{Layout, LoadError, flows, raise_file_limit};
use braid_topology::generate::{Links, Spec};
use clap::Subcommand;
use serde::Serialize;
use serde_json::json;

use crate::client;
use crate::exit::{self, Code, ExitWith};
use crate::output;

/// The interval of questions to the controller.
const ASK_INTERVAL: Duration = Duration::from_millis(500);
/// Open files besides those of switches.
const OTHER_FILES: u64 = 64;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Bring up a whole network, and measure when its map is complete and whether it stays so
    ///
    /// Each switch has a connection of its own, and each discovery frame arrives at the neighbour at once. With --api, a Braid
    /// controller says what it knows. Of others, a link counts as known once a discovery frame has passed it.
    Discovery(Discovery),
    /// Measure new connections a second, with many under way at each switch
    ///
    /// Start a Braid controller for it with --port-packet-ins 0 --port-new-streams 0, since one port has more connections here
    /// than a host may open.
    Throughput(Throughput),
    /// Measure how long one new connection takes, with none beside it
    ///
    /// Start a Braid controller for it with --port-packet-ins 0 --port-new-streams 0.
    Latency(Latency),
}

/// The options of every load.
#[derive(clap::Args)]
pub(crate) struct Common {
    /// Where the controller listens for switches
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:6653")]
    openflow: SocketAddr,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub(crate) struct Discovery {
    /// The network: fattree:K or jellyfish:SWITCHES,PORTS,HOSTS, or another generator of `braid topology`
    #[arg(long, value_name = "NETWORK", default_value = "fattree:8")]
    topology: Spec,
    /// The API of a Braid controller, which is asked what it knows
    #[arg(long, value_name = "URL")]
    api: Option<Url>,
    /// The controller's process on this machine, whose processor time and memory are measured
    #[arg(long, value_name = "PROCESS")]
    pid: Option<u32>,
    /// Seconds that the map may take to be complete, and then the hosts to be known
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    limit: u64,
    /// Seconds for which the complete network is watched
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    hold: u64,
    /// MPTCP connections a second that hosts then open for as long again
    ///
    /// Start a Braid controller for it with --port-new-streams 0 if a host may not open so many.
    #[arg(long, value_name = "RATE", conflicts_with = "silent_hosts", value_parser = clap::value_parser!(u32).range(1..))]
    connections: Option<u32>,
    /// Seconds for which hosts then open many more connections than any controller takes
    #[arg(long, value_name = "SECONDS", default_value_t = 0, conflicts_with = "silent_hosts")]
    overload: u64,
    /// Switches that then leave in a second, until each has lost its connection once and has joined again
    ///
    /// The ports stay up, as in a rolling upgrade of what speaks OpenFlow in the switches. A switch connects again after 1 to 2 s,
    /// and after twice as long each time that it fails.
    #[arg(long, value_name = "RATE", value_parser = clap::value_parser!(u32).range(1..))]
    rolling: Option<u32>,
    /// All switches of a pod then lose their connections in the same moment, and join again
    #[arg(long)]
    pod: bool,
    /// At the end, a switch in the middle of the network dies, and the time to the last change of rules is measured
    #[arg(long)]
    death: bool,
    /// Hosts send nothing; by default each asks for the first one by ARP once the map is complete
    #[arg(long)]
    silent_hosts: bool,
    /// Exit with 5 if a link or a host is missing, or if a link, an alarm or a closed connection was counted as lost, raised or closed
    #[arg(long)]
    judge: bool,
    #[command(flatten)]
    common: Common,
}

/// The options of loads by flows.
#[derive(clap::Args)]
pub(crate) struct Flows {
    /// The number of switches
    #[arg(long, value_name = "NUMBER", default_value_t = 16)]
    switches: usize,
    /// Seconds before hosts announce themselves, since a controller has to take ports for hosts' first
    #[arg(long, value_name = "SECONDS", default_value_t = 6)]
    warm_up: u64,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
pub(crate) struct Throughput {
    /// Seconds of load
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u64,
    /// Connections that each switch has under way
    #[arg(long, value_name = "NUMBER", default_value_t = 64)]
    window: usize,
    #[command(flatten)]
    flows: Flows,
}

#[derive(clap::Args)]
pub(crate) struct Latency {
    /// Connections, one after the other
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    count: usize,
    #[command(flatten)]
    flows: Flows,
}

pub(crate) fn execute(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Discovery(args) => args.run(),
        Command::Throughput(args) => args.run(),
        Command::Latency(args) => args.run(),
    }
}

impl Discovery {
    fn run(&self) -> anyhow::Result<()> {
        let blueprint = self.topology.generate(Links::default()).exit_with(Code::Usage)?;
        let layout = Layout::from(&blueprint);
        make_room(layout.dpids.len())?;
        let reading = self.api.as_ref().map(ask).transpose()?;
        let plan = discovery::Plan {
            to: self.common.openflow,
            limit: Duration::from_secs(self.limit),
            hold: Duration::from_secs(self.hold),
            hosts: !self.silent_hosts,
            connections: self.connections.map(f64::from),
            overload: Duration::from_secs(self.overload),
            rolling: self.rolling.map(f64::from),
            pod: self.pod,
            death: self.death,
            process: self.pid,
        };
        let last = || reading.as_ref().and_then(|reading| *reading.lock().ok()?);
        let report = discovery::run(&layout, plan, &last, &mut |progress| tell(progress));
        let report = answer(report)?;
        let failures = report.failures();
        if self.common.json {
            print(&json!({ "network": self.topology.to_string(), "failures": failures, "report": report }))?;
        } else {
            output::text(&discovery_text(&report, &self.topology.to_string()))?;
        }
        if self.judge && !failures.is_empty() {
            return Err(exit::error(Code::Unmet, failures.join("; ")));
        }
        Ok(())
    }
}

impl Throughput {
    fn run(&self) -> anyhow::Result<()> {
        let mut plan = self.flows.plan()?;
        (plan.time, plan.window) = (Duration::from_secs(self.seconds), self.window.max(1));
        let result = answer(flows::throughput(plan))?;
        if self.flows.common.json {
            return print(&result);
        }
        output::text(&format!(
            "{} switches, {} under way at each: {:.0} connections a second over {:.1} s\n\
             {} of {} first packets answered, {} rules\n",
            result.switches,
            plan.window,
            result.answers_per_second,
            result.seconds,
            result.answered,
            result.sent,
            result.rules,
        ))
    }
}

impl Latency {
    fn run(&self) -> anyhow::Result<()> {
        let result = answer(flows::latency(self.flows.plan()?, self.count))?;
        if self.flows.common.json {
            return print(&result);
        }
        let micros = [result.p50, result.p99, result.max].map(|seconds| seconds * 1e6);
        output::text(&format!(
            "{} connections, one after the other: p50 {:.1} µs, p99 {:.1} µs, longest {:.1} µs\n",
            result.requests, micros[0], micros[1], micros[2],
        ))
    }
}

impl Flows {
    fn plan(&self) -> anyhow::Result<flows::Plan> {
        make_room(self.switches)?;
        Ok(flows::Plan {
            to: self.common.openflow,
            switches: self.switches,
            warm_up: Duration::from_secs(self.warm_up),
            time: Duration::ZERO,
            window: 1,
        })
    }
}

/// Sees that each switch can have a socket.
fn make_room(switches: usize) -> anyhow::Result<()> {
    let (limit, needed) = (raise_file_limit(), switches as u64 + OTHER_FILES);
    if limit >= needed {
        return Ok(());
    }
    let text =
        format!("{switches} switches take {needed} open files, and {limit} are allowed: raise `ulimit -Hn`");
    Err(exit::error(Code::Machine, text))
}

/// Asks the controller again and again, on a thread that ends with the process.
fn ask(url: &Url) -> anyhow::Result<Arc<Mutex<Option<Reading>>>> {
    let client = client::connect(url)?;
    let first = client::answer(read(&client))?;
    if first.links > 0 || first.switches > 0 {
        let text =
            format!("the controller at {url} has {} switches already: start a new one", first.switches);
        return Err(exit::error(Code::Usage, text));
    }
    let reading = Arc::new(Mutex::new(Some(first)));
    let shared = reading.clone();
    thread::Builder::new().name("reading".to_owned()).spawn(move || {
        loop {
            thread::sleep(ASK_INTERVAL);
            // A controller that is busy answers later.
            if let (Ok(now), Ok(mut shared)) = (read(&client), shared.lock()) {
                *shared = Some(now);
            }
        }
    })?;
    Ok(reading)
}

fn read(client: &Client) -> Result<Reading, braid_client::Error> {
    let values = client.totals()?;
    Ok(Reading::of(|name| values.get(name).map(|value| *value as u64)))
}

fn answer<T>(result: Result<T, LoadError>) -> anyhow::Result<T> {
    match result {
        Err(error @ LoadError::Connect { .. }) => Err(error).exit_with(Code::NotFound),
        Err(error @ LoadError::Impossible(_)) => Err(error).exit_with(Code::Usage),
        result => result.context("the load ended early"),
    }
}

/// A line of progress on standard error.
fn tell(progress: &Progress) {
    let known = match progress.reading {
        Some(reading) => {
            format!("{} links known, {} hosts, {} alarms", reading.links, reading.hosts, reading.alarms)
        }
        None => format!("{} links probed", progress.probed_links),
    };
    let cores = progress.cores.map_or_else(String::new, |cores| format!("; controller {cores:.2} cores"));
    let memory = progress.memory.map_or_else(String::new, |bytes| format!(", {:.0} MB", bytes as f64 / 1e6));
    let Progress { seconds, switches, frames, own_cores, .. } = progress;
    output::aside(&format!(
        "{seconds:6.1} s: {switches} switches, {known}, {frames} frames/s{cores}{memory}; own {own_cores:.2} cores\n"
    ));
}

fn discovery_text(report: &Report, network: &str) -> String {
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let cores = |cores: Option<f64>| cores.map_or_else(|| "?".to_owned(), |cores| format!("{cores:.2}"));
    let complete = match report.complete_after {
        Some(seconds) => format!("map complete after {seconds:.1} s"),
        None => "map never complete".to_owned(),
    };
    let hosts = match report.hosts_after {
        Some(seconds) => format!("{} hosts known {seconds:.1} s later\n", report.hosts),
        None => String::new(),
    };
    let peak = report.peak_memory.map_or_else(|| "?".to_owned(), |bytes| format!("{:.0}", megabytes(bytes)));
    let (mapping, rest) = (report.mapping, report.rest);
    format!(
        "{network}: {} switches, {} directed links: {complete}\n\
         {hosts}{} links lost, {} alarms, {} connections closed; {} links known at the end\n\
         controller: {} cores until complete, {} afterwards ({:.0} s); {peak} MB at most\n\
         frames a second: {:.0} until complete, {:.0} afterwards; this command: {:.2} and {:.2} cores, {:.0} MB\n\
         {}{}{}{}{}",
        report.switches,
        report.directed_links,
        report.lost_links,
        report.alarms,
        report.closures,
        report.known_links,
        cores(mapping.cores),
        cores(rest.cores),
        rest.seconds,
        mapping.frames_per_second,
        rest.frames_per_second,
        mapping.own_cores,
        rest.own_cores,
        megabytes(report.own_peak_memory),
        report.connections.map_or_else(String::new, |busy| busy_text("connections", &busy)),
        report.overload.map_or_else(String::new, |busy| busy_text("overload", &busy)),
        report.rolling.map_or_else(String::new, |rejoin| rejoin_text("rolling", &rejoin)),
        report.pod.map_or_else(String::new, |rejoin| rejoin_text("pod", &rejoin)),
        report.death.map_or_else(String::new, |death| death_text(&death)),
    )
}

fn busy_text(name: &str, busy: &Busy) -> String {
    let Busy { connections, echo, answered_after } = busy;
    let millis = |seconds: f64| 1e3 * seconds;
    let after = answered_after.map_or_else(|| "more than 60 s".to_owned(), |after| format!("{after:.2} s"));
    format!(
        "{name}: {} first packets in {:.0} s, {} answered, {} dropped by switches, {} rules\n\
         {name}: an echo took {:.1} ms (p50), {:.1} ms (p99), {:.1} ms (longest of {}); afterwards all were answered within {after}\n",
        connections.offered,
        connections.seconds,
        connections.answered,
        connections.dropped,
        connections.rules,
        millis(echo.p50),
        millis(echo.p99),
        millis(echo.max),
        echo.count,
    )
}

fn rejoin_text(name: &str, rejoin: &Rejoin) -> String {
    let Rejoin { switches, joined, attempts, expected_losses, lost_links, seconds, .. } = rejoin;
    let after =
        |time: Option<f64>| time.map_or_else(|| "never".to_owned(), |time| format!("after {time:.1} s"));
    let unknown =
        rejoin.unknown_for.map_or_else(String::new, |time| format!(", each unknown for {time:.1} s"));
    format!(
        "{name}: {switches} switches left within {seconds:.1} s, {joined} joined again, the last {}, with {attempts} attempts\n\
         {name}: {lost_links} links lost, at most {expected_losses} expected{unknown}; map complete {}\n",
        after(rejoin.joined_after),
        after(rejoin.complete_after),
    )
}

fn death_text(death: &Death) -> String {
    let Death { dpid, directed_links, changes, last_change_after } = death;
    let last = last_change_after.map_or_else(String::new, |after| format!(", the last after {after:.3} s"));
    format!(
        "switch {dpid} died with {directed_links} directed links: {changes} changes of rules and groups{last}\n"
    )
}

fn print(result: &impl Serialize) -> anyhow::Result<()> {
    let mut document = serde_json::to_value(result)?;
    if let Some(fields) = document.as_object_mut() {
        fields.insert("schema".to_owned(), json!("braid/v1"));
    }
    output::json(&document)
}
