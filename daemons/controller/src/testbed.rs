//! The interface to a testbed, whose links users of the controller can cut, change, add and remove.

use std::fmt;

use braid_api::{LinkChange, NewTestbedLink, TestbedLink};

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

    /// Adds a link between two switches, with a new port at each, and returns it.
    ///
    /// # Errors
    ///
    /// A switch does not exist, the testbed cannot make such a link now, or making it fails.
    fn add(&self, between: [&str; 2], link: NewTestbedLink) -> Result<TestbedLink, TestbedError>;

    /// Removes the link between two switches with both ports, and returns its last state. Named as in [`Self::change`].
    ///
    /// # Errors
    ///
    /// The link does not exist, the testbed cannot remove it now, or the removal fails.
    fn remove(&self, ends: [&str; 2]) -> Result<TestbedLink, TestbedError>;
}

/// Errors of changes of links.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TestbedError {
    /// There is no such link, or switch.
    #[error("{0}")]
    NoLink(String),
    /// A link cannot have these values, or the testbed cannot do this now.
    #[error("{0}")]
    Refused(String),
    /// The change failed.
    #[error("{0}")]
    Failed(String),
}
