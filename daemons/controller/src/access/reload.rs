//! Reload of the TLS certificate and key at SIGHUP.

use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info};

use super::Tls;

/// Reads the certificate and key again at each SIGHUP; invalid files change nothing.
pub(crate) async fn follow(tls: Option<Tls>) {
    let Some(tls) = tls else { return std::future::pending().await };
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => hangups,
        Err(error) => {
            error!(%error, "cannot install a handler for SIGHUP: the certificate will not be reloaded");
            return std::future::pending().await;
        }
    };
    while hangups.recv().await.is_some() {
        match tls.reload() {
            Ok(()) => info!(file = %tls.certificate().display(), "certificate reloaded"),
            Err(error) => error!("certificate not reloaded, the old one stays in use: {error}"),
        }
    }
}
