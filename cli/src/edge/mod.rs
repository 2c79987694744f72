//! `braid edge`: the edge switch and its groups.

mod group;
mod run;

use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the edge until SIGTERM or Ctrl-C, over interfaces of this network namespace (root)
    ///
    /// The edge is an OpenFlow 1.3 switch that forwards nothing until a controller adds flows. Prints one line of JSON once it
    /// is ready; logs go to standard error.
    Run(run::Args),
    /// Set and show the spraying and resequencing groups of an edge
    #[command(subcommand)]
    Group(group::Command),
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run::execute(&args),
        Command::Group(command) => group::execute(command),
    }
}
