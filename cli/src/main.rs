//! The `braid` command.

mod commands;
mod exit;
mod logging;
mod output;

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
    /// Run the OpenFlow controller
    #[command(subcommand)]
    Controller(commands::controller::Command),
    /// Build testbeds from network namespaces and Open vSwitch
    #[command(subcommand)]
    Lab(commands::lab::Command),
    /// Print a completion script for a shell
    Completion(commands::completion::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    logging::init(cli.verbose);
    let result = match cli.command {
        Command::Controller(command) => commands::controller::execute(command),
        Command::Lab(command) => commands::lab::execute(command),
        Command::Completion(args) => commands::completion::execute(&args),
    };
    exit::code(result)
}
