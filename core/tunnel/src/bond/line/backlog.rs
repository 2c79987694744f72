//! A model of what is queued inside a path: it fills with each packet that is sent, and time empties it.

use braid_types::Time;

/// Seconds that the next packet waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Backlog {
    seconds: f64,
    /// The time for which that holds.
    updated: Time,
}

impl Backlog {
    pub(super) const fn new(now: Time) -> Self {
        Self { seconds: 0.0, updated: now }
    }

    pub(super) fn at(&self, now: Time) -> f64 {
        (self.seconds - now.since(self.updated).as_secs_f64()).max(0.0)
    }

    /// A packet is sent that takes so long; what would wait longer than `bound` is dropped by the path, mostly.
    pub(super) fn add(&mut self, now: Time, seconds: f64, bound: f64) {
        (self.seconds, self.updated) = ((self.at(now) + seconds).min(bound), now);
    }

    /// More waits by so much, or less.
    pub(super) fn correct(&mut self, now: Time, wrong: f64) {
        (self.seconds, self.updated) = ((self.at(now) + wrong).max(0.0), now);
    }
}
