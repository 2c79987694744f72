//! How trials are timed.

use std::time::Duration;

use braid_types::{Backoff, BitsPerSec};

/// The times of trials, and what is too little to be tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How long a rate is measured.
    pub window: Duration,
    /// The longest wait for a suspended subflow to deliver what it was given.
    pub max_draining: Duration,
    /// The longest wait for a resumed subflow to grow; it is ten round trips if that is less.
    pub max_growing: Duration,
    /// The pauses between trials of a subflow.
    pub pause: Backoff,
    /// A slower connection is left alone.
    pub min_rate: BitsPerSec,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(1),
            max_draining: Duration::from_secs(2),
            max_growing: Duration::from_secs(3),
            pause: Backoff::between(Duration::from_secs(30), Duration::from_secs(600)),
            min_rate: BitsPerSec(1_000_000),
        }
    }
}
