//! `braid completion`: completion scripts for shells.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::output;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut crate::Cli::command(), "braid", &mut script);
    output::text(&String::from_utf8(script)?)
}
