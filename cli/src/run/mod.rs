//! `braid run`: a command whose TCP connections are announced to a controller before they open.

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

/// Run a command and give each of its TCP connections a path of its own
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Number of paths assigned for each host that the command connects to
    #[arg(long, value_name = "PATHS", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=16), conflicts_with = "assignment")]
    paths: u8,
    /// Number of connections that will open, if known: few connections use only the best paths
    #[arg(long, value_name = "STREAMS", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "assignment")]
    streams: Option<u16>,
    /// How connections are distributed over the paths: in proportion to what each can use (weight), to all in turn
    /// (round-robin), all to the shortest, or all to the one of this number (path:2; the shortest is path:0)
    #[arg(long = "distribute", value_name = "HOW", default_value_t = Distribution::Weight, conflicts_with = "assignment")]
    distribution: Distribution,
    /// Do not announce connections to these TCP ports, such as a control port: they take the default path
    #[arg(long = "exclude-port", value_name = "PORT", value_delimiter = ',')]
    excluded_ports: Vec<u16>,
    /// Use the paths of this assignment
    #[arg(long, value_name = "ID", env = "MPATH_ASSIGNMENT_ID")]
    assignment: Option<String>,
    /// The owner of the assignments; owners share links equally
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// The address of the controller's API
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8653", env = "BRAID_CONTROLLER")]
    controller: Url,
    /// Print the bytes of each path as JSON to standard error
    #[arg(long)]
    json: bool,
    /// Do not print the bytes of each path
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
    /// Become the command (internal)
    #[arg(long, hide = true)]
    begin: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Ends with the command's exit code.
pub(crate) fn execute(args: Args) -> anyhow::Result<()> {
    if args.begin {
        let Err(error) = become_command(&args.command);
        return Err(why_not(&error));
    }
    let client = connect(&args.controller)?;
    if let Some(id) = &args.assignment {
        check_assignment(&client, id)?;
    }
    let watched = start(&args.command)?;
    let assigning = match args.assignment {
        Some(id) => Assigning::Given(id),
        None => {
            Assigning::ByHost { paths: args.paths, streams: args.streams, distribution: args.distribution }
        }
    };
    let mut announcer = Announcer::new(Announced(client), assigning, args.owner);
    let mut has_warned = false;
    let status = watched.serve(|connection| {
        if args.excluded_ports.contains(&connection.dst_port) {
            return;
        }
        if let Err(error) = announcer.announce(connection)
            && !std::mem::replace(&mut has_warned, true)
        {
            exit::say(&format!("{error:#}; connections take the default path"));
        }
    })?;
    if !args.quiet {
        summary::print(&announcer, args.json);
    }
    announcer.release();
    end_as(status)
}

/// An assignment that a controller does not have would be refused for each connection. A controller that does not answer now
/// may answer later.
fn check_assignment(client: &Client, id: &str) -> anyhow::Result<()> {
    match client.list::<Assignment>() {
        Ok(all) if !all.items.iter().any(|it| it.id == id) => {
            let what =
                format!("the controller has no assignment {id}: it has ended, or another controller gave it");
            Err(exit::error(Code::NotFound, what))
        }
        _ => Ok(()),
    }
}

/// The controller to which connections are announced.
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

/// Starts this program again, which then becomes the command.
fn start(command: &[OsString]) -> anyhow::Result<Watched> {
    let own = current_exe().context("cannot determine the path of this executable")?;
    match braid_announce::start(process::Command::new(own).args(["run", "--begin", "--"]).args(command)) {
        // The child has printed the error.
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
        // The exit code of shells.
        (None, Some(signal)) => process::exit(128 + signal),
        (None, None) => Err(exit::error(Code::Failure, format!("the command ended with {status}"))),
    }
}
