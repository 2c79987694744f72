//! The controller's clock, and a number that later starts have higher.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use braid_types::Time;

/// The controller's clock: time since it started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn now(self) -> Time {
        Time::ZERO + self.0.elapsed()
    }
}

/// Higher for a controller that starts later: nanoseconds since 1970.
pub(crate) fn generation() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
