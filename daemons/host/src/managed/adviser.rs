//! The adviser trait, and its form that asks a controller over HTTP.

use std::time::Duration;

use braid_api::{Advice, AdviceRequest};
use braid_client::{Client, Error};

/// Who knows which subflows a connection should have.
pub trait Adviser: Send {
    /// Advice for one connection; the rules of its subflows are in place.
    ///
    /// # Errors
    ///
    /// There is no answer, or none that can be read.
    fn advise(&self, request: &AdviceRequest) -> Result<Advice, Error>;
}

/// How long a controller is waited for: a connection goes on without it.
pub const TIMEOUT: Duration = Duration::from_secs(2);

/// The most bytes of an answer: the agent runs as root and need not trust the controller's size.
pub const MAX_ANSWER: u64 = 1 << 20;

/// A controller, asked over HTTP: `POST /api/v1/advice`.
impl Adviser for Client {
    fn advise(&self, request: &AdviceRequest) -> Result<Advice, Error> {
        Self::advise(self, request)
    }
}
