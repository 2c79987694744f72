use braid_types::{BitsPerSec, SwitchPort};
use serde::{Deserialize, Serialize};

/// One direction of a cable or tunnel between two ports; the other direction is a link of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    /// Where frames leave. At most one link leaves a port, so this names the link.
    pub src: SwitchPort,
    /// Where they arrive.
    pub dst: SwitchPort,
    /// How much it carries in this direction.
    pub capacity: BitsPerSec,
}

impl Link {
    /// Whether `other` is the other direction of the same cable.
    pub fn is_reverse_of(&self, other: &Self) -> bool {
        self.src == other.dst && self.dst == other.src
    }

    /// Whether one of its ends is `at`.
    pub fn touches(&self, at: SwitchPort) -> bool {
        self.src == at || self.dst == at
    }
}
