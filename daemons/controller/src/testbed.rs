//! The trait of a testbed: a network whose links API clients can cut and change.

use std::fmt;

use braid_api::{LinkChange, TestbedLink};

/// What built the network. Its methods may take a while; one is called at a time.
pub trait Testbed: fmt::Debug + Send + Sync {
    /// Its links as they are.
    ///
    /// # Errors
    ///
    /// Why they cannot be told, in words.
    fn links(&self) -> Result<Vec<TestbedLink>, String>;

    /// Changes the link between two ends, both ways; what the change does not name stays. The link as it is then.
    ///
    /// Of several links between two switches one is named by a port, as in `s1:2`.
    ///
    /// # Errors
    ///
    /// What is wrong with that.
    fn change(&self, ends: [&str; 2], change: LinkChange) -> Result<TestbedLink, TestbedError>;
}

/// Why a link is not changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TestbedError {
    /// There is none between the two.
    #[error("{0}")]
    NoLink(String),
    /// It cannot be like that.
    #[error("{0}")]
    Refused(String),
    /// Something failed.
    #[error("{0}")]
    Failed(String),
}
