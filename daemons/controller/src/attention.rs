//! How long the controller did not get to listen: its own delay, which counts as nobody's silence.

use std::time::Duration;

use braid_types::Time;

/// The longest time between two rounds of reading that counts as listening.
const MAX_ROUND: Duration = Duration::from_millis(250);
/// Stalls are reported from this on, so that a report is worth its cost.
const MIN_REPORT: Duration = Duration::from_millis(100);

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
}

impl Attention {
    pub(crate) const fn new(start: Time) -> Self {
        Self { start, listened: Duration::ZERO, read_until: start, reported: Duration::ZERO }
    }

    /// A round that began at this time has read what was there then.
    pub(crate) fn note_round(&mut self, began: Time) {
        self.listened += began.since(self.read_until).min(MAX_ROUND);
        self.read_until = began;
    }

    /// The stall that was not reported yet, if it is long enough for a report.
    pub(crate) fn take_stall(&mut self, now: Time) -> Option<Duration> {
        let not_listened = now.since(self.start).saturating_sub(self.listened + MAX_ROUND);
        let stall = not_listened.saturating_sub(self.reported);
        if stall < MIN_REPORT {
            return None;
        }
        self.reported = not_listened;
        Some(stall)
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

    #[test]
    fn rounds_in_time_are_no_stall() {
        let mut attention = Attention::new(at(0));
        for millis in (0..60_000).step_by(200) {
            attention.note_round(at(millis));
            assert_eq!(attention.take_stall(at(millis + 150)), None);
        }
    }

    #[test]
    fn a_long_round_counts_once_it_is_over_and_before() {
        let mut attention = Attention::new(at(0));
        attention.note_round(at(100));
        assert_eq!(attention.take_stall(at(2_100)), Some(Duration::from_millis(1_750)));
        assert_eq!(attention.take_stall(at(3_100)), Some(Duration::from_millis(1_000)));
        attention.note_round(at(3_100));
        assert_eq!(attention.take_stall(at(3_200)), None);
        assert_eq!(attention.reported(), Duration::from_millis(2_750));
    }

    #[test]
    fn rounds_that_leave_much_unread_are_one_long_stall() {
        let mut attention = Attention::new(at(0));
        attention.note_round(at(0));
        let stalls: Duration = (1..100).filter_map(|round| attention.take_stall(at(round * 100))).sum();
        assert_eq!(stalls, Duration::from_millis(9_900 - 250));
    }
}
