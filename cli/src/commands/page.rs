//! `braid page`: a recorded run played back on the page.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use braid_api::Schema;
use braid_controller::{Playback, SavedRun};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::exit::{self, Code, ExitWith};
use crate::{listen, output};

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

/// The run, if it is one that the page saved.
fn checked(run: Vec<u8>, file: &Path) -> anyhow::Result<Vec<u8>> {
    #[derive(Deserialize)]
    struct Saved {
        schema: Schema,
        #[serde(rename = "run")]
        _run: Vec<IgnoredAny>,
    }
    match serde_json::from_slice(&run) {
        Ok(Saved { schema: Schema, .. }) => Ok(run),
        Err(_) => {
            let what = "is no recorded run: save one on the page with its menu \"Save…\"";
            Err(exit::error(Code::Usage, format!("{} {what}", file.display())))
        }
    }
}

pub(crate) fn execute(args: Args) -> anyhow::Result<()> {
    let run = match args.run {
        Some(file) => {
            let run = std::fs::read(&file).with_context(|| format!("run {}", file.display()));
            SavedRun::Plain(checked(run.exit_with(Code::NotFound)?, &file)?)
        }
        None => SavedRun::Compressed(DEMO),
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let refused =
        |cause| listen::in_use(format!("cannot listen on {address}: {cause}"), address, &cause, "--port");
    let playback = Playback::bind(args.port, run).map_err(refused)?;
    output::text(&format!("{}\n", playback.url()?))?;
    Ok(playback.serve_until_signalled()?)
}
