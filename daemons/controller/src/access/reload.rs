//! Reload of the TLS certificate and key at SIGHUP.

use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};

use super::Tls;

/// Reads the certificate and its key again at each SIGHUP; files that do not fit change nothing.
pub(crate) async fn follow(tls: Option<Tls>) {
    let Some(tls) = tls else { return };
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => hangups,
        Err(error) => return error!(%error, "SIGHUP cannot be caught: the certificate stays as it is"),
    };
    while hangups.recv().await.is_some() {
        match tls.reload() {
            Ok(()) => info!(file = %tls.certificate().display(), "the certificate was read again"),
            Err(error) => error!("the certificate stays as it is: {error}"),
        }
    }
}
