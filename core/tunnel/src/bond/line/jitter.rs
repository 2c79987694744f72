//! How far delays vary without any queue.

use std::time::Duration;

use braid_types::Time;

/// The weight of a new measurement. While a queue is kept in the path, that varies, too: then a greater one has less weight.
const WEIGHT: f64 = 0.01;
const HELD_WEIGHT: f64 = 0.001;
/// One counts so much at most, in seconds, or so many times the usual: one that is very late says that a machine stood still.
const MOST_OF_ONE: f64 = 0.016;
const MOST_TIMES: f64 = 2.0;
/// A path that had more in this time, up to twice as long, is rough.
const ROUGH: f64 = 0.008;
const WINDOW: Duration = Duration::from_secs(60);
/// With fewer answers, the beginning of traffic would count.
const LEAST_ANSWERS: u32 = 50;

/// The jitter of a path, in seconds: the usual deviation of delays from the line between their neighbours, twice.
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    usual: f64,
    most: [f64; 2],
    since: Time,
    answers: u32,
}

impl Jitter {
    pub(super) const fn new(now: Time) -> Self {
        Self { usual: 0.0, most: [0.0; 2], since: now, answers: 0 }
    }

    /// The last delays deviate so much; `is_held` if the line's own queue is kept at some length.
    pub(super) fn note(&mut self, now: Time, roughness: f64, is_held: bool) {
        self.answers = self.answers.saturating_add(1);
        let roughness = roughness.min(MOST_OF_ONE.max(MOST_TIMES * self.usual));
        let least = if is_held && roughness > self.usual { HELD_WEIGHT } else { WEIGHT };
        let weight = (1.0 / f64::from(self.answers)).max(least);
        self.usual += weight * (roughness - self.usual);
        if now.since(self.since) >= WINDOW {
            (self.most, self.since) = ([0.0, self.most[0]], now);
        }
        if self.answers >= LEAST_ANSWERS {
            self.most[0] = self.most[0].max(self.usual);
        }
    }

    pub(super) const fn usual(&self) -> f64 {
        self.usual
    }

    /// Whether the path looks full when it is not.
    pub(super) fn is_rough(&self) -> bool {
        self.most.iter().any(|jitter| *jitter > ROUGH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_no_jitter_but_steady_jitter_is_known_however_great() {
        let mut jitter = Jitter::new(Time::ZERO);
        let at = |turn: u64| Time::from_millis(20 * turn);
        (0..100).for_each(|turn| jitter.note(at(turn), 0.001, false));
        jitter.note(at(100), 5.0, false);
        assert!(jitter.usual() < 0.002 && !jitter.is_rough());
        (101..1_100).for_each(|turn| jitter.note(at(turn), 0.04, false));
        assert!((0.035..0.041).contains(&jitter.usual()) && jitter.is_rough());
        (1_100..9_000).for_each(|turn| jitter.note(at(turn), 0.001, false));
        assert!(!jitter.is_rough(), "that was long ago");
    }

    #[test]
    fn the_queue_of_a_line_that_is_held_is_hardly_jitter() {
        let mut jitter = Jitter::new(Time::ZERO);
        for turn in 0..2_000 {
            let roughness = if turn % 2 == 0 { 0.001 } else { 0.006 };
            jitter.note(Time::from_millis(20 * turn), roughness, true);
        }
        assert!(jitter.usual() < 0.002, "{}", jitter.usual());
        let mut jitter = Jitter::new(Time::ZERO);
        (0..100).for_each(|turn| jitter.note(Time::from_millis(20 * turn), 0.04, true));
        assert!(jitter.is_rough(), "it was from the beginning");
    }
}
