//! Whether a link loses frames because it is full: those are congestion, and a queue's, not the link's.

use std::time::Duration;

use braid_topology::LinkState;
use braid_types::Time;

use super::step::Step;
use crate::measurement::DelayReading;

/// From this share of its capacity on a link may lose frames,
const FULL_SHARE: f64 = 0.9;
/// and while they wait in it for this long, or for this share of its delay if that is longer.
const QUEUE_DELAY: Duration = Duration::from_millis(3);
const QUEUE_SHARE: u32 = 4;
/// The least delay counts as that without queues for one to two of these.
const EPOCH: Duration = Duration::from_secs(600);

/// The load and the queue of one direction of a link.
#[derive(Debug, Default)]
pub(super) struct Congestion {
    /// The least delay of this epoch and of the one before: a queue may last for longer than the usual window.
    least: [Option<Duration>; 2],
    epoch: Time,
}

impl Congestion {
    /// Whether frames may have been lost in this step because the link was full.
    pub(super) fn note(&mut self, step: &Step, state: LinkState, delay: Option<DelayReading>) -> bool {
        let load = f64::from(step.bytes) * 8.0 / step.time.as_secs_f64();
        let is_full = state.capacity.0 > 0 && load >= FULL_SHARE * state.capacity.as_f64();
        let delays = delay.map(|delay| (self.least(step.at, delay.base), delay.latest));
        is_full
            || delays.is_some_and(|(least, latest)| {
                latest.saturating_sub(least) >= QUEUE_DELAY.max(least / QUEUE_SHARE)
            })
    }

    fn least(&mut self, now: Time, base: Duration) -> Duration {
        if now.since(self.epoch) >= EPOCH {
            (self.least, self.epoch) = ([None, self.least[0]], now);
        }
        let [current, before] = self.least;
        let least = current.map_or(base, |least| least.min(base));
        self.least[0] = Some(least);
        before.map_or(least, |before| before.min(least))
    }
}
