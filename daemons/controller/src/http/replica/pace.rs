//! How often the engine is occupied by copies.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// No rest is longer.
pub(super) const MAX_REST: Duration = Duration::from_millis(250);
/// Rests are saved up to this long, as timers go by milliseconds.
pub(super) const SAVED: Duration = Duration::from_millis(2);

/// Rests between copies.
#[derive(Debug)]
pub(super) struct Pace {
    rested: Instant,
    /// After a copy that occupied the engine for a time, it has so many times that time for the network.
    rest: u32,
    /// Rests that may be owed before somebody waits for one.
    credit: Duration,
}

impl Pace {
    pub(super) fn new(rest: u32, credit: Duration) -> Self {
        Self { rested: Instant::now(), rest, credit }
    }

    /// Waits until another copy may begin.
    pub(super) async fn rest(&self) {
        if self.rested > Instant::now() + self.credit + SAVED {
            sleep_until(self.rested - self.credit).await;
        }
    }

    /// Notes how long a copy has occupied the engine.
    pub(super) fn note(&mut self, took: Duration) {
        self.rested = self.rested.max(Instant::now()) + took.saturating_mul(self.rest).min(MAX_REST);
    }
}
