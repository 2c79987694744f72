//! Counters of offered, delivered, dropped, lost and reordered frames, and a gauge of those inside.

use serde::{Deserialize, Serialize};

/// So many frames and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Amount {
    /// How many frames.
    pub frames: u64,
    /// Their lengths added up.
    pub bytes: u64,
}

/// What became of the frames that a direction was offered, since it was made.
///
/// `offered` is the sum of the others and of what is inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// All of them.
    pub offered: Amount,
    /// Those that arrived.
    pub delivered: Amount,
    /// Those for which the queue had no room.
    pub overflowed: Amount,
    /// Those that were lost on the way.
    pub lost: Amount,
    /// Of those that arrived, how many overtook others.
    pub reordered: u64,
}

/// What is inside a direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Gauge {
    /// What waits to be sent.
    pub queued: Amount,
    /// What is being sent, or on the way.
    pub flying: Amount,
}

impl Amount {
    pub(crate) fn add(&mut self, bytes: u32) {
        self.frames += 1;
        self.bytes += u64::from(bytes);
    }

    pub(crate) fn remove(&mut self, bytes: u32) {
        self.frames = self.frames.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes.into());
    }
}
