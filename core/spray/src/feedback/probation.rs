//! Probation of a lossy path: flows run without it for a while to see whether the total improves.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

/// A path that loses so much more than another may do harm: TCP takes it for a sign that all paths are full.
const HARMFUL: f64 = 0.003;
/// Where something queues, paths are full, and loss is not what limits the sender. In seconds.
const EMPTY: f64 = 0.004;
/// Segments a second below which there is nothing to gain.
const LEAST: f64 = 100.0;
const SUSPECTED: Duration = Duration::from_secs(1);
/// Losses that fall below this part meanwhile were of a time, such as the end of slow start, and not the path's own.
const LASTING: f64 = 0.7;
/// How long a sender has to find out what it can have now, beyond ten round trips; and then what it has counts.
const SETTLING: Duration = Duration::from_secs(1);
const MEASURING: Duration = Duration::from_millis(1_500);
/// So much must be gained without a path, and no more may be lost with it again.
const GAIN: f64 = 1.1;
const TOLERANCE: f64 = 0.95;
/// A trial that costs more than this is ended as soon as that shows.
const RUIN: f64 = 0.6;
const RUIN_SHOWS: Duration = Duration::from_millis(600);
/// Until the next trial with a path, at first; twice as long after each.
const PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// A path as a trial sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub(super) is_usable: bool,
    /// The part that it loses; unknown, none.
    pub(super) loss: f64,
    /// Seconds that packets wait.
    pub(super) queue: f64,
    pub(super) round_trip: Duration,
    /// Segments that came by it since the start.
    pub(super) came: u64,
}

/// Finds out by trying whether a path that loses some of what it carries makes the whole worse than it is without it.
///
/// ```text
///             loses, and nothing queues            carries more without
///  Watching ──────────────────────────▶ Without ────────────────────────▶ LeftOut ◀─┐
///     ▲  ▲                                 │                                 │ time │ worse
///     │  └───────── no better ─────────────┘                                 ▼      │
///     └──────────────────────────────── no worse ───────────────────────── With ────┘
/// ```
///
/// Whatever the sender's congestion control, what comes is what counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Trials {
    phase: Phase,
    /// Of the last seconds, when how many segments had come by all paths.
    came: VecDeque<(Time, u64)>,
    pause: Duration,
    not_before: Time,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Phase {
    #[default]
    Watching,
    /// The path has lost this part of what it carried since then.
    Suspecting {
        path: usize,
        since: Time,
        loss: f64,
    },
    /// The path is left out, and before that so many segments came a second.
    Without {
        path: usize,
        since: Time,
        before: f64,
    },
    LeftOut {
        path: usize,
        until: Time,
    },
    /// The path is used again, and before that so many segments came a second.
    With {
        path: usize,
        since: Time,
        before: f64,
    },
}

impl Trials {
    /// Takes what is known of the paths now; the one that is to be left out.
    pub(super) fn review(&mut self, now: Time, paths: &[Sight]) -> Option<usize> {
        self.count(now, paths.iter().map(|path| path.came).sum());
        let usable = |path: usize| paths.get(path).is_some_and(|path| path.is_usable);
        let others = paths.iter().filter(|path| path.is_usable).count();
        self.phase = match self.phase {
            Phase::Watching | Phase::Suspecting { .. } => self.watch(now, paths),
            Phase::Without { path, .. } | Phase::LeftOut { path, .. } | Phase::With { path, .. }
                if !usable(path) || others < 2 =>
            {
                Phase::Watching
            }
            Phase::Without { path, since, before } => self.without(now, paths, path, since, before),
            Phase::LeftOut { path, until } if now >= until => {
                Phase::With { path, since: now, before: self.rate(now, MEASURING) }
            }
            Phase::With { path, since, before } => self.with(now, paths, path, since, before),
            left_out => left_out,
        };
        match self.phase {
            Phase::Without { path, .. } | Phase::LeftOut { path, .. } => Some(path),
            _ => None,
        }
    }

    fn watch(&mut self, now: Time, paths: &[Sight]) -> Phase {
        let Some(path) = suspect(paths).filter(|_| now >= self.not_before) else { return Phase::Watching };
        let lost = paths.get(path).map_or(0.0, |path| path.loss);
        let (since, loss) = match self.phase {
            Phase::Suspecting { path: suspected, since, loss }
                if suspected == path && lost >= loss * LASTING =>
            {
                (since, loss)
            }
            _ => (now, lost),
        };
        let before = self.rate(now, SUSPECTED);
        if now.since(since) < SUSPECTED || before < LEAST {
            return Phase::Suspecting { path, since, loss };
        }
        Phase::Without { path, since: now, before }
    }

    fn without(&mut self, now: Time, paths: &[Sight], path: usize, since: Time, before: f64) -> Phase {
        match self.verdict(now, paths, since, before) {
            None => Phase::Without { path, since, before },
            Some(rate) if rate > GAIN * before => Phase::LeftOut { path, until: self.postpone(now) },
            Some(_) => {
                self.postpone(now);
                Phase::Watching
            }
        }
    }

    fn with(&mut self, now: Time, paths: &[Sight], path: usize, since: Time, before: f64) -> Phase {
        match self.verdict(now, paths, since, before) {
            None => Phase::With { path, since, before },
            // Where nothing is sent any more, nothing is lost.
            Some(rate) if (LEAST..TOLERANCE * before).contains(&rate) => {
                Phase::LeftOut { path, until: self.postpone(now) }
            }
            Some(_) => {
                self.pause = Duration::ZERO;
                Phase::Watching
            }
        }
    }

    /// How many segments come a second in a trial that began at `since`, as soon as that can be said.
    fn verdict(&self, now: Time, paths: &[Sight], since: Time, before: f64) -> Option<f64> {
        let elapsed = now.since(since);
        let slowest = paths.iter().map(|path| path.round_trip).max().unwrap_or_default();
        let recent = self.rate(now, RUIN_SHOWS / 2);
        if elapsed > RUIN_SHOWS + slowest * 2 && recent < RUIN * before {
            return Some(recent);
        }
        (elapsed >= SETTLING + slowest * 10 + MEASURING).then(|| self.rate(now, MEASURING))
    }

    /// When the next trial may be.
    fn postpone(&mut self, now: Time) -> Time {
        self.pause = (self.pause * 2).clamp(PAUSE, LONGEST_PAUSE);
        self.not_before = now + self.pause;
        self.not_before
    }

    fn count(&mut self, now: Time, came: u64) {
        self.came.push_back((now, came));
        while self.came.front().is_some_and(|(at, _)| now.since(*at) > MEASURING * 2) {
            self.came.pop_front();
        }
    }

    /// Segments a second, of the last so long.
    fn rate(&self, now: Time, over: Duration) -> f64 {
        let from = self.came.partition_point(|(at, _)| now.since(*at) > over);
        let (Some((began, first)), Some((_, last))) = (self.came.get(from), self.came.back()) else {
            return 0.0;
        };
        let seconds = now.since(*began).as_secs_f64();
        if seconds > 0.0 { last.saturating_sub(*first) as f64 / seconds } else { 0.0 }
    }
}

/// The path that loses most, if that is much more than another does and none is full.
fn suspect(paths: &[Sight]) -> Option<usize> {
    let usable = || paths.iter().enumerate().filter(|(_, path)| path.is_usable);
    let least = usable().map(|(_, path)| path.loss).min_by(f64::total_cmp)?;
    let (worst, path) = usable().max_by(|(_, one), (_, other)| one.loss.total_cmp(&other.loss))?;
    let empty = usable().all(|(_, path)| path.queue < EMPTY);
    (empty && usable().count() > 1 && path.loss > least + HARMFUL).then_some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the second of two paths that carry 500 segments a second each is left out, if it has lost such a part after so many seconds.
    fn is_tried_without(loss: impl Fn(f64) -> f64) -> bool {
        let mut trials = Trials::default();
        (0..500_u64).any(|step| {
            let (is_usable, queue, round_trip) = (true, 0.0, Duration::from_millis(60));
            let sight = |loss| Sight { is_usable, loss, queue, round_trip, came: step * 10 };
            let paths = [sight(0.0), sight(loss(step as f64 * 0.02))];
            trials.review(Time::from_millis(step * 20), &paths) == Some(1)
        })
    }

    #[test]
    fn a_path_is_tried_without_for_losses_that_last_and_not_for_those_of_a_moment() {
        assert!(is_tried_without(|_| 0.01));
        assert!(is_tried_without(|seconds| 0.01 + 0.1 * (-seconds / 2.0).exp()));
        assert!(!is_tried_without(|seconds| 0.1 * (-seconds / 2.0).exp()));
    }
}
