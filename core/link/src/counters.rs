//! Counters of offered, delivered, dropped, lost and reordered frames, and a gauge of those inside.

use serde::{Deserialize, Serialize};

/// A number of frames and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Amount {
    /// The number of frames.
    pub frames: u64,
    /// The sum of their lengths.
    pub bytes: u64,
}

/// Counters of the frames offered to a direction since its creation.
///
/// `offered` is the sum of the others and of the frames inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Offered frames.
    pub offered: Amount,
    /// Delivered frames.
    pub delivered: Amount,
    /// Frames dropped at a full queue.
    pub overflowed: Amount,
    /// Lost frames.
    pub lost: Amount,
    /// Delivered frames that overtook others.
    pub reordered: u64,
}

/// The frames inside a direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Gauge {
    /// Frames in the queue.
    pub queued: Amount,
    /// Frames being sent or in flight.
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
