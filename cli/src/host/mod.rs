//! `braid host`: the agent on MPTCP hosts, and access to the kernel's path manager.

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
    /// Prints one line of JSON once it is ready; logs go to standard error. At its end it restores all settings that it
    /// changed.
    Run(run::Args),
    /// List, add and remove MPTCP endpoints: addresses for subflows
    #[command(subcommand)]
    Endpoints(endpoints::Command),
    /// Show and set the limits of the kernel's path manager
    #[command(subcommand)]
    Limits(limits::Command),
    /// Print events of MPTCP connections until Ctrl-C (root)
    ///
    /// Each line has the connection's token, the event, and the subflow's addresses, the local one first.
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

/// The path manager of this network namespace.
fn path_manager() -> anyhow::Result<PathManager> {
    PathManager::open().map_err(|error| match error {
        NetlinkError::NoFamily(_) => {
            let text = format!("{error}: boot a kernel with CONFIG_MPTCP");
            crate::exit::error(Code::Machine, text)
        }
        _ => error.into(),
    })
}
