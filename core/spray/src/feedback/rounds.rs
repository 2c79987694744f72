//! Rounds of probes, one on each path: regular ones, and others between them while an answer is late.

use std::time::Duration;

use braid_types::Time;

/// The part of the interval after which another round begins while an answer is late.
const EXTRA: f64 = 0.25;

/// When rounds of probes begin.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    interval: Duration,
    /// When the last round ended.
    ended: Time,
    /// When the next regular round begins.
    regular: Time,
    /// When the next round begins.
    due: Time,
}

impl Rounds {
    pub(super) const fn new(now: Time, interval: Duration) -> Self {
        Self { interval, ended: now, regular: now, due: now }
    }

    pub(super) const fn due(&self) -> Time {
        self.due
    }

    /// Whether a round at this time is not a regular one.
    pub(super) fn is_extra(&self, now: Time) -> bool {
        now < self.regular
    }

    /// Ends a round; after a pause, missed ones are not made up for.
    pub(super) fn end(&mut self, now: Time) {
        self.ended = now;
        if !self.is_extra(now) {
            self.regular = (self.regular + self.interval).max(now);
        }
    }

    /// Sets when the next round begins, if it is doubtful from then on whether some path answers.
    pub(super) fn schedule(&mut self, doubtful: Option<Time>) {
        let extra = doubtful.map(|from| from.max(self.ended + self.interval.mul_f64(EXTRA)));
        self.due = extra.map_or(self.regular, |extra| extra.min(self.regular));
    }
}
