//! The interface to a testbed, whose links users of the controller can cut and change.

use std::fmt;

use braid_api::{LinkChange, TestbedLink};

/// A testbed. Its methods may block for a while; one is called at a time.
pub trait Testbed: fmt::Debug + Send + Sync {
    /// The testbed's links in their current state.
    ///
    /// # Errors
    ///
    /// The reason, as text.
    fn links(&self) -> Result<Vec<TestbedLink>, String>;

    /// Changes the link between two ends in both directions and returns its new state. Unnamed properties keep their values.
    ///
    /// One of several links between two switches is named by a port, as in `s1:2`.
    ///
    /// # Errors
    ///
    /// The link does not exist, the value is refused, or the change fails.
    fn change(&self, ends: [&str; 2], change: LinkChange) -> Result<TestbedLink, TestbedError>;
}

/// Errors of link changes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TestbedError {
    /// There is no such link.
    #[error("{0}")]
    NoLink(String),
    /// A link cannot have these values.
    #[error("{0}")]
    Refused(String),
    /// The change failed.
    #[error("{0}")]
    Failed(String),
}
