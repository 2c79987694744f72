//! Errors of the link process and of its control clients.

use std::io;
use std::path::PathBuf;

use braid_link_model::ParameterError;

/// Why links cannot be made, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// What is to be done cannot be read.
    #[error("the description of the links: {0}")]
    Setup(serde_json::Error),
    /// An interface cannot be used.
    #[error("interface {device}: {what}: {source}")]
    Device {
        /// Its name.
        device: String,
        /// What was tried.
        what: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// A link cannot be like that.
    #[error("the link of {device}: {source}")]
    Parameters {
        /// The interface that sends.
        device: String,
        /// The cause.
        source: ParameterError,
    },
    /// The control socket cannot be made.
    #[error("{}: {source}", .path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The kernel refuses what every kernel has.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The cause.
        source: io::Error,
    },
}

/// Why a process of links did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// It cannot be reached, or stopped in the middle.
    #[error("the link process does not answer at {}: {source}", .path.display())]
    Unreachable {
        /// Its socket.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It answered with something else.
    #[error("the link process answered {answer:?}: {why}")]
    Nonsense {
        /// What it said.
        answer: String,
        /// What is wrong with it.
        why: String,
    },
    /// It refused.
    #[error("{0}")]
    Refused(String),
}

impl LinkError {
    pub(crate) fn system(what: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System { what, source: source.into() }
    }
}
