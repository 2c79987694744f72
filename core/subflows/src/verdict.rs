//! What a trial has found.

use std::fmt;

use braid_types::BitsPerSec;

use crate::Suspicion;

/// The connection's rate must grow by this part through a subflow, or the subflow is suspended.
const MIN_GAIN: f64 = 0.02;

/// The result of a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict<K> {
    /// The subflow.
    pub subflow: K,
    /// What has become of it.
    pub outcome: Outcome,
    /// Why it was tried first.
    pub suspicion: Suspicion,
    /// The connection's rate with it.
    pub with: BitsPerSec,
    /// The connection's rate without it.
    pub without: BitsPerSec,
}

/// What becomes of a subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is suspended: the connection carries as much without it.
    Suspended,
    /// It carries data as before: the connection is faster with it.
    Kept,
    /// It stays suspended.
    StillSuspended,
    /// It carries data again.
    Resumed,
}

impl Outcome {
    /// Its name in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Suspended => "suspended",
            Self::Kept => "kept",
            Self::StillSuspended => "still-suspended",
            Self::Resumed => "resumed",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

pub(crate) fn is_worth(with: f64, without: f64) -> bool {
    with > without * (1.0 + MIN_GAIN)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float saturates as an integer"
)]
pub(crate) const fn bits_per_sec(rate: f64) -> BitsPerSec {
    BitsPerSec(rate as u64)
}
