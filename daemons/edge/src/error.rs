//! Errors that keep an edge from starting or running.

use std::io;
use std::net::SocketAddr;

/// Why an edge cannot run.
#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    /// An interface cannot be used.
    #[error("interface {device}: {what}: {source}")]
    Device {
        /// The interface.
        device: String,
        /// What was tried.
        what: &'static str,
        /// What the kernel says.
        source: io::Error,
    },
    /// Two interfaces, or tunnels, have one number.
    #[error("{0} and {1} have the same port number")]
    SameNumber(String, String),
    /// Uplinks contradict each other.
    #[error(transparent)]
    Uplinks(#[from] braid_switch::UplinkError),
    /// An address cannot be listened on.
    #[error("listening on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// Something that every machine does.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the kernel says.
        source: io::Error,
    },
}

impl EdgeError {
    pub(crate) fn system(what: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System { what, source: source.into() }
    }
}
