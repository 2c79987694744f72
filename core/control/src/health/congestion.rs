//! Whether a link loses frames because it is full: those are congestion, and a queue's, not the link's.

use std::time::Duration;

use braid_topology::LinkState;
use braid_types::Time;

use super::step::Step;
use crate::measurement::DelayReading;

/// From this share of its capacity on a link may lose frames.
const FULL_SHARE: f64 = 0.9;
/// It may also while they wait in it for this long, or for this share of its delay if that is longer.
const QUEUE_DELAY: Duration = Duration::from_millis(3);
const QUEUE_SHARE: u32 = 4;
/// A burst that fills the link for this long may overflow a queue, in seconds. Shorter ones are not recognised.
const FULL_TIME: f64 = 0.05;
/// Traffic is steady if the rates of steps differ by this factor at most.
const STEADY: f64 = 2.0;
/// The least delay counts as that without queues for one to two of these.
const EPOCH: Duration = Duration::from_secs(600);

/// The load and the queue of one direction of a link.
#[derive(Debug, Default)]
pub(super) struct Congestion {
    /// The least delay of this epoch and of the one before: a queue may last for longer than the usual window.
    least: [Option<Duration>; 2],
    epoch: Time,
    /// The traffic of the two steps before: a burst may fall into both.
    before: [Traffic; 2],
}

/// The traffic of a step.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    /// The share of the capacity in use; 0 if that is not known.
    share: f64,
    /// The time in seconds for which the link was full if it was idle for the rest.
    full: f64,
}

impl Traffic {
    fn of(step: &Step, state: LinkState) -> Self {
        let time = step.time.as_secs_f64();
        let full = match state.capacity.0 {
            0 => 0.0,
            _ => f64::from(step.bytes) * 8.0 / state.capacity.as_f64(),
        };
        Self { share: full / time, full }
    }

    /// Whether one of them is a burst beside the other.
    fn differs(self, other: Self) -> bool {
        let (higher, lower) = if self.share > other.share { (self, other) } else { (other, self) };
        higher.full >= FULL_TIME && higher.share > STEADY * lower.share
    }
}

/// How much of the link's capacity was used in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Usage {
    /// Nothing shows that it was full: what is missing is the link's.
    Room,
    /// It may have been full for a moment: the rate changed, and the step does not show how high it was.
    Burst,
    /// It was full, or frames waited.
    Full,
}

impl Congestion {
    /// How much of the capacity was used in this step.
    pub(super) fn note(&mut self, step: &Step, state: LinkState, delay: Option<DelayReading>) -> Usage {
        let traffic = Traffic::of(step, state);
        let differs = self.before.iter().any(|before| before.differs(traffic));
        let [_, last] = self.before;
        self.before = [last, traffic];
        let delays = delay.map(|delay| (self.least(step.at, delay.base), delay.latest));
        let waits = delays.is_some_and(|(least, latest)| {
            latest.saturating_sub(least) >= QUEUE_DELAY.max(least / QUEUE_SHARE)
        });
        if waits || traffic.share >= FULL_SHARE {
            Usage::Full
        } else if differs {
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

#[cfg(test)]
mod tests {
    use braid_types::BitsPerSec;

    use super::*;

    /// The usage of a step after two others, all of this length, with these shares of the capacity.
    fn usage(time: u64, [before, share]: [f32; 2], delays: Option<[u64; 2]>) -> Usage {
        let state = LinkState { capacity: BitsPerSec(8_000_000), ..LinkState::default() };
        let delay = delays.map(|[base, latest]| DelayReading {
            base: Duration::from_millis(base),
            current: Duration::from_millis(latest),
            latest: Duration::from_millis(latest),
            p50: Duration::from_millis(latest),
            p99: Duration::from_millis(latest),
            at: Time::ZERO,
        });
        let (mut congestion, time) = (Congestion::default(), Duration::from_millis(time));
        let step = |share: f32| Step { time, bytes: share * 1e6 * time.as_secs_f32(), ..Step::default() };
        for share in [before; 2] {
            congestion.note(&step(share), state, None);
        }
        congestion.note(&step(share), state, delay)
    }

    #[test]
    fn a_link_is_full_by_its_load_or_its_queue() {
        assert_eq!(usage(1_000, [0.91, 0.91], None), Usage::Full);
        assert_eq!(usage(1_000, [0.89, 0.89], None), Usage::Room);
        assert_eq!(usage(1_000, [0.5, 0.5], Some([20, 24])), Usage::Room);
        assert_eq!(usage(1_000, [0.5, 0.5], Some([20, 26])), Usage::Full);
    }

    #[test]
    fn a_rate_that_changes_may_hide_that_it_was_full_for_a_twentieth_of_a_second() {
        for (time, shares, expected) in [
            (1_000, [0.0, 0.06], Usage::Burst),
            (1_000, [0.06, 0.0], Usage::Burst),
            (1_000, [0.0, 0.04], Usage::Room),
            (1_000, [0.06, 0.1], Usage::Room),
            (200, [0.0, 0.2], Usage::Room),
            (200, [0.0, 0.3], Usage::Burst),
        ] {
            assert_eq!(usage(time, shares, None), expected, "{time} {shares:?}");
        }
    }

    #[test]
    fn nothing_is_full_whose_capacity_is_not_known() {
        let mut congestion = Congestion::default();
        let step = Step { time: Duration::from_secs(1), bytes: 1e9, ..Step::default() };
        assert_eq!(congestion.note(&step, LinkState::default(), None), Usage::Room);
    }
}
