//! Errors that keep an edge from starting or running.

use std::io;
use std::net::SocketAddr;

/// Errors of an edge.
#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    /// An interface cannot be used.
    #[error("interface {device}: {what}: {source}")]
    Device {
        /// The interface.
        device: String,
        /// The failed operation.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// Two ports have the same number.
    #[error("{0} and {1} have the same port number: give one of them another number")]
    SameNumber(String, String),
    /// The uplinks are inconsistent.
    #[error(transparent)]
    Uplinks(#[from] braid_switch::UplinkError),
    /// An address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The certificate, its key or the authority cannot be used.
    #[error(transparent)]
    Credentials(#[from] braid_tls::CredentialsError),
    /// A controller speaks TLS, and there is no certificate for it.
    #[error("a controller at ssl: needs --tls-certificate, --tls-key and --tls-ca")]
    NoCredentials,
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// The failed operation.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl EdgeError {
    pub(crate) fn system(what: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System { what, source: source.into() }
    }
}
