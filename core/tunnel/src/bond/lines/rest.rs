//! When a path that carries next to nothing beside another one is left alone, and for how long.
//!
//! ```text
//!          too little for a second                 the pause is over, or others carry as little
//!   used ──────────────────────────▶ at rest ─────────────────────────────────────────────────▶ used
//! ```

use std::time::Duration;

use braid_types::Time;

/// A path is judged by a second in which it was full: what it carries at most is not known to a tenth before.
const JUDGED_FOR: Duration = Duration::from_secs(1);
/// The pause until it is tried again: at first this, and twice as long after each trial.
const MIN_PAUSE: Duration = Duration::from_secs(30);
const MAX_PAUSE: Duration = Duration::from_secs(600);
/// A path that carries so many times what it takes is tried again at once.
const CLEARLY: f64 = 2.0;

/// The state of one path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    until: Time,
    pause: Duration,
    /// What it carried when it was put to rest, in bytes a second.
    carried: f64,
    run: Option<Run>,
}

/// Verdicts that are all the same, without a long time between two.
#[derive(Clone, Copy, Debug)]
struct Run {
    is_worth_it: bool,
    since: Time,
    last: Time,
}

impl Rest {
    /// Whether the path gets no packets in order.
    pub(super) fn is_on(&self, now: Time) -> bool {
        now < self.until
    }

    /// The path is full and carries `rate`; from `least` on, it is worth using.
    pub(super) fn judge(&mut self, now: Time, rate: f64, least: f64) {
        let is_worth_it = rate >= least;
        let before =
            self.run.filter(|run| run.is_worth_it == is_worth_it && now.since(run.last) < JUDGED_FOR);
        let since = before.map_or(now, |run| run.since);
        self.run = Some(Run { is_worth_it, since, last: now });
        if now.since(since) < JUDGED_FOR {
            return;
        }
        if is_worth_it {
            self.pause = Duration::ZERO;
        } else {
            self.begin(now, rate);
        }
    }

    /// The other paths are full, and with what they carry now, this one is worth using from `least` on.
    pub(super) fn reconsider(&mut self, now: Time, least: f64) {
        if self.carried >= CLEARLY * least {
            self.until = now;
        }
    }

    fn begin(&mut self, now: Time, rate: f64) {
        // What was long ago says nothing.
        let is_recent = now.since(self.until) < MAX_PAUSE;
        let before = if is_recent { self.pause } else { Duration::ZERO };
        let pause = before.saturating_mul(2).clamp(MIN_PAUSE, MAX_PAUSE);
        *self = Self { until: now + pause, pause, carried: rate, run: None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges a path with this rate at these milliseconds, where 100 is worth it.
    fn judge(rest: &mut Rest, times: impl IntoIterator<Item = u64>, rate: f64) {
        times.into_iter().for_each(|at| rest.judge(Time::from_millis(at), rate, 100.0));
    }

    #[test]
    fn only_a_second_of_too_little_counts_not_moments_far_apart() {
        let mut rest = Rest::default();
        judge(&mut rest, [1_000, 10_000, 3_600_000], 1.0);
        assert!(!rest.is_on(Time::from_millis(3_600_000)));
        judge(&mut rest, (3_700_000..3_701_020).step_by(20), 1.0);
        assert!(rest.is_on(Time::from_millis(3_701_020)));
    }

    #[test]
    fn the_pause_doubles_unless_the_path_was_worth_it_in_between() {
        let mut rest = Rest::default();
        let mut pause = |at: u64, is_worth_it: bool| {
            if is_worth_it {
                judge(&mut rest, (at - 5_000..at - 3_000).step_by(20), 500.0);
            }
            judge(&mut rest, (at..at + 1_020).step_by(20), 1.0);
            rest.pause.as_secs()
        };
        let pauses = [(100_000, false), (200_000, false), (400_000, false), (700_000, true)];
        assert_eq!(pauses.map(|(at, is_worth_it)| pause(at, is_worth_it)), [30, 60, 120, 30]);
    }

    #[test]
    fn a_path_is_used_again_once_the_others_carry_as_little() {
        let (mut rest, now) = (Rest::default(), Time::from_millis(2_000));
        judge(&mut rest, (0..1_020).step_by(20), 20.0);
        rest.reconsider(now, 15.0);
        assert!(rest.is_on(now), "it carries hardly enough");
        rest.reconsider(now, 5.0);
        assert!(!rest.is_on(now));
    }
}
