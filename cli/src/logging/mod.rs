//! Logging to standard error, with the level from `BRAID_LOG` or `-v`, and a limit on what peers can cause.

mod limit;

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Initialises logging to standard error, with the level from `BRAID_LOG`, or from the number of `-v`.
pub(crate) fn init(verbose: u8) {
    let level = match verbose {
        0 => "info",
        1 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_env("BRAID_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal())
        .log_internal_errors(false);
    tracing_subscriber::registry()
        .with(filter)
        .with(limit::Limited::default())
        .with(lines.with_target(false))
        .init();
}
