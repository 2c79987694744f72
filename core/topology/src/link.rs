//! Directed links with their capacity, delay and load.

use std::time::Duration;

use braid_types::{BitsPerSec, SwitchPort};
use serde::{Deserialize, Serialize};

/// A directed link: one direction of a link or tunnel between two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    /// The port that frames leave. At most one directed link leaves a port, so this identifies the link.
    pub src: SwitchPort,
    /// The port at which they arrive.
    pub dst: SwitchPort,
}

/// The state of a directed link, which may change while the link stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct LinkState {
    /// Its capacity.
    pub capacity: BitsPerSec,
    /// Its propagation delay, if known.
    pub delay: Option<Duration>,
    /// Its current load, which may exceed the assumed capacity.
    pub load: BitsPerSec,
    /// Whether it is up but loses frames, and how badly.
    #[serde(default, skip_serializing_if = "Degradation::is_none")]
    pub degradation: Degradation,
}

/// How badly a link that is up loses or corrupts frames, in steps that double; none for links that work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Degradation(u8);

impl Link {
    /// Whether `other` is the other direction of the same link.
    pub fn is_reverse_of(&self, other: &Self) -> bool {
        self.src == other.dst && self.dst == other.src
    }

    /// Whether one of its ends is `at`.
    pub fn touches(&self, at: SwitchPort) -> bool {
        self.src == at || self.dst == at
    }

    /// The other direction of the same link, whether it exists or not.
    pub const fn reversed(&self) -> Self {
        Self { src: self.dst, dst: self.src }
    }
}

impl LinkState {
    /// An idle link of this capacity and unknown delay.
    pub const fn of_capacity(capacity: BitsPerSec) -> Self {
        Self { capacity, delay: None, load: BitsPerSec(0), degradation: Degradation::NONE }
    }

    /// The spare capacity.
    pub const fn available(&self) -> BitsPerSec {
        BitsPerSec(self.capacity.0.saturating_sub(self.load.0))
    }
}

impl Degradation {
    /// That of a link that works.
    pub const NONE: Self = Self(0);

    /// That of a degraded link that loses this share of its frames, from 0 to 1. Never none.
    #[must_use]
    pub fn of_loss(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * 100.0 + 1.0).log2() as u8 + 1)
    }

    /// Whether the link works.
    pub const fn is_none(&self) -> bool {
        self.0 == 0
    }

    /// From 0 to 7, as the share of lost frames doubles: 2 is from 1 %, 7 from 63 %.
    pub const fn steps(self) -> u32 {
        self.0 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degradation_grows_with_the_share_of_lost_frames() {
        let steps = [0.0, 0.005, 0.01, 0.02, 0.03, 0.1, 0.63, 1.0].map(|it| Degradation::of_loss(it).steps());
        assert_eq!(steps, [1, 1, 2, 2, 3, 4, 7, 7]);
        assert_eq!(Degradation::of_loss(f64::NAN).steps(), 1);
        assert!(Degradation::default().is_none() && !Degradation::of_loss(0.0).is_none());
    }
}
