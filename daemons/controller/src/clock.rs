//! The controller's clock, and a number that later starts have higher.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use braid_types::Time;
use rustix::time::{ClockId, clock_gettime};

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

/// The time for which this thread has had a processor.
pub(crate) fn time_on_processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or_default(), time.tv_nsec.try_into().unwrap_or_default())
}

/// Higher for a controller that starts later: nanoseconds since 1970.
pub(crate) fn generation() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
