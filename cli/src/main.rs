//! The `braid` command.

mod calibrate;
mod check;
mod client;
mod commands;
mod complete;
mod config_file;
mod edge;
mod exit;
mod host;
mod listen;
mod logging;
mod openflow;
mod output;
mod panics;
mod paths;
mod run;
mod service;
mod site;
mod table;
mod testbed;
mod topology;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

const EXIT_CODES: &str = "Exit codes: 0 success; 1 failure; 2 invalid command line or file; 3 not found; \
4 the machine lacks a feature, or the caller a permission; 5 an expectation was not met.";

/// Send one transfer over every path of a network.
#[derive(Parser)]
#[command(name = "braid", version, max_term_width = 100, after_long_help = EXIT_CODES)]
struct Cli {
    /// Log more; give it twice for debug output. Or set BRAID_LOG, such as `debug` or `braid_control=trace`.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, display_order = 900)]
    verbose: u8,
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    complete::answer_shell();
    let cli = match parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(refusal) => return refuse(&refusal),
    };
    logging::init(cli.verbose);
    exit::code(cli.command.execute())
}

/// Why a command line is not executed.
enum Refusal {
    /// The options, those of this file included; or help was asked for.
    Options(clap::Error, Option<PathBuf>),
    File(config_file::ConfigFileError),
}

/// Parses a command line, with the options of the file that it names.
fn parse(arguments: Vec<OsString>) -> Result<Cli, Refusal> {
    let arguments = config_file::expand(&Cli::command(), arguments).map_err(Refusal::File)?;
    Cli::try_parse_from(arguments.all).map_err(|error| Refusal::Options(error, arguments.file))
}

/// Prints the requested help, or what is wrong with the command line or the file.
fn refuse(refusal: &Refusal) -> ExitCode {
    match refusal {
        Refusal::Options(error, None) if !error.use_stderr() => {
            return exit::code(output::text(&error.render().to_string()));
        }
        // Without a command, clap renders the help.
        Refusal::Options(error, None) if !error.render().to_string().starts_with("error: ") => {
            output::aside(&error.render().to_string());
        }
        refusal => exit::say(&refusal.to_string()),
    }
    refusal.code().into()
}

impl Refusal {
    /// A configuration that is not there is not found, as any other file.
    fn code(&self) -> exit::Code {
        let cause = match self {
            Self::File(config_file::ConfigFileError::Read { source, .. }) => exit::of_system(source),
            _ => None,
        };
        cause.unwrap_or(exit::Code::Usage)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Options(error, file) => {
                let text = error.render().to_string();
                let reason = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
                match file {
                    Some(file) => write!(f, "with {}: {reason}", file.display()),
                    None => f.write_str(reason),
                }
            }
        }
    }
}
