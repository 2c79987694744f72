//! `braid controller`: the controller as a service, and what can be asked of it without one.

mod cluster;
mod configuration;
mod file;
mod metrics;
mod openflow_tls;
mod options;

use std::net::SocketAddr;
use std::path::PathBuf;

use braid_controller::{Config, Controller, ControllerError, Reload};
use clap::Subcommand;

pub(super) use file::configuration_of;

use crate::exit::{self, Code};
use crate::listen;
use crate::output;
use crate::panics;
use crate::service::{self, Heartbeat};
use file::ReloadedFile;
use options::Run;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the controller until SIGTERM or Ctrl-C
    ///
    /// Prints one line of JSON with its addresses once it is ready; logs go to standard error.
    Run(Box<Run>),
    /// Check a configuration and the files that it names, without opening anything
    Check {
        /// The configuration, in TOML
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// List the metrics that a controller serves: names, types, units, labels and meanings
    Metrics {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn execute(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Run(run) => self::run(*run),
        Command::Check { file } => file::check(&file),
        Command::Metrics { json } => metrics::execute(json),
    }
}

fn run(run: Run) -> anyhow::Result<()> {
    panics::end_the_process();
    let reload = run.config.as_deref().map(ReloadedFile::read).transpose()?;
    let config = configuration::of(run)?;
    let reload = reload.map(|file| Box::new(file) as Box<dyn Reload>);
    let controller = match Controller::bind(Config { reload, ..config }) {
        Err(error @ (ControllerError::Open { .. } | ControllerError::OpenToSwitches { .. })) => {
            return Err(exit::error(Code::Usage, error.to_string()));
        }
        Err(ref error @ ControllerError::Listen { address, ref source, .. }) => {
            return Err(listen::in_use(error, address, source, "--openflow or --http"));
        }
        other => other?,
    };
    let mut ready = Some((controller.openflow(), controller.http()));
    let mut heartbeat = Heartbeat::from_environment();
    Ok(controller.serve_until_signalled(Box::new(move || {
        if let Some((openflow, http)) = ready.take() {
            say_ready(openflow, http);
        }
        heartbeat.beat();
    }))?)
}

/// Reports the addresses: switches and API clients are served from now on.
fn say_ready(openflow: SocketAddr, http: SocketAddr) {
    tracing::info!(%openflow, %http, "ready");
    let line = serde_json::json!({ "schema": "braid/v1", "openflow": openflow, "http": http });
    if let Err(error) = output::text(&format!("{line}\n")) {
        tracing::warn!(%error, "nobody reads the addresses");
    }
    service::ready();
}
