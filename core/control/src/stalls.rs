//! Time in which the controller could not listen. It counts as nobody's silence.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

/// Stalls that are remembered one by one.
const MAX_STALLS: usize = 1_024;

/// The stalls of the controller.
#[derive(Debug, Default)]
pub(crate) struct Stalls {
    /// Of all stalls.
    total: Duration,
    /// Of this, the time in which the controller was busy.
    busy: Duration,
    /// When each of the last stalls was over, and the total afterwards.
    recent: VecDeque<(Time, Duration)>,
    /// The total before these.
    forgotten: Duration,
}

impl Stalls {
    /// The controller has not listened for `stall` until now, and did not even run for `idle` of it.
    pub(crate) fn note(&mut self, now: Time, stall: Duration, idle: Duration) {
        self.total += stall;
        self.busy += stall.saturating_sub(idle);
        self.recent.push_back((now, self.total));
        if self.recent.len() > MAX_STALLS {
            self.forgotten = self.recent.pop_front().map_or(self.forgotten, |(_, total)| total);
        }
    }

    /// Of all stalls so far, the time in which the controller was busy, rather than without a processor.
    pub(crate) const fn busy(&self) -> Duration {
        self.busy
    }

    /// For how long the controller has listened since `earlier`. A stall that was not over by then is left out
    /// as a whole. O(log n).
    pub(crate) fn listened(&self, now: Time, earlier: Time) -> Duration {
        let over = self.recent.partition_point(|(at, _)| *at <= earlier);
        let before = over.checked_sub(1).and_then(|last| self.recent.get(last));
        let before = before.map_or(self.forgotten, |(_, total)| *total);
        now.since(earlier).saturating_sub(self.total - before)
    }

    /// The time since which the controller has listened for this long.
    pub(crate) fn before(&self, now: Time, listened: Duration) -> Time {
        let mut time = now - listened;
        let mut after = self.total;
        let earlier = self.recent.iter().rev().skip(1).map(|(_, total)| *total).chain([self.forgotten]);
        for ((over, _), total) in self.recent.iter().rev().zip(earlier) {
            if *over <= time {
                break;
            }
            time = time - after.saturating_sub(total);
            after = total;
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    #[test]
    fn only_the_time_spent_listening_counts() {
        let mut stalls = Stalls::default();
        stalls.note(seconds(10), Duration::from_secs(4), Duration::ZERO);
        stalls.note(seconds(20), Duration::from_secs(5), Duration::ZERO);
        let listened = |now, earlier| stalls.listened(seconds(now), seconds(earlier)).as_secs();
        assert_eq!(listened(21, 0), 12);
        assert_eq!(listened(21, 8), 4, "the stall was not over");
        assert_eq!(listened(21, 10), 6);
        assert_eq!(listened(21, 20), 1);
    }

    #[test]
    fn a_time_so_long_ago_leaves_stalls_out() {
        let mut stalls = Stalls::default();
        stalls.note(seconds(10), Duration::from_secs(4), Duration::ZERO);
        stalls.note(seconds(20), Duration::from_secs(5), Duration::ZERO);
        let before = |now, listened| stalls.before(seconds(now), Duration::from_secs(listened));
        assert_eq!(before(30, 10), seconds(20));
        assert_eq!(before(30, 11), seconds(14));
        assert_eq!(before(22, 8), seconds(5));
        assert_eq!(stalls.listened(seconds(22), seconds(5)).as_secs(), 8);
    }

    #[test]
    fn memory_is_bounded_and_forgetting_only_lengthens_no_silence() {
        let mut stalls = Stalls::default();
        let count = 3 * MAX_STALLS as u64;
        (1..=count)
            .for_each(|second| stalls.note(seconds(second), Duration::from_millis(900), Duration::ZERO));
        assert_eq!(stalls.recent.len(), MAX_STALLS);
        assert_eq!(stalls.listened(seconds(count), seconds(count - 10)), Duration::from_secs(1));
    }

    #[test]
    fn time_without_a_processor_was_not_busy() {
        let mut stalls = Stalls::default();
        stalls.note(seconds(10), Duration::from_secs(4), Duration::from_secs(3));
        stalls.note(seconds(20), Duration::from_secs(1), Duration::from_secs(9));
        assert_eq!(stalls.busy(), Duration::from_secs(1));
        assert_eq!(stalls.listened(seconds(20), seconds(0)), Duration::from_secs(15));
    }
}
