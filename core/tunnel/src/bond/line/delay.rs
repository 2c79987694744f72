//! The delay of a path in one direction, by a clock that all paths share: the least, and what packets wait beyond it.

use std::time::Duration;

use braid_types::Time;

use super::jitter::Jitter;

/// The least and the longest are taken over this time, up to twice as long.
const LEAST_WINDOW: Duration = Duration::from_secs(20);
const LONGEST_WINDOW: Duration = Duration::from_secs(8);
/// The least delay of this many probes counts: a machine that is busy for a moment is not a queue.
const LATEST: usize = 3;
/// Losses may belong to a queue that this many probes have seen.
pub(super) const RECENT: usize = 8;
/// One's own packets are expected to queue by so many models of what the path carries.
const MODELS: usize = 2;
/// A queue is about as long as ever from this part on, if it is no mere noise, in seconds.
const CROWDED: f64 = 0.7;
const NOISE: f64 = 0.015;
/// What seems a queue may be none up to so many times the jitter.
const JITTERS: f64 = 1.5;
/// So many times that is no jitter: less does not say that a queue is full.
const CROWDED_JITTERS: f64 = 3.0;
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
    /// What remains of them without the queues of one's own packets, by each model.
    unexpected: [[Option<i64>; RECENT]; MODELS],
    queue: f64,
    jitter: Jitter,
}

/// What the last probes have seen, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Recent {
    /// The shortest queue, and that of the very last ones.
    pub(super) least: f64,
    pub(super) latest: f64,
    /// How far delays vary usually, and whether it was so much lately that the path looks full when it is not.
    pub(super) jitter: f64,
    pub(super) is_rough: bool,
}

impl Delay {
    pub(super) const fn new(now: Time) -> Self {
        Self {
            least: [None; 2],
            least_since: now,
            longest: [0.0; 2],
            longest_since: now,
            recent: [None; RECENT],
            unexpected: [[None; RECENT]; MODELS],
            queue: 0.0,
            jitter: Jitter::new(now),
        }
    }

    /// A probe that was sent at `sent` arrived when the other end's clock said `arrived`; one's own packets explain so many
    /// seconds of its delay by each model. They are kept at some length if `is_held`.
    pub(super) fn note(&mut self, sent: Time, arrived: u64, expected: [f64; MODELS], is_held: bool) {
        let delay = arrived.wrapping_sub(sent.as_nanos()).cast_signed();
        self.turn_windows(sent);
        self.least[0] = Some(self.least[0].map_or(delay, |least| least.min(delay)));
        self.recent.rotate_right(1);
        self.recent[0] = Some(delay);
        for (unexpected, expected) in self.unexpected.iter_mut().zip(expected) {
            unexpected.rotate_right(1);
            unexpected[0] = Some(delay.saturating_sub((expected * 1e9) as i64));
        }
        let latest = self.recent.iter().take(LATEST).flatten().min().copied().unwrap_or(delay);
        self.queue = self.beyond_least(latest);
        self.longest[0] = self.longest[0].max(self.queue);
        // Bursts of one's own are no jitter, nor is what was wrongly expected.
        let seen = self.unexpected.iter().chain([&self.recent]).filter_map(roughness);
        if let Some(least) = seen.reduce(f64::min) {
            self.jitter.note(sent, least, is_held);
        }
    }

    /// Forgets what was seen before the last windows.
    fn turn_windows(&mut self, now: Time) {
        let (least_for, longest_for) = (now.since(self.least_since), now.since(self.longest_since));
        if least_for >= LEAST_WINDOW {
            let before = self.least[0].filter(|_| least_for < LEAST_WINDOW.saturating_mul(2));
            (self.least, self.least_since) = ([None, before], now);
        }
        if longest_for >= LONGEST_WINDOW {
            let before = if longest_for < LONGEST_WINDOW.saturating_mul(2) { self.longest[0] } else { 0.0 };
            (self.longest, self.longest_since) = ([0.0, before], now);
        }
    }

    pub(super) fn wake(&mut self) {
        (self.recent, self.unexpected) = ([None; RECENT], [[None; RECENT]; MODELS]);
        self.queue = 0.0;
    }

    /// What was seen before the last probe is of another clock.
    pub(super) fn forget(&mut self) {
        let last = self.recent[0];
        self.wake();
        self.recent[0] = last;
        (self.least, self.longest) = ([last, None], [0.0; 2]);
    }

    /// The least delay, in seconds; the clocks of the two ends may differ, by the same for all paths.
    pub(super) fn least(&self) -> Option<f64> {
        self.least_nanos().map(|nanos| nanos as f64 / 1e9)
    }

    /// Seconds that packets wait in queues.
    pub(super) const fn queue(&self) -> f64 {
        self.queue
    }

    /// What the last probes have seen; `None` until there are enough.
    pub(super) fn recent(&self) -> Option<Recent> {
        let least = all(&self.recent)?.into_iter().min().map(|least| self.beyond_least(least))?;
        Some(Recent { least, latest: self.queue, jitter: self.jitter.usual(), is_rough: self.is_rough() })
    }

    /// Queues up to this one may be mere jitter.
    pub(super) const fn jitter(&self) -> f64 {
        JITTERS * self.jitter.usual()
    }

    pub(super) fn is_rough(&self) -> bool {
        self.jitter.is_rough()
    }

    pub(super) fn is_crowded(&self) -> bool {
        self.queue > NOISE.max(CROWDED_JITTERS * self.jitter()) && self.queue > CROWDED * self.longest()
    }

    /// Whether queues were short lately, even for a moment, or are mere jitter.
    pub(super) fn is_calm(&self) -> bool {
        let peak = self.recent.iter().flatten().max().map_or(0.0, |peak| self.beyond_least(*peak));
        peak < (CALM * self.longest()).max(NOISE) || self.queue < self.jitter()
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

/// How far each delay is from the line between its neighbours, twice, in seconds: not a queue that grows or shrinks.
fn roughness(delays: &[Option<i64>; RECENT]) -> Option<f64> {
    let delays = all(delays)?;
    let bends = delays.array_windows().map(|[before, delay, after]| {
        before.saturating_add(*after).saturating_sub(delay.saturating_mul(2)).unsigned_abs()
    });
    Some(bends.map(|bend| bend as f64 / 1e9).sum::<f64>() / (RECENT - 2) as f64)
}

fn all(delays: &[Option<i64>; RECENT]) -> Option<[i64; RECENT]> {
    let mut known = [0; RECENT];
    for (place, delay) in known.iter_mut().zip(delays) {
        *place = (*delay)?;
    }
    Some(known)
}

#[cfg(test)]
mod tests {
    use braid_types::SplitMix64;

    use super::*;

    /// The jitter after a thousand probes that were delayed and expected so many microseconds.
    fn jitter(delays: impl Fn(u64) -> (u64, u64)) -> f64 {
        let mut delay = Delay::new(Time::ZERO);
        for turn in 0..1_000 {
            let (waited, expected) = delays(turn);
            let sent = Time::from_millis(20 * turn);
            let arrived = sent + Duration::from_micros(20_000 + waited);
            delay.note(sent, arrived.as_nanos(), [expected as f64 / 1e6, 0.0], false);
        }
        delay.jitter.usual()
    }

    #[test]
    fn what_was_known_before_a_long_pause_is_forgotten() {
        let mut delay = Delay::new(Time::ZERO);
        for (second, millis) in [(1, 20), (2, 90), (3_600, 50)] {
            let sent = Time::from_millis(1_000 * second);
            delay.wake();
            delay.note(sent, (sent + Duration::from_millis(millis)).as_nanos(), [0.0; MODELS], false);
        }
        assert_eq!((delay.queue(), delay.longest()), (0.0, 0.0));
    }

    /// How often in a thousand probes, after as many, a path looks full that delays them by so many microseconds.
    fn times_crowded(waited: impl Fn(u64) -> u64) -> usize {
        let mut delay = Delay::new(Time::ZERO);
        let crowded = (0..2_000).filter(|turn| {
            let sent = Time::from_millis(20 * turn);
            let arrived = sent + Duration::from_micros(20_000 + waited(*turn));
            delay.note(sent, arrived.as_nanos(), [0.0; MODELS], false);
            *turn >= 1_000 && delay.is_crowded()
        });
        crowded.count()
    }

    #[test]
    fn jitter_is_no_full_queue() {
        let random = |turn: u64| SplitMix64::new(turn).next_u64() % 80_000;
        assert_eq!(times_crowded(random), 0);
        assert!(times_crowded(|turn| 1_000 * (turn % 200)) > 200, "a queue that fills and overflows");
    }

    #[test]
    fn bursts_of_ones_own_are_no_jitter_whether_expected_or_not() {
        let random = |turn: u64| SplitMix64::new(turn).next_u64() % 40_000;
        assert!(jitter(|turn| (random(turn), 0)) > 0.015, "that of others");
        assert!(jitter(|turn| (random(turn), random(turn))) < 0.001, "as expected");
        assert!(jitter(|turn| (0, random(turn))) < 0.001, "expected in vain");
        assert!(jitter(|turn| (1_000 * (turn % 200), 0)) < 0.005, "a queue that grows");
    }
}
