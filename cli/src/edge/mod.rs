//! `braid edge`: the switch at the network's edge, and its groups.

mod group;
mod run;

use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the edge until SIGTERM or Ctrl-C, over interfaces of this network namespace (root)
    ///
    /// An OpenFlow 1.3 switch. It prints one line of JSON once it is ready; logs go to standard error. It forwards
    /// nothing before somebody gives it flows.
    Run(run::Args),
    /// Have groups of an edge spray, or put in order
    #[command(subcommand)]
    Group(group::Command),
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run::execute(&args),
        Command::Group(command) => group::execute(command),
    }
}
