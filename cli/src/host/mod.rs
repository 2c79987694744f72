//! `braid host`: the agent on MPTCP hosts, and what it is made of.

mod endpoints;
mod limits;
mod monitor;
mod run;

use braid_host::netlink::NetlinkError;
use braid_host::pm::PathManager;
use clap::Subcommand;

use crate::exit::Code;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the agent until SIGTERM or Ctrl-C, in this network namespace (root)
    ///
    /// Prints one line of JSON once it is ready; logs go to standard error. When it ends, everything that it has set is
    /// as it was before.
    Run(run::Args),
    /// The addresses that the kernel opens subflows from or tells peers of
    #[command(subcommand)]
    Endpoints(endpoints::Command),
    /// How many subflows the kernel opens and accepts for a connection
    #[command(subcommand)]
    Limits(limits::Command),
    /// Show what happens to MPTCP connections, line by line, until Ctrl-C (root)
    ///
    /// Each line has the connection's token, the event, and the ends of the subflow, this host's first.
    Monitor(Json),
}

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Json {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run::execute(&args),
        Command::Endpoints(command) => endpoints::execute(command),
        Command::Limits(command) => limits::execute(&command),
        Command::Monitor(Json { json }) => monitor::execute(json),
    }
}

/// What this namespace's path managers say and do.
fn path_manager() -> anyhow::Result<PathManager> {
    PathManager::open().map_err(|error| match error {
        NetlinkError::NoFamily(_) => {
            let text = format!("{error}: use a kernel with CONFIG_MPTCP");
            crate::exit::error(Code::Machine, text)
        }
        _ => error.into(),
    })
}
