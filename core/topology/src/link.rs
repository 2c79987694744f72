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
}

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
        Self { capacity, delay: None, load: BitsPerSec(0) }
    }

    /// The spare capacity.
    pub const fn available(&self) -> BitsPerSec {
        BitsPerSec(self.capacity.0.saturating_sub(self.load.0))
    }
}
