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
mod paths;
mod run;
mod table;
mod testbed;
mod topology;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

const EXIT_CODES: &str = "Exit codes: 0 success; 1 failure; 2 wrong command line; 3 what was asked for is not \
                          there; 4 the machine lacks a feature; 5 an expectation was not met.";

/// Every path of a network carries one transfer.
#[derive(Parser)]
#[command(name = "braid", version, max_term_width = 100, after_long_help = EXIT_CODES)]
struct Cli {
    /// Log more; twice: even more. Or set BRAID_LOG, e.g. `debug` or `braid_control=trace`.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 900)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Carry one transfer over every path of a small network (root)
    ///
    /// Builds the Amsterdam-Geneva testbed from namespaces and Open vSwitch, runs iperf3 over one path and
    /// over both, in both directions, prints a table and removes everything. Takes about a minute.
    Demo(commands::demo::Args),
    /// Run the OpenFlow controller
    #[command(subcommand)]
    Controller(commands::controller::Command),
    /// Spray flows over several paths at the network's edge, and put them back in order
    #[command(subcommand)]
    Edge(edge::Command),
    /// Manage the MPTCP subflows of this host
    #[command(subcommand)]
    Host(host::Command),
    /// Build testbeds from network namespaces and Open vSwitch
    #[command(subcommand)]
    Lab(commands::lab::Command),
    /// Simulate networks that do not fit on one machine, with the controller's own steering
    #[command(subcommand)]
    Sim(commands::sim::Command),
    /// List the switches that are connected to a controller
    Switches(client::WatchArgs),
    /// List the links between switches, each direction by itself, with what is measured of it
    ///
    /// DELAY is without queues, NOW with them. A reading that is older than 3 seconds is followed by its age.
    Links(commands::links::Args),
    /// List the interfaces of hosts, and where they are attached
    Hosts(client::WatchArgs),
    /// List the edges: over which paths they spray, with what share of the packets, and what waits to be put in order
    ///
    /// FOUND is what a path carried when it last queued; QUEUE, how long packets wait in it now. WAITED is of the last second.
    Edges(client::WatchArgs),
    /// List what was done at ports that must not be: forged links, stolen addresses, floods
    Alarms(client::ListArgs),
    /// List what happened in the network, each with its reason
    Events(commands::events::Args),
    /// Show a run that was saved on the page, without a controller and without root
    ///
    /// Prints the address to open, and serves until Ctrl-C.
    Page(commands::page::Args),
    /// Find sets of paths between two switches or hosts
    ///
    /// In the network of a running controller, or with --topology in one that is drawn or written down. Exits
    /// with 3 if there is no path.
    Paths(commands::paths::Args),
    /// Check, show and change what is steered how
    #[command(subcommand)]
    Policy(commands::policy::Command),
    /// List the transfers in progress, their streams and the paths of these
    Transfers(client::WatchArgs),
    /// Run a command, and give each TCP connection that it opens a path of its own
    ///
    /// The controller sets paths aside for each host that the command connects to, and places each connection before its
    /// first packet leaves. The command needs no change; it ends as it does alone. Example: braid run --paths 4 -- iperf3 -c
    /// 10.0.0.2 -P 8
    Run(run::Args),
    Calibrate(calibrate::Args),
    /// Look at networks from files, generators or a running controller, and convert them
    #[command(subcommand)]
    Topology(commands::topology::Command),
    /// Tell what this machine has and lacks for labs
    ///
    /// Every feature is tried or looked up, in a network namespace that lives no longer than this command;
    /// nothing else on the machine changes. Exits with 4 if something that labs need is missing.
    Doctor(commands::doctor::Args),
    /// Look into the OpenFlow protocol
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
        Command::Host(command) => host::execute(command),
        Command::Lab(command) => commands::lab::execute(command),
        Command::Sim(command) => commands::sim::execute(command),
        Command::Switches(args) => commands::switches::execute(&args),
        Command::Links(args) => commands::links::execute(&args),
        Command::Alarms(args) => commands::alarms::execute(&args),
        Command::Events(args) => commands::events::execute(&args),
        Command::Hosts(args) => commands::hosts::execute(&args),
        Command::Edges(args) => commands::edges::execute(&args),
        Command::Page(args) => commands::page::execute(args),
        Command::Paths(args) => commands::paths::execute(&args),
        Command::Policy(command) => commands::policy::execute(&command),
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

/// Prints the help that was asked for, or what is wrong with the command line.
fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if !error.use_stderr() {
        return exit::code(output::text(&text.to_string()));
    }
    let text = text.to_string();
    match text.strip_prefix("error: ") {
        Some(reason) => exit::say(reason.trim_end()),
        // Without a command, the help is what is printed.
        None => exit::say_as_it_is(&text),
    }
    exit::Code::Usage.into()
}
