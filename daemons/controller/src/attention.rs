//! How long the controller did not get to listen: its own delay, which counts as nobody's silence.

use std::time::Duration;

use braid_types::Time;

/// The longest time between two rounds of reading that counts as listening.
const MAX_ROUND: Duration = Duration::from_millis(250);
/// Stalls are reported from this on, so that a report is worth its cost.
const MIN_REPORT: Duration = Duration::from_millis(100);

/// The processor time is read after a round if that was not done for this long, since it costs a system call.
const MARK_INTERVAL: Duration = Duration::from_millis(50);

/// A moment, and the time for which the controller had had a processor by then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) at: Time,
    pub(crate) on_processor: Duration,
}

/// A time in which the controller did not listen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stall {
    pub(crate) time: Duration,
    /// Of this, the time in which it had no processor.
    pub(crate) idle: Duration,
}

/// The account of the time in which the controller listened.
///
/// It listens while it reads everything that is there again and again. A round that takes long counts only in
/// part, and a round that leaves much unread does not count at all: what lies there unread is late through the
/// fault of the controller.
#[derive(Debug)]
pub(crate) struct Attention {
    start: Time,
    /// The time that counts as listening.
    listened: Duration,
    /// When the last round began after which nothing was left.
    read_until: Time,
    reported: Duration,
    /// The last moment of which the processor time is known.
    mark: Mark,
}

impl Attention {
    pub(crate) const fn new(start: Mark) -> Self {
        let (listened, reported) = (Duration::ZERO, Duration::ZERO);
        Self { start: start.at, listened, read_until: start.at, reported, mark: start }
    }

    /// A round that began at this time has read what was there then.
    pub(crate) fn note_round(&mut self, began: Time, mark: impl FnOnce() -> Mark) {
        if began.since(self.mark.at) >= MARK_INTERVAL {
            self.mark = mark();
        }
        self.listened += began.since(self.read_until).min(MAX_ROUND);
        self.read_until = began;
    }

    /// The stall that was not reported yet, if it is long enough for a report.
    pub(crate) fn take_stall(&mut self, now: Time, mark: impl FnOnce() -> Mark) -> Option<Stall> {
        let not_listened = now.since(self.start).saturating_sub(self.listened + MAX_ROUND);
        let stall = not_listened.saturating_sub(self.reported);
        if stall < MIN_REPORT {
            return None;
        }
        self.reported = not_listened;
        let now = mark();
        let before = std::mem::replace(&mut self.mark, now);
        let busy = now.on_processor.saturating_sub(before.on_processor);
        let idle = now.at.since(before.at).saturating_sub(busy).min(stall);
        Some(Stall { time: stall, idle })
    }

    /// All stalls reported so far.
    pub(crate) const fn reported(&self) -> Duration {
        self.reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    /// At a time, after so many milliseconds on a processor.
    const fn mark(millis: u64, on_processor: u64) -> Mark {
        Mark { at: at(millis), on_processor: Duration::from_millis(on_processor) }
    }

    /// A controller that always has a processor.
    fn attention() -> Attention {
        Attention::new(mark(0, 0))
    }

    impl Attention {
        fn round(&mut self, began: u64) {
            self.note_round(at(began), || mark(began, began));
        }

        fn stall(&mut self, now: u64) -> Option<Duration> {
            let stall = self.take_stall(at(now), || mark(now, now))?;
            assert_eq!(stall.idle, Duration::ZERO);
            Some(stall.time)
        }
    }

    #[test]
    fn rounds_in_time_are_no_stall() {
        let mut attention = attention();
        for millis in (0..60_000).step_by(200) {
            attention.round(millis);
            assert_eq!(attention.stall(millis + 150), None);
        }
    }

    #[test]
    fn a_long_round_counts_once_it_is_over_and_before() {
        let mut attention = attention();
        attention.round(100);
        assert_eq!(attention.stall(2_100), Some(Duration::from_millis(1_750)));
        assert_eq!(attention.stall(3_100), Some(Duration::from_millis(1_000)));
        attention.round(3_100);
        assert_eq!(attention.stall(3_200), None);
        assert_eq!(attention.reported(), Duration::from_millis(2_750));
    }

    #[test]
    fn rounds_that_leave_much_unread_are_one_long_stall() {
        let mut attention = attention();
        attention.round(0);
        let stalls: Duration = (1..100).filter_map(|round| attention.stall(round * 100)).sum();
        assert_eq!(stalls, Duration::from_millis(9_900 - 250));
    }

    #[test]
    fn a_controller_that_was_stopped_was_idle_and_one_that_worked_was_not() {
        let mut attention = Attention::new(mark(1_000, 400));
        let stopped = attention.take_stall(at(6_000), || mark(6_000, 420));
        let time = |millis| Duration::from_millis(millis);
        assert_eq!(stopped, Some(Stall { time: time(4_750), idle: time(4_750) }));
        attention.note_round(at(6_000), || mark(6_010, 430));
        let worked = attention.take_stall(at(7_000), || mark(7_000, 1_020));
        assert_eq!(worked, Some(Stall { time: time(750), idle: time(400) }));
    }
}
