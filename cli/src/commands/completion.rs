//! `braid completion`: scripts that have shells ask `braid` for candidates.

use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::{complete, output};

const NAME: &str = "braid";
/// Where zsh loads the script as a function by the first completion, that one is answered, too.
const FIRST_IN_ZSH: &str =
    "if [ \"$funcstack[1]\" = \"_braid\" ]; then\n    _clap_dynamic_completer_braid \"$@\"\nfi\n";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<()> {
    let shells = Shells::builtins();
    let name = args.shell.to_string();
    let shell =
        shells.completer(&name).ok_or_else(|| anyhow::anyhow!("there is no completion for {name}"))?;
    let mut script = Vec::new();
    shell.write_registration(complete::VARIABLE, NAME, NAME, NAME, &mut script)?;
    let mut script = String::from_utf8(script)?;
    if args.shell == Shell::Zsh {
        script += FIRST_IN_ZSH;
    }
    output::text(&script)
}
