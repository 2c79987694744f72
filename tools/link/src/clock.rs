//! The monotonic clock, and the translation of the kernel's receive timestamps to it.

use std::time::Duration;

use braid_types::Time;
use rustix::time::{ClockId, clock_gettime};

/// The oldest plausible timestamp in nanoseconds; an older one is from before a change of the real-time clock.
const MAX_STAMP_AGE: u64 = 1_000_000_000;

/// The monotonic time since its start, and the translation of the kernel's timestamps to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    now: Time,
    real: u64,
}

impl Clock {
    /// Reads both of the kernel's clocks.
    pub(crate) fn read() -> Self {
        let nanos = |clock| {
            let time = clock_gettime(clock);
            // The clocks count from the boot and from 1970.
            time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
        };
        Self { now: Time::from_nanos(nanos(ClockId::Monotonic)), real: nanos(ClockId::Realtime) }
    }

    pub(crate) const fn now(&self) -> Time {
        self.now
    }

    /// The arrival time of a frame whose timestamp is `seconds` and `nanos` of real time.
    pub(crate) fn arrival(&self, seconds: u32, nanos: u32) -> Time {
        let stamp = u64::from(seconds) * 1_000_000_000 + u64::from(nanos);
        self.now - Duration::from_nanos(self.real.saturating_sub(stamp).min(MAX_STAMP_AGE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_as_long_ago_as_the_real_time_says() {
        let clock = Clock { now: Time::from_millis(50_000), real: 1_700_000_000_500_000_000 };
        assert_eq!(clock.arrival(1_700_000_000, 500_000_000), Time::from_millis(50_000));
        assert_eq!(clock.arrival(1_700_000_000, 498_000_000), Time::from_millis(49_998));
    }

    #[test]
    fn a_real_time_that_was_set_does_not_send_frames_through_time() {
        let clock = Clock { now: Time::from_millis(50_000), real: 1_700_000_000_000_000_000 };
        assert_eq!(clock.arrival(1_800_000_000, 0), Time::from_millis(50_000));
        assert_eq!(clock.arrival(1_600_000_000, 0), Time::from_millis(49_000));
    }
}
