//! When a path that carries next to nothing beside another one is suspended, and for how long.
//!
//! ```text
//!          too little for a second                   the pause is over, or others carry as little
//!   used ──────────────────────────▶ suspended ─────────────────────────────────────────────────▶ used
//! ```

use std::time::Duration;

use braid_types::{Backoff, Time};

use super::Lines;
use crate::endpoint::MAX_PATHS;

/// A path that carries less than this part of the best one gains less than its queue costs; the second part, if it delays
/// packets by jitter or repairs.
const WORTH: f64 = 0.08;
const ROUGH_WORTH: f64 = 0.15;
/// A path is judged by a second in which it was full: what it carries at most is not known to a tenth before.
const JUDGED_FOR: Duration = Duration::from_secs(1);
/// The pause until it is tried again: at first this, and twice as long after each trial.
const PAUSE: Backoff = Backoff::between(Duration::from_secs(30), Duration::from_secs(600));
/// What was so long ago says nothing.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);
/// A path that carried so many times what makes it worth using is used again at once.
const RESUME_FACTOR: f64 = 2.0;

/// The suspension of one path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Suspension {
    until: Time,
    pause: Duration,
    /// What it carried when it was suspended, in bytes a second.
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

impl Lines {
    /// Suspends paths that carry next to nothing beside others that cost no more.
    pub(super) fn suspend_worthless(&mut self, now: Time) {
        for path in 0..MAX_PATHS as u8 {
            let Some(line) = self.get(path).filter(|line| !line.is_dead()) else { continue };
            let limit = line.limit(self.held(path));
            let (best, are_full) = self.best_beside(now, path);
            let least = best * if line.is_clean() { WORTH } else { ROUGH_WORTH };
            // What arrives by a path without packets says nothing of what it carries.
            let (is_used, is_suspended) = (self.is_used(now, path), self.is_suspended(now, path));
            let Some(suspension) = self.suspensions.get_mut(usize::from(path)) else { continue };
            match limit {
                _ if is_suspended && are_full => suspension.reconsider(now, least),
                Some(rate) if is_used && !is_suspended => suspension.judge(now, rate, least),
                _ => {}
            }
        }
    }

    /// The most that one of the other paths carries that are used and cost no more, in bytes a second; whether all are full.
    fn best_beside(&self, now: Time, path: u8) -> (f64, bool) {
        let others = self.up().filter(|(other, line)| {
            *other != path
                && self.cost(*other) <= self.cost(path)
                && !line.is_dead()
                && !self.is_suspended(now, *other)
        });
        let mut carried =
            others.map(|(other, line)| (line.carried(), line.limit(self.held(other)))).peekable();
        let is_any = carried.peek().is_some();
        carried.fold((0.0, is_any), |(best, are_full), (carried, limit)| {
            (limit.map_or(carried, |limit| limit.min(carried)).max(best), are_full && limit.is_some())
        })
    }

    pub(super) fn is_suspended(&self, now: Time, path: u8) -> bool {
        self.suspensions.get(usize::from(path)).is_some_and(|it| it.is_on(now))
    }

    /// The other end of a path has moved: what it carried before says nothing.
    pub(in crate::bond) fn note_moved(&mut self, path: u8) {
        self.suspensions.get_mut(usize::from(path)).into_iter().for_each(|it| *it = Suspension::default());
    }
}

impl Suspension {
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
        if self.carried >= RESUME_FACTOR * least {
            self.until = now;
        }
    }

    fn begin(&mut self, now: Time, rate: f64) {
        let is_recent = now.since(self.until) < FORGOTTEN_AFTER;
        let pause = PAUSE.after(is_recent.then_some(self.pause));
        *self = Self { until: now + pause, pause, carried: rate, run: None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges a path with this rate at these milliseconds, where 100 is worth it.
    fn judge(suspension: &mut Suspension, times: impl IntoIterator<Item = u64>, rate: f64) {
        times.into_iter().for_each(|at| suspension.judge(Time::from_millis(at), rate, 100.0));
    }

    #[test]
    fn only_a_second_of_too_little_counts_not_moments_far_apart() {
        let mut suspension = Suspension::default();
        judge(&mut suspension, [1_000, 10_000, 3_600_000], 1.0);
        assert!(!suspension.is_on(Time::from_millis(3_600_000)));
        judge(&mut suspension, (3_700_000..3_701_020).step_by(20), 1.0);
        assert!(suspension.is_on(Time::from_millis(3_701_020)));
    }

    #[test]
    fn the_pause_doubles_unless_the_path_was_worth_it_in_between() {
        let mut suspension = Suspension::default();
        let mut pause = |at: u64, is_worth_it: bool| {
            if is_worth_it {
                judge(&mut suspension, (at - 5_000..at - 3_000).step_by(20), 500.0);
            }
            judge(&mut suspension, (at..at + 1_020).step_by(20), 1.0);
            suspension.pause.as_secs()
        };
        let pauses = [(100_000, false), (200_000, false), (400_000, false), (700_000, true)];
        assert_eq!(pauses.map(|(at, is_worth_it)| pause(at, is_worth_it)), [30, 60, 120, 30]);
    }

    #[test]
    fn a_path_is_used_again_once_the_others_carry_as_little() {
        let (mut suspension, now) = (Suspension::default(), Time::from_millis(2_000));
        judge(&mut suspension, (0..1_020).step_by(20), 20.0);
        suspension.reconsider(now, 15.0);
        assert!(suspension.is_on(now), "it carries hardly enough");
        suspension.reconsider(now, 5.0);
        assert!(!suspension.is_on(now));
    }
}
