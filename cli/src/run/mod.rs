//! Runs a command whose TCP connections are announced to a controller before they open.

mod summary;

use std::env::current_exe;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{self, ExitStatus};

use anyhow::Context;
use braid_announce::{Announcer, Assigning, BecomeError, StartError, Watched, become_command};
use braid_api::{Assignment, Connection, NewAssignment, Requester};
use braid_assign::Distribution;
use braid_client::{Client, Url};

use crate::client::{answer, connect};
use crate::exit::{self, Code};

/// Run a command, and give each TCP connection that it opens a path of its own
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many paths are set aside for each host that the command connects to
    #[arg(long, value_name = "PATHS", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=16), conflicts_with = "assignment")]
    paths: u8,
    /// How many connections will open, if that is known: few keep to the paths on which they carry most
    #[arg(long, value_name = "STREAMS", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "assignment")]
    streams: Option<u16>,
    /// How connections are distributed over the paths: in proportion to what each can use (weight), to all in turn
    /// (round-robin), all to the shortest, or all to the one of this number (path:2; the shortest is path:0)
    #[arg(long = "distribute", value_name = "HOW", default_value_t = Distribution::Weight, conflicts_with = "assignment")]
    distribution: Distribution,
    /// Leave connections to these TCP ports alone, such as one for control: they take the default route
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    except: Vec<u16>,
    /// Use the paths of this assignment
    #[arg(long, value_name = "ID", env = "MPATH_ASSIGNMENT_ID")]
    assignment: Option<String>,
    /// Whose the assignments are; owners share links equally
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// The controller's address for programs
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8653", env = "BRAID_CONTROLLER")]
    controller: Url,
    /// Print what each path carried as JSON, to standard error
    #[arg(long)]
    json: bool,
    /// Do not say what each path carried
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
    /// Be the process that becomes the command
    #[arg(long, hide = true)]
    begin: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Ends as the command does.
pub(crate) fn execute(args: Args) -> anyhow::Result<()> {
    if args.begin {
        let Err(error) = become_command(&args.command);
        return Err(why_not(&error));
    }
    let watched = start(&args.command)?;
    let assigning = match args.assignment {
        Some(id) => Assigning::Given(id),
        None => {
            Assigning::ByHost { paths: args.paths, streams: args.streams, distribution: args.distribution }
        }
    };
    let mut announcer = Announcer::new(Announced(connect(&args.controller)?), assigning, args.owner);
    let mut has_warned = false;
    let status = watched.serve(|connection| {
        if args.except.contains(&connection.dst_port) {
            return;
        }
        if let Err(error) = announcer.announce(connection)
            && !std::mem::replace(&mut has_warned, true)
        {
            exit::say(&format!("{error:#}; connections go the way of all others"));
        }
    })?;
    if !args.quiet {
        summary::print(&announcer, args.json);
    }
    announcer.release();
    end_as(status)
}

/// The controller that is told of connections.
struct Announced(Client);

impl braid_announce::Controller for Announced {
    type Error = anyhow::Error;

    fn assign(&self, wanted: &NewAssignment) -> anyhow::Result<Assignment> {
        answer(self.0.assign(wanted))
    }

    fn place(&self, assignment: &str, connection: &Connection) -> anyhow::Result<()> {
        answer(self.0.place(assignment, connection)).map(drop)
    }

    fn end(&self, assignment: &str, connection: &Connection) -> anyhow::Result<()> {
        answer(self.0.end(assignment, connection))
    }

    fn release(&self, assignment: &str, requester: &Requester) -> anyhow::Result<()> {
        answer(self.0.release(assignment, requester)).map(drop)
    }
}

/// Starts this program once more, to become the command.
fn start(command: &[OsString]) -> anyhow::Result<Watched> {
    let own = current_exe().context("the path of this program")?;
    match braid_announce::start(process::Command::new(own).args(["run", "--begin", "--"]).args(command)) {
        // It has said why.
        Err(StartError::Ended(code)) => process::exit(code),
        started => Ok(started?),
    }
}

fn why_not(error: &BecomeError) -> anyhow::Error {
    let code = match error {
        BecomeError::Watch(_) => Code::Machine,
        BecomeError::Program { source, .. } if source.kind() == io::ErrorKind::NotFound => Code::NotFound,
        _ => Code::Failure,
    };
    exit::error(code, error)
}

fn end_as(status: ExitStatus) -> anyhow::Result<()> {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => process::exit(code),
        // As shells do.
        (None, Some(signal)) => process::exit(128 + signal),
        (None, None) => Err(exit::error(Code::Failure, format!("the command ended with {status}"))),
    }
}
