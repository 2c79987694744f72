//! `braid host`: the agent on MPTCP hosts, and what it is made of.

mod run;

use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the agent until SIGTERM or Ctrl-C, in this network namespace (root)
    ///
    /// Prints one line of JSON once it is ready; logs go to standard error. When it ends, everything that it has set is
    /// as it was before.
    Run(run::Args),
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run::execute(&args),
    }
}
