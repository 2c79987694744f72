//! Directed links, and the capacity, delay and load known of them.

use std::time::Duration;

use braid_types::{BitsPerSec, SwitchPort};
use serde::{Deserialize, Serialize};

/// One direction of a link or tunnel between two ports; the other direction is a link of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    /// Where frames leave. At most one link leaves a port, so this names the link.
    pub src: SwitchPort,
    /// Where they arrive.
    pub dst: SwitchPort,
}

/// What is known of a link beside its ends. It may change while the link stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct LinkState {
    /// How much it carries in this direction.
    pub capacity: BitsPerSec,
    /// How long a bit travels, if that is known.
    pub delay: Option<Duration>,
    /// How much it carries now; it may be more than the capacity that is believed.
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

    /// The capacity that is not in use.
    pub const fn available(&self) -> BitsPerSec {
        BitsPerSec(self.capacity.0.saturating_sub(self.load.0))
    }
}
