//! What was counted at both ends of a link.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What was counted on a directed link over some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LossEvidence {
    /// Frames that were sent into it.
    pub frames: u64,
    /// Frames of them that were not received, or were damaged.
    pub lost: u64,
    /// Frames of them that arrived damaged.
    pub damaged: u64,
    /// The time.
    pub time: Duration,
}

impl LossEvidence {
    /// The share of frames that did not arrive, or arrived damaged.
    pub fn share(&self) -> f64 {
        (self.lost as f64 / self.frames.max(1) as f64).min(1.0)
    }
}

impl fmt::Display for LossEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, lost, damaged, time } = self;
        write!(f, "{lost} of {frames} frames in {:.1} s", time.as_secs_f64())?;
        if *damaged > 0 { write!(f, ", {damaged} of them damaged") } else { Ok(()) }
    }
}
