//! Why a site cannot run.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::config::ConfigError;
use crate::lan::is_privilege;

/// Why a site cannot run.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// A device cannot be used.
    #[error("{device}: {what}: {source}{}", remedy(.source))]
    Device {
        /// Its name.
        device: String,
        /// What failed.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The local network cannot be set up.
    #[error("`{command}` failed: {reason}")]
    Ip {
        /// The command.
        command: String,
        /// What it said.
        reason: String,
    },
    /// Addresses cannot be translated.
    #[error("table {table} of nftables: {source}")]
    Nat {
        /// The table.
        table: String,
        /// Why.
        source: io::Error,
    },
    /// Metrics cannot be served.
    #[error("metrics at {address}: {source}")]
    Metrics {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The socket for `braid site status` cannot be made.
    #[error("{}: {source}", .path.display())]
    Status {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system refuses something else.
    #[error("{what}: {source}")]
    System {
        /// What failed.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}

/// Why a site goes on with what its file said before.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReloadError {
    /// The file cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It changes what a site has from its start on.
    #[error("{}: a restart is needed to change {}", .file.display(), .keys.join(", "))]
    NeedsRestart {
        /// The file.
        file: PathBuf,
        /// The keys.
        keys: Vec<&'static str>,
    },
    /// The system refuses it.
    #[error(transparent)]
    Site(#[from] SiteError),
}

fn remedy(error: &io::Error) -> &'static str {
    if is_privilege(error) { "; run it as root, or with CAP_NET_ADMIN and CAP_NET_RAW" } else { "" }
}

impl SiteError {
    pub(crate) fn system(what: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System { what, source: source.into() }
    }
}
