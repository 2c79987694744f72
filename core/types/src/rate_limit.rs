//! A token bucket that limits the rate of events.

use std::time::Duration;

use crate::Time;

/// A rate limit with bursts.
///
/// The generic cell rate algorithm, ITU-T I.371: one timestamp instead of a bucket that has to be refilled.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimit {
    /// The theoretical arrival time of the last event.
    due: Time,
}

impl RateLimit {
    /// Whether one more event is within `limit` a second, with bursts of `saved`; a limit of zero means no limit.
    pub fn take(&mut self, now: Time, limit: u32, saved: Duration) -> bool {
        if limit == 0 {
            return true;
        }
        let ahead = self.due.since(now);
        let step = Duration::from_secs(1) / limit;
        let is_within = ahead + step <= saved;
        if is_within {
            self.due = self.due.max(now) + step;
        }
        is_within
    }

    /// Whether the burst allowance is full again, so that the state can be dropped.
    pub fn is_idle(&self, now: Time) -> bool {
        self.due <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAVED: Duration = Duration::from_secs(1);

    fn taken(rate: &mut RateLimit, from: u64, to: u64, limit: u32) -> usize {
        (from..to).filter(|millis| rate.take(Time::from_millis(*millis), limit, SAVED)).count()
    }

    #[test]
    fn a_second_s_worth_passes_at_once_and_then_the_rate() {
        let mut rate = RateLimit::default();
        let at_once = (0..100).filter(|_| rate.take(Time::from_millis(1), 10, SAVED)).count();
        assert_eq!(at_once, 10);
        assert_eq!(taken(&mut rate, 1, 10_002, 10), 100);
    }

    #[test]
    fn what_does_not_pass_does_not_count() {
        let mut rate = RateLimit::default();
        assert_eq!((0..1_000_000).filter(|_| rate.take(Time::ZERO, 3, SAVED)).count(), 3);
        assert!(rate.take(Time::from_millis(334), 3, SAVED));
    }

    #[test]
    fn what_was_quiet_for_long_is_idle() {
        let mut rate = RateLimit::default();
        assert!(rate.take(Time::ZERO, 2, SAVED) && !rate.is_idle(Time::from_millis(499)));
        assert!(rate.is_idle(Time::from_millis(500)));
    }

    #[test]
    fn zero_is_no_limit() {
        assert_eq!((0..1_000).filter(|_| RateLimit::default().take(Time::ZERO, 0, SAVED)).count(), 1_000);
    }
}
