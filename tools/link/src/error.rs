//! Errors of the link process and of its control clients.

use std::io;
use std::path::PathBuf;

use braid_link_model::ParameterError;

/// Errors of a link process.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The setup cannot be read.
    #[error("invalid setup of links: {0}")]
    Setup(serde_json::Error),
    /// An interface cannot be used.
    #[error("interface {device}: {what}: {source}")]
    Device {
        /// Its name.
        device: String,
        /// The failed operation.
        what: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The link's parameters are invalid.
    #[error("the link of {device}: {source}")]
    Parameters {
        /// The sending interface.
        device: String,
        /// The cause.
        source: ParameterError,
    },
    /// The control socket cannot be created.
    #[error("control socket {}: {source}", .path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A system call failed.
    #[error("{what}: {source}")]
    System {
        /// The failed operation.
        what: &'static str,
        /// The cause.
        source: io::Error,
    },
}

/// Errors of requests to a link process.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// The process cannot be reached, or stopped during the request.
    #[error("the link process does not answer at {}: {source}", .path.display())]
    Unreachable {
        /// Its socket.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The response is invalid.
    #[error("the link process answered {answer:?}: {why}")]
    Nonsense {
        /// The response.
        answer: String,
        /// The error in it.
        why: String,
    },
    /// The process refused the request.
    #[error("{0}")]
    Refused(String),
}

impl LinkError {
    pub(crate) fn system(what: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System { what, source: source.into() }
    }
}
