//! Why a load ends early.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use braid_types::DatapathId;

/// Why a load ends early.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Nobody listens there.
    #[error("no controller at {to}: {source}")]
    Connect {
        /// The address.
        to: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The operating system refuses.
    #[error("the operating system refuses: {0}")]
    System(#[from] io::Error),
    /// The controller does not go on.
    #[error("no {what} within {after:?}")]
    Stuck {
        /// What was waited for.
        what: String,
        /// For how long.
        after: Duration,
    },
    /// The controller closed the connection of a switch.
    #[error("the controller closed the connection of switch {dpid}: {why}")]
    Closed {
        /// The switch.
        dpid: DatapathId,
        /// What the socket says.
        why: String,
    },
    /// The load asks for something impossible.
    #[error("{0}")]
    Impossible(String),
}
