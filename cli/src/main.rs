//! The `braid` command.

mod calibrate;
mod client;
mod commands;
mod edge;
mod exit;
mod host;
mod logging;
mod openflow;
mod output;
mod panics;
mod paths;
mod run;
mod site;
mod table;
mod testbed;
mod topology;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const EXIT_CODES: &str = "Exit codes: 0 success; 1 failure; 2 invalid command line or file; 3 not found; \
4 the machine lacks a feature; 5 an expectation was not met.";

/// Send one transfer over every path of a network.
#[derive(Parser)]
#[command(name = "braid", version, max_term_width = 100, after_long_help = EXIT_CODES)]
struct Cli {
    /// Log more; give it twice for debug output. Or set BRAID_LOG, such as `debug` or `braid_control=trace`.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 900)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show one transfer over every path of a small network (root)
    ///
    /// Builds the Amsterdam-Geneva testbed from namespaces and Open vSwitch, runs iperf3 over one path and
    /// over both, in both directions, prints a table and removes everything. Takes about a minute.
    Demo(commands::demo::Args),
    /// Run the OpenFlow controller
    #[command(subcommand)]
    Controller(commands::controller::Command),
    /// Run an edge switch, which sprays flows over several paths and resequences them
    #[command(subcommand)]
    Edge(edge::Command),
    /// Join sites by encrypted tunnels over all of their uplinks, without a controller
    #[command(subcommand)]
    Site(site::Command),
    /// Manage the MPTCP subflows of this host
    #[command(subcommand)]
    Host(host::Command),
    /// Build testbeds from network namespaces and Open vSwitch
    #[command(subcommand)]
    Lab(commands::lab::Command),
    /// Simulate large networks with the controller's own steering
    #[command(subcommand)]
    Sim(commands::sim::Command),
    /// Measure the papers' figures, store them, and show them beside the papers'
    #[command(subcommand)]
    Results(commands::results::Command),
    /// Show a cluster of controllers, and hand leadership over
    #[command(subcommand)]
    Cluster(commands::cluster::Command),
    /// List the switches connected to a controller
    Switches(commands::switches::Args),
    /// List the directed links between switches with their measurements
    ///
    /// DELAY is the delay without queues, NOW the delay with them. A value older than 3 seconds is followed by its age.
    Links(commands::links::Args),
    /// List the interfaces of hosts and the ports that they are attached to
    Hosts(client::WatchArgs),
    /// List edges with their spray groups (paths and shares) and resequencers
    ///
    /// CAPACITY is the estimated capacity of a path: its rate when it last queued. QUEUE is its queueing delay. HOLD is the hold
    /// time of resequenced packets in the last second.
    Edges(client::WatchArgs),
    /// List alarms: forged LLDP, stolen addresses and floods, by port
    Alarms(client::ListArgs),
    /// List events of the network, each with its reason
    Events(commands::events::Args),
    /// Play back a recorded run on the page, without a controller and without root
    ///
    /// Prints the address to open in a browser, and serves until Ctrl-C.
    Page(commands::page::Args),
    /// Find sets of paths between two switches or hosts
    ///
    /// Searches the network of a running controller, or with --topology one from a file or generator. Exits with 3 if there
    /// is no path.
    Paths(commands::paths::Args),
    /// Check, show and change the policy: which traffic is steered, and how
    #[command(subcommand)]
    Policy(commands::policy::Command),
    /// Copy recordings of a controller without their secrets
    #[command(subcommand)]
    Recording(commands::recording::Command),
    /// List the transfers in progress with their streams and paths
    Transfers(client::WatchArgs),
    /// Run a command and give each of its TCP connections a path of its own
    ///
    /// The controller assigns paths for each host that the command connects to, and places each connection before its first
    /// packet leaves. The command needs no change, and its exit code is passed on. Example: braid run --paths 4 -- iperf3 -c
    /// 10.0.0.2 -P 8
    Run(run::Args),
    Calibrate(calibrate::Args),
    /// Describe, convert and generate networks
    #[command(subcommand)]
    Topology(commands::topology::Command),
    /// Check whether this machine has the features that labs need
    ///
    /// Tries each feature in a temporary network namespace; nothing else on the machine changes. Exits with 4 if a required
    /// feature is missing.
    Doctor(commands::doctor::Args),
    /// Decode OpenFlow messages
    #[command(subcommand)]
    Openflow(commands::openflow::Command),
    /// Print a completion script for a shell
    Completion(commands::completion::Args),
    /// Print the manual pages
    Man(commands::man::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    logging::init(cli.verbose);
    exit::code(execute(cli.command))
}

fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo(args) => commands::demo::execute(&args),
        Command::Controller(command) => commands::controller::execute(command),
        Command::Edge(command) => edge::execute(command),
        Command::Site(command) => site::execute(&command),
        Command::Host(command) => host::execute(command),
        Command::Lab(command) => commands::lab::execute(command),
        Command::Sim(command) => commands::sim::execute(command),
        Command::Results(command) => commands::results::execute(command),
        Command::Cluster(command) => commands::cluster::execute(&command),
        Command::Switches(args) => commands::switches::execute(&args),
        Command::Links(args) => commands::links::execute(&args),
        Command::Alarms(args) => commands::alarms::execute(&args),
        Command::Events(args) => commands::events::execute(&args),
        Command::Hosts(args) => commands::hosts::execute(&args),
        Command::Edges(args) => commands::edges::execute(&args),
        Command::Page(args) => commands::page::execute(args),
        Command::Paths(args) => commands::paths::execute(&args),
        Command::Policy(command) => commands::policy::execute(&command),
        Command::Recording(command) => commands::recording::execute(&command),
        Command::Transfers(args) => commands::transfers::execute(&args),
        Command::Run(args) => run::execute(args),
        Command::Calibrate(args) => calibrate::execute(&args),
        Command::Topology(command) => commands::topology::execute(&command),
        Command::Doctor(args) => commands::doctor::execute(&args),
        Command::Openflow(command) => commands::openflow::execute(&command),
        Command::Completion(args) => commands::completion::execute(&args),
        Command::Man(args) => commands::man::execute(&args),
    }
}

/// Prints the requested help, or the error of the command line.
fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if !error.use_stderr() {
        return exit::code(output::text(&text.to_string()));
    }
    let text = text.to_string();
    match text.strip_prefix("error: ") {
        Some(reason) => exit::say(reason.trim_end()),
        // Without a command, clap renders the help.
        None => exit::say_as_it_is(&text),
    }
    exit::Code::Usage.into()
}
