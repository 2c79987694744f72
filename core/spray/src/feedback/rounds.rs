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
            let next = self.regular + self.interval;
            self.regular = if next > now { next } else { now + self.interval };
        }
    }

    /// Sets when the next round begins, if it is doubtful from then on whether some path answers.
    pub(super) fn schedule(&mut self, doubtful: Option<Time>) {
        let extra = doubtful.map(|from| from.max(self.ended + self.interval.mul_f64(EXTRA)));
        self.due = extra.map_or(self.regular, |extra| extra.min(self.regular));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_pause_rounds_begin_anew_and_none_is_made_up_for() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut rounds = Rounds::new(at(0), Duration::from_millis(20));
        let begun = [0, 21, 85, 105].map(|now| {
            rounds.end(at(now));
            rounds.schedule(None);
            rounds.due()
        });
        assert_eq!(begun, [20, 40, 105, 125].map(at));
    }
}
