//! Jitter of intervals, different for each port.

use std::time::Duration;

use braid_types::{SwitchPort, Time};

/// The interval, shortened by up to a fifth, so that frames of many ports are not sent together.
pub(crate) fn jittered(interval: Duration, at: SwitchPort, now: Time) -> Duration {
    let seed = at.dpid.0.rotate_left(32) ^ u64::from(at.port.0) ^ now.as_nanos();
    // Fibonacci hashing: the upper bits depend on the whole seed.
    let parts = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    interval - interval * parts as u32 / (5 * 256)
}
