//! The delay of a path in one direction, by a clock that all paths share: the least, and what packets wait beyond it.

use std::time::Duration;

use braid_types::Time;

/// The least and the longest are taken over this time, up to twice as long.
const LEAST_WINDOW: Duration = Duration::from_secs(20);
const LONGEST_WINDOW: Duration = Duration::from_secs(8);
/// The least delay of this many probes counts: a machine that is busy for a moment is not a queue.
const LATEST: usize = 3;
/// Losses may belong to a queue that this many probes have seen.
pub(super) const RECENT: usize = 8;
/// A queue is about as long as ever from this part on, if it is no mere noise, in seconds.
const CROWDED: f64 = 0.7;
const NOISE: f64 = 0.015;
/// How far queues may grow beyond the longest that was seen, until an answer shows it.
const BOUND: f64 = 1.2;
const FIRST_BOUND: f64 = 0.03;
/// Below this part of the longest queue, losses have other reasons than a full queue.
const CALM: f64 = 0.5;

#[derive(Clone, Debug)]
pub(super) struct Delay {
    least: [Option<i64>; 2],
    least_since: Time,
    longest: [f64; 2],
    longest_since: Time,
    /// The last delays, the newest first.
    recent: [Option<i64>; RECENT],
    queue: f64,
}

/// The queues that the last probes have seen, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Recent {
    pub(super) least: f64,
    /// How far each is from the line between its neighbours, twice: jitter, but not a queue that grows or shrinks.
    pub(super) roughness: f64,
}

impl Delay {
    pub(super) const fn new(now: Time) -> Self {
        Self {
            least: [None; 2],
            least_since: now,
            longest: [0.0; 2],
            longest_since: now,
            recent: [None; RECENT],
            queue: 0.0,
        }
    }

    /// A probe that was sent at `sent` arrived when the other end's clock said `arrived`.
    pub(super) fn note(&mut self, sent: Time, arrived: u64) {
        let delay = arrived.wrapping_sub(sent.as_nanos()).cast_signed();
        if sent.since(self.least_since) >= LEAST_WINDOW {
            (self.least, self.least_since) = ([None, self.least[0]], sent);
        }
        if sent.since(self.longest_since) >= LONGEST_WINDOW {
            (self.longest, self.longest_since) = ([0.0, self.longest[0]], sent);
        }
        self.least[0] = Some(self.least[0].map_or(delay, |least| least.min(delay)));
        self.recent.rotate_right(1);
        self.recent[0] = Some(delay);
        let latest = self.recent.iter().take(LATEST).flatten().min().copied().unwrap_or(delay);
        self.queue = self.beyond_least(latest);
        self.longest[0] = self.longest[0].max(self.queue);
    }

    pub(super) fn wake(&mut self) {
        self.recent = [None; RECENT];
        self.queue = 0.0;
    }

    /// The least delay, in seconds; the clocks of the two ends may differ, by the same for all paths.
    pub(super) fn least(&self) -> Option<f64> {
        self.least_nanos().map(|nanos| nanos as f64 / 1e9)
    }

    /// Seconds that packets wait in queues.
    pub(super) const fn queue(&self) -> f64 {
        self.queue
    }

    /// The queues of the last probes; `None` until there are enough.
    pub(super) fn recent(&self) -> Option<Recent> {
        let mut queues = [0.0; RECENT];
        for (queue, delay) in queues.iter_mut().zip(&self.recent) {
            *queue = self.beyond_least((*delay)?);
        }
        let bends = queues.iter().zip(queues.iter().skip(1)).zip(queues.iter().skip(2));
        let bends = bends.map(|((before, queue), after)| (before - 2.0 * queue + after).abs());
        let roughness = bends.sum::<f64>() / (RECENT - 2) as f64;
        Some(Recent { least: queues.iter().copied().fold(f64::MAX, f64::min), roughness })
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.queue > NOISE && self.queue > CROWDED * self.longest()
    }

    /// Whether queues were short lately, even for a moment.
    pub(super) fn is_calm(&self) -> bool {
        let peak = self.recent.iter().flatten().max().map_or(0.0, |peak| self.beyond_least(*peak));
        peak < (CALM * self.longest()).max(NOISE)
    }

    /// Seconds that packets may come to wait, a little more than they did.
    pub(super) fn bound(&self) -> f64 {
        self.longest() * BOUND + FIRST_BOUND
    }

    fn beyond_least(&self, delay: i64) -> f64 {
        delay.saturating_sub(self.least_nanos().unwrap_or(delay)) as f64 / 1e9
    }

    fn longest(&self) -> f64 {
        self.longest[0].max(self.longest[1])
    }

    fn least_nanos(&self) -> Option<i64> {
        self.least.iter().flatten().min().copied()
    }
}
