//! Logging to standard error, with the level from `BRAID_LOG` or `-v`.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

/// Initialises logging to standard error, with the level from `BRAID_LOG`, or from the number of `-v`.
pub(crate) fn init(verbose: u8) {
    let level = match verbose {
        0 => "info",
        1 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("BRAID_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let ansi = stderr().is_terminal();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(ansi)
        .with_target(false)
        .init();
}
