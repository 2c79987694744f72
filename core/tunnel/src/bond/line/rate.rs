//! What a path can carry: the most that has arrived by it while something queued, or a little more than has arrived.

use std::collections::VecDeque;

use braid_types::BitsPerSec;

use crate::bond::frame::Answer;

/// Arrivals are counted over this time, in nanoseconds: jitter bunches them.
const SPAN: u64 = 150_000_000;
/// The other end's clock may stand still.
const MAX_MARKS: usize = 256;
/// The most of this time counts, up to twice as long.
const WINDOW: u64 = 3_000_000_000;
/// A queue that is never shorter, in seconds, shows that the path is full.
const FULL: f64 = 0.004;
/// With fewer packets of one's own in that time, the queue is that of others.
const OWN_PACKETS: u32 = 2;
/// A path that is not full is given so much more than has arrived, and so many bytes a second at least.
const GROWTH: f64 = 1.5;
const LEAST: f64 = 1e6;
/// The arrival of a train takes so many nanoseconds at least: the receiver sees several frames at once.
const SHORTEST_TRAIN: u64 = 100_000;
/// So many bytes between two probes are a burst.
const BURST: u32 = 6_000;

/// The rate of a path that was not full lately is unknown: it grows with what the path carries, so that no queue grows far
/// before it is seen.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    marks: VecDeque<Mark>,
    /// Bytes a second that arrived at most while it was full, and at all.
    most: [Most; 2],
    since: u64,
    /// Bytes a second that arrived last.
    lately: f64,
    /// Whether it was full all that time.
    is_full: bool,
    /// Before anything was measured.
    given: Option<f64>,
    /// What a train of frames showed, which counts until the path is full for the first time since traffic began.
    trained: f64,
    was_full: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Most {
    full: f64,
    any: f64,
    /// Between two probes.
    burst: f64,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    /// By the other end's clock.
    arrived: u64,
    bytes: u32,
    received: u32,
    queue: f64,
}

impl Mark {
    /// Bytes a second since then, if they were a burst.
    fn burst_rate(&self, arrived: u64, bytes: u32) -> f64 {
        let (seconds, bytes) =
            (arrived.saturating_sub(self.arrived) as f64 / 1e9, bytes.wrapping_sub(self.bytes));
        if bytes >= BURST && seconds > 0.0 { f64::from(bytes) / seconds } else { 0.0 }
    }
}

impl Rate {
    pub(super) fn new(given: Option<BitsPerSec>) -> Self {
        let given = given.map(|rate| rate.0 as f64 / 8.0);
        Self {
            marks: VecDeque::new(),
            most: Default::default(),
            since: 0,
            lately: 0.0,
            is_full: false,
            given,
            trained: 0.0,
            was_full: false,
        }
    }

    /// What had arrived when a probe did; packets wait so many seconds.
    pub(super) fn note(&mut self, answer: &Answer, queue: f64) {
        let Answer { arrived, bytes, received, .. } = *answer;
        let before = self.marks.back().map_or(self.since, |last| last.arrived);
        if arrived < before && before.saturating_sub(arrived) < WINDOW {
            return;
        }
        if arrived < before {
            // The other end has started anew, and its clock with it.
            self.forget(arrived);
        }
        if arrived.saturating_sub(self.since) >= WINDOW {
            (self.most, self.since) = ([Most::default(), self.most[0]], arrived);
        }
        let burst = self.marks.back().map_or(0.0, |last| last.burst_rate(arrived, bytes));
        self.most[0].burst = self.most[0].burst.max(burst);
        self.marks.push_back(Mark { arrived, bytes, received, queue });
        let is_old = |it: &Mark| arrived.saturating_sub(it.arrived) >= SPAN;
        while self.marks.get(1).is_some_and(is_old) || self.marks.len() > MAX_MARKS {
            self.marks.pop_front();
        }
        let Some(first) = self.marks.front() else { return };
        let span = arrived.saturating_sub(first.arrived);
        if span < SPAN {
            return;
        }
        let rate = f64::from(bytes.wrapping_sub(first.bytes)) / (span as f64 / 1e9);
        self.lately = rate;
        let own = received.wrapping_sub(first.received);
        self.is_full = own >= OWN_PACKETS && self.marks.iter().all(|mark| mark.queue > FULL);
        let most = &mut self.most[0];
        most.any = most.any.max(rate);
        most.full = if self.is_full { most.full.max(rate) } else { most.full };
        self.was_full |= self.is_full;
    }

    /// The other end counts anew from this time of its clock on.
    pub(super) fn forget(&mut self, now: u64) {
        (self.most, self.since, self.lately, self.is_full) = (Default::default(), now, 0.0, false);
        self.marks.clear();
    }

    /// Traffic pauses.
    pub(super) fn wake(&mut self) {
        self.marks.clear();
        (self.lately, self.is_full, self.was_full) = (0.0, false, false);
    }

    /// So many bytes that were sent together took so long.
    pub(super) fn note_train(&mut self, bytes: u32, nanos: u64) {
        self.trained = f64::from(bytes) / (nanos.max(SHORTEST_TRAIN) as f64 / 1e9);
    }

    /// How long the path takes for so many bytes.
    pub(super) fn seconds(&self, bytes: usize) -> f64 {
        bytes as f64 / self.full().unwrap_or_else(|| self.assumed())
    }

    fn assumed(&self) -> f64 {
        let trained = if self.was_full { LEAST } else { self.trained.max(LEAST) };
        self.given.unwrap_or(trained).max(self.most(|it| it.any) * GROWTH)
    }

    /// How long it takes for so many bytes if it carries no more than it did in any burst.
    pub(super) fn burst_seconds(&self, bytes: usize) -> f64 {
        let rate = self.most(|it| it.burst);
        if rate > 0.0 { bytes as f64 / rate } else { self.seconds(bytes) }
    }

    /// What it carried while it was full, in bytes a second; `None` if it was not lately.
    pub(super) fn full(&self) -> Option<f64> {
        Some(self.most(|it| it.full)).filter(|rate| *rate > 0.0)
    }

    /// The same if it is full now: what is known is up to date.
    pub(super) fn full_now(&self) -> Option<f64> {
        self.full().filter(|_| self.is_full)
    }

    /// Bytes a second that arrived last.
    pub(super) const fn lately(&self) -> f64 {
        self.lately
    }

    /// The most that it carried lately.
    pub(super) fn carried(&self) -> f64 {
        self.most(|it| it.any)
    }

    fn most(&self, of: fn(&Most) -> f64) -> f64 {
        of(&self.most[0]).max(of(&self.most[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many bytes in as many packets of a kilobyte have arrived at this millisecond.
    fn note_at(rate: &mut Rate, millis: u64, bytes: u32, queue: f64) {
        let answer =
            Answer { arrived: millis * 1_000_000, bytes, received: bytes / 1_000, ..Answer::default() };
        rate.note(&answer, queue);
    }

    /// Marks each 20 ms from this millisecond on, with so many bytes between two.
    fn note(rate: &mut Rate, from: u64, bytes: u32) {
        (0..50).for_each(|turn: u32| note_at(rate, from + 20 * u64::from(turn), turn * bytes, 0.1));
    }

    #[test]
    fn a_queue_of_others_does_not_say_what_a_path_carries() {
        let mut rate = Rate::new(None);
        note(&mut rate, 1_000, 10);
        assert_eq!(rate.full(), None);
    }

    #[test]
    fn a_clock_that_stands_still_takes_no_memory() {
        let mut rate = Rate::new(None);
        (0..10_000).for_each(|bytes| note_at(&mut rate, 1, bytes, 0.0));
        assert!(rate.marks.len() <= MAX_MARKS);
    }

    #[test]
    fn a_train_counts_until_the_path_is_full_for_the_first_time() {
        let mut rate = Rate::new(None);
        assert_eq!(rate.seconds(1_000_000), 1.0);
        rate.note_train(18_000, 3_000_000);
        assert!((rate.seconds(6_000_000) - 1.0).abs() < 1e-9);
        note(&mut rate, 1_000, 40_000);
        assert_eq!(rate.seconds(2_000_000), 1.0);
        rate.wake();
        rate.note_train(1, 0);
        assert_eq!((rate.full(), rate.seconds(2_000_000)), (Some(2e6), 1.0));
    }

    #[test]
    fn only_a_path_that_is_full_now_says_what_it_carries_now() {
        let mut rate = Rate::new(None);
        note(&mut rate, 1_000, 20_000);
        assert_eq!(rate.full_now(), Some(1e6));
        note_at(&mut rate, 2_000, 1_000_000, 0.0);
        assert_eq!((rate.full_now(), rate.full()), (None, Some(1e6)));
    }

    #[test]
    fn the_rate_is_known_again_when_the_other_end_has_started_anew() {
        let mut rate = Rate::new(None);
        note(&mut rate, 864_000_000, 20_000);
        assert_eq!((rate.lately(), rate.full()), (1e6, Some(1e6)));
        note_at(&mut rate, 863_999_999, 7, 0.1);
        assert_eq!(rate.lately(), 1e6, "one that was overtaken");
        note(&mut rate, 1_000, 2_000);
        assert_eq!((rate.lately(), rate.full()), (1e5, Some(1e5)));
    }
}
