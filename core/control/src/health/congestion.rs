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
/// Below this share of its capacity a link cannot have been full for a noticeable part of a step.
const IDLE_SHARE: f64 = 0.05;
/// Traffic is steady if its rate differs from that of the step before by this factor at most.
const STEADY: f64 = 2.0;
/// The least delay counts as that without queues for one to two of these.
const EPOCH: Duration = Duration::from_secs(600);

/// The load and the queue of one direction of a link.
#[derive(Debug, Default)]
pub(super) struct Congestion {
    /// The least delay of this epoch and of the one before: a queue may last for longer than the usual window.
    least: [Option<Duration>; 2],
    epoch: Time,
    /// The load of the step before, in bits a second.
    load: f64,
}

/// How much of the link's capacity was used in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Usage {
    /// It had room all the time: what is missing is the link's.
    Room,
    /// It may have been full for a moment: traffic came in a burst, of which the step does not show how fast it was.
    Burst,
    /// It was full, or frames waited.
    Full,
}

impl Congestion {
    /// Whether frames may have been lost in this step because the link was full.
    pub(super) fn note(&mut self, step: &Step, state: LinkState, delay: Option<DelayReading>) -> Usage {
        let load = f64::from(step.bytes) * 8.0 / step.time.as_secs_f64();
        let before = std::mem::replace(&mut self.load, load);
        let delays = delay.map(|delay| (self.least(step.at, delay.base), delay.latest));
        let waits = delays.is_some_and(|(least, latest)| {
            latest.saturating_sub(least) >= QUEUE_DELAY.max(least / QUEUE_SHARE)
        });
        let share = |load: f64| if state.capacity.0 > 0 { load / state.capacity.as_f64() } else { 0.0 };
        let (higher, lower) = (load.max(before), load.min(before));
        if waits || share(load) >= FULL_SHARE {
            Usage::Full
        } else if share(higher) >= IDLE_SHARE && higher > STEADY * lower {
            Usage::Burst
        } else {
            Usage::Room
        }
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
