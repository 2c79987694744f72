use std::io::stdout;

use clap::CommandFactory;
use clap_complete::{Shell, generate};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    generate(args.shell, &mut crate::Cli::command(), "braid", &mut stdout());
    Ok(())
}
