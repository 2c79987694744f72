//! The `braid` command.

mod commands;
mod exit;
mod logging;
mod openflow;
mod output;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Every path of a network carries one transfer.
#[derive(Parser)]
#[command(name = "braid", version, max_term_width = 100)]
struct Cli {
    /// Log more; twice: even more. Or set BRAID_LOG, e.g. `debug` or `braid_control=trace`.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
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
    /// Build testbeds from network namespaces and Open vSwitch
    #[command(subcommand)]
    Lab(commands::lab::Command),
    /// Tell what this machine has and lacks for labs
    Doctor(commands::doctor::Args),
    /// Look into the OpenFlow protocol
    #[command(subcommand)]
    Openflow(commands::openflow::Command),
    /// Print a completion script for a shell
    Completion(commands::completion::Args),
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
        Command::Lab(command) => commands::lab::execute(command),
        Command::Doctor(args) => commands::doctor::execute(&args),
        Command::Openflow(command) => commands::openflow::execute(&command),
        Command::Completion(args) => commands::completion::execute(&args),
    }
}

/// Prints the help that was asked for, or what is wrong with the command line.
fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        return exit::code(output::text(&error.render().to_string()));
    }
    let text = error.render().to_string();
    exit::say(text.strip_prefix("error: ").unwrap_or(&text).trim_end());
    ExitCode::from(exit::Code::Usage as u8)
}
