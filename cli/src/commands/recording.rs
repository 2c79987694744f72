//! `braid recording`: copies of recordings that can be shown to others.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Subcommand;

use crate::exit::{Code, ExitWith};
use crate::output;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Copy a recording without its secrets, for a bug report
    ///
    /// Replaces the key of discovery frames and the keys and tokens of MPTCP connections, and fills payloads of packets with
    /// zeros. A replay of the copy gives the same decisions. Addresses, ports, names of switches and the policy stay in it.
    Scrub(Scrub),
}

#[derive(clap::Args)]
pub(crate) struct Scrub {
    /// The recording, from `braid controller run --record`
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// The copy
    #[arg(value_name = "COPY")]
    copy: PathBuf,
    /// Replace the copy if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn execute(command: &Command) -> anyhow::Result<()> {
    let Command::Scrub(args) = command;
    scrub(args)
}

fn scrub(Scrub { recording, copy, force }: &Scrub) -> anyhow::Result<()> {
    if copy.exists() && !force {
        bail!("{} exists: name another file, or give --force", copy.display());
    }
    if copy.canonicalize().is_ok_and(|copy| recording.canonicalize().is_ok_and(|it| it == copy)) {
        bail!("the copy would replace the recording: name another file");
    }
    let (mut secret, mut seed) = ([0; 32], [0; 8]);
    getrandom::fill(&mut secret).and_then(|()| getrandom::fill(&mut seed)).context("no random numbers")?;
    let done = braid_recording::scrub(recording, copy, secret, u64::from_ne_bytes(seed))
        .with_context(|| recording.display().to_string())
        .exit_with(Code::Usage)?;
    output::text(&format!(
        "{}: {} events, {} packets without payload, {} discovery frames signed again, {} MPTCP keys replaced\n",
        copy.display(),
        done.events,
        done.packets,
        done.probes,
        done.keys
    ))
}
