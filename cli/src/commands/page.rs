//! `braid page`: a recorded run played back on the page.

use std::path::PathBuf;

use anyhow::Context;
use braid_controller::{Playback, SavedRun};

use crate::exit::{Code, ExitWith};
use crate::output;

/// A recorded run of `braid demo` and `tests/page/check`.
const DEMO: &[u8] = include_bytes!("../../../web/demo-run.json.gz");

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A run saved on the page; by default a demonstration
    #[arg(value_name = "FILE")]
    run: Option<PathBuf>,
    /// The port on loopback to serve on; 0: any free one
    #[arg(long, default_value_t = 0)]
    port: u16,
}

pub(crate) fn execute(args: Args) -> anyhow::Result<()> {
    let run = match args.run {
        Some(file) => {
            let run = std::fs::read(&file);
            SavedRun::Plain(run.with_context(|| format!("run {}", file.display())).exit_with(Code::NotFound)?)
        }
        None => SavedRun::Compressed(DEMO),
    };
    let playback = Playback::bind(args.port, run).with_context(|| format!("port {}", args.port))?;
    output::text(&format!("{}\n", playback.url()?))?;
    Ok(playback.serve_until_signalled()?)
}
