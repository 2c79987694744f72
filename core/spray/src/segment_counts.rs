//! Segments of a path, counted at both of its ends.

/// Counts that differ by more were reset.
const RESET_JUMP: u32 = 1 << 24;

/// The segment counts of both edges of a path: sent before a probe was sent, and received before it was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentCounts {
    /// Sent; wraps.
    pub sent: u32,
    /// Received; wraps.
    pub received: u32,
}

impl SegmentCounts {
    /// How many more segments are missing than at `base`; negative if some arrived late.
    pub(crate) const fn missing_since(self, base: Self) -> i32 {
        self.sent
            .wrapping_sub(base.sent)
            .wrapping_sub(self.received.wrapping_sub(base.received))
            .cast_signed()
    }

    /// Whether one of the edges has reset its counts since.
    pub(crate) const fn begins_anew_after(self, last: Self) -> bool {
        self.sent.wrapping_sub(last.sent) > RESET_JUMP
            || self.received.wrapping_sub(last.received) > RESET_JUMP
    }
}
