//! `braid site`: one box of a site, its keys, its file and its state.

mod show;

use std::io;
use std::path::{Path, PathBuf};

use braid_site::{Config, SiteDaemon, SiteError, generate, write_new};
use clap::Subcommand;

use crate::exit::{self, Code, ExitWith};
use crate::output;
use crate::service::{self, Heartbeat};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a private key, and print the public key for the other sites
    ///
    /// The file gets mode 0600, and an existing one is never overwritten. For a file that exists, prints its public key.
    Keygen {
        /// The file of the private key
        #[arg(default_value = "site.key", value_name = "FILE")]
        file: PathBuf,
    },
    /// Check a site's file and private key, without opening anything
    Check {
        /// The site's file
        #[arg(default_value = "site.toml", value_name = "FILE")]
        file: PathBuf,
    },
    /// Run the site until SIGTERM or Ctrl-C: encrypted tunnels over all of its uplinks (root)
    ///
    /// Prints one line of JSON once it is ready; logs go to standard error. Interfaces that are absent are waited for.
    /// At SIGHUP it reads its file again, for other peers and other rules of traffic; a file with mistakes changes nothing.
    Run {
        /// The site's file
        #[arg(default_value = "site.toml", value_name = "FILE")]
        file: PathBuf,
    },
    /// Show the paths of a running site: shares, round trips, losses
    Status {
        /// The site's file
        #[arg(default_value = "site.toml", value_name = "FILE")]
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Repeat every second until Ctrl-C
        #[arg(long, conflicts_with = "json")]
        watch: bool,
    },
}

pub(crate) fn execute(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Keygen { file } => keygen(file),
        Command::Check { file } => check(file),
        Command::Run { file } => run(file),
        Command::Status { file, json, watch } => show::execute(&read(file)?, *json, *watch),
    }
}

fn read(file: &Path) -> anyhow::Result<Config> {
    Config::read(file).exit_with(Code::Usage)
}

fn keygen(file: &Path) -> anyhow::Result<()> {
    let key = generate()?;
    match write_new(file, &key) {
        Ok(()) => output::text(&format!("{}\n", key.public())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let key = braid_site::read_key(file).exit_with(Code::Usage)?;
            exit::say(&format!("{} exists already and stays as it is", file.display()));
            output::text(&format!("{}\n", key.public()))
        }
        Err(error) => Err(anyhow::Error::from(error).context(format!("cannot write {}", file.display()))),
    }
}

fn check(file: &Path) -> anyhow::Result<()> {
    let config = read(file)?;
    let paths: usize = config.peers.iter().map(|peer| peer.dials.len()).sum();
    let kind = if config.lan.ethernet { "bridged" } else { "routed" };
    output::text(&format!(
        "{}: {kind}, uplinks {}, peers {}, paths to dial {paths}\npublic key: {}\n",
        file.display(),
        config.uplinks.len(),
        config.peers.len(),
        config.key.public(),
    ))
}

fn run(file: &Path) -> anyhow::Result<()> {
    let config = read(file)?;
    let daemon = SiteDaemon::new(&config);
    let mut daemon = daemon.or_else(|error| {
        let code = match &error {
            SiteError::Device { source, .. } => exit::of_system(source).unwrap_or(Code::Machine),
            _ => Code::Failure,
        };
        Err(error).exit_with(code)
    })?;
    let mut heartbeat = Heartbeat::from_environment();
    let mut ready = Some(config);
    Ok(daemon.run_until_signalled(file, &mut || {
        if let Some(config) = ready.take() {
            say_ready(&config);
        }
        heartbeat.beat();
    })?)
}

/// Says that packets are passed and signals are handled.
fn say_ready(config: &Config) {
    let key = config.key.public().to_string();
    let ready = serde_json::json!({ "schema": "braid/v1", "public_key": key, "device": config.lan.device });
    if let Err(error) = output::json(&ready) {
        tracing::warn!(%error, "nobody reads that the site is ready");
    }
    service::ready();
}
