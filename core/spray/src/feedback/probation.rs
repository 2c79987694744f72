//! Probation of a lossy path: flows run without it for a while to see whether the total improves.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::{Backoff, Time};

/// A path with this much more loss than another may do harm: TCP takes it for congestion on all paths.
const HARMFUL_LOSS: f64 = 0.003;
/// Above this, in seconds, a queue shows that paths are full, and loss is not what limits the sender.
const EMPTY_QUEUE: f64 = 0.004;
/// The segments a second below which a trial is not worth while.
const MIN_RATE: f64 = 100.0;
const SUSPICION_TIME: Duration = Duration::from_secs(1);
/// A loss that falls below this part during the observation was temporary, such as the end of slow start.
const LASTING_LOSS: f64 = 0.7;
/// The time a sender has to adapt, beyond ten round trips; also the time over which its rate is then measured.
const SETTLING_TIME: Duration = Duration::from_secs(1);
const MEASURING_TIME: Duration = Duration::from_millis(1_500);
/// The least gain without a path for which it is excluded, and the part of the rate that must remain once it is back.
const MIN_GAIN: f64 = 1.1;
const MAX_COST: f64 = 0.95;
/// A trial ends at once when the rate falls below this part.
const ABORT_BELOW: f64 = 0.6;
const ABORT_AFTER: Duration = Duration::from_millis(600);
/// The time over which the rate is measured for that.
const ABORT_WINDOW: Duration = Duration::from_millis(300);
/// The pause before the next trial with a path: at first this, and twice as long after each.
const PAUSE: Backoff = Backoff::between(Duration::from_secs(30), Duration::from_secs(600));

/// The state of a path, as far as a trial needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    pub(super) is_usable: bool,
    /// The lost part; zero if unknown.
    pub(super) loss: f64,
    /// The time that packets wait in queues, in seconds.
    pub(super) queue: f64,
    pub(super) round_trip: Duration,
    /// The segments received by it since the start.
    pub(super) received: u64,
}

/// Tests whether a lossy path lowers the total rate.
///
/// ```text
///             loses, and nothing queues            carries more without
///  Watching ──────────────────────────▶ Without ────────────────────────▶ Excluded ◀─┐
///     ▲  ▲                                 │                                 │ time │ worse
///     │  └───────── no better ─────────────┘                                 ▼      │
///     └──────────────────────────────── no worse ───────────────────────── With ────┘
/// ```
///
/// Segments received are counted, so the sender's congestion control does not matter.
#[derive(Clone, Debug, Default)]
pub(super) struct Probation {
    phase: Phase,
    /// Segments received by all paths, by the time of the count, over the last seconds.
    received: VecDeque<(Time, u64)>,
    pause: Duration,
    not_before: Time,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Phase {
    #[default]
    Watching,
    /// The path has lost this part since then.
    Suspecting {
        path: usize,
        since: Time,
        loss: f64,
    },
    /// The path is excluded; so many segments a second were received before.
    Without {
        path: usize,
        since: Time,
        before: f64,
    },
    Excluded {
        path: usize,
        until: Time,
    },
    /// The path is used again; so many segments a second were received before.
    With {
        path: usize,
        since: Time,
        before: f64,
    },
}

impl Probation {
    /// Reviews the present state of the paths; returns the one to exclude.
    pub(super) fn review(&mut self, now: Time, paths: &[Observation]) -> Option<usize> {
        self.count(now, paths.iter().map(|path| path.received).sum());
        let usable = |path: usize| paths.get(path).is_some_and(|path| path.is_usable);
        let others = paths.iter().filter(|path| path.is_usable).count();
        self.phase = match self.phase {
            Phase::Watching | Phase::Suspecting { .. } => self.watch(now, paths),
            Phase::Without { path, .. } | Phase::Excluded { path, .. } | Phase::With { path, .. }
                if !usable(path) || others < 2 =>
            {
                Phase::Watching
            }
            Phase::Without { path, since, before } => self.without(now, paths, path, since, before),
            Phase::Excluded { path, until } if now >= until => {
                Phase::With { path, since: now, before: self.rate(now, MEASURING_TIME) }
            }
            Phase::With { path, since, before } => self.with(now, paths, path, since, before),
            excluded => excluded,
        };
        match self.phase {
            Phase::Without { path, .. } | Phase::Excluded { path, .. } => Some(path),
            _ => None,
        }
    }

    fn watch(&mut self, now: Time, paths: &[Observation]) -> Phase {
        let Some(path) = suspect(paths).filter(|_| now >= self.not_before) else { return Phase::Watching };
        let lost = paths.get(path).map_or(0.0, |path| path.loss);
        let (since, loss) = match self.phase {
            Phase::Suspecting { path: suspected, since, loss }
                if suspected == path && lost >= loss * LASTING_LOSS =>
            {
                (since, loss)
            }
            _ => (now, lost),
        };
        let before = self.rate(now, SUSPICION_TIME);
        if now.since(since) < SUSPICION_TIME || before < MIN_RATE {
            return Phase::Suspecting { path, since, loss };
        }
        Phase::Without { path, since: now, before }
    }

    fn without(&mut self, now: Time, paths: &[Observation], path: usize, since: Time, before: f64) -> Phase {
        match self.verdict(now, paths, since, before) {
            None => Phase::Without { path, since, before },
            Some(rate) if rate > MIN_GAIN * before => Phase::Excluded { path, until: self.postpone(now) },
            Some(_) => {
                self.postpone(now);
                Phase::Watching
            }
        }
    }

    fn with(&mut self, now: Time, paths: &[Observation], path: usize, since: Time, before: f64) -> Phase {
        match self.verdict(now, paths, since, before) {
            None => Phase::With { path, since, before },
            // Without traffic there is no loss.
            Some(rate) if (MIN_RATE..MAX_COST * before).contains(&rate) => {
                Phase::Excluded { path, until: self.postpone(now) }
            }
            Some(_) => {
                self.pause = Duration::ZERO;
                Phase::Watching
            }
        }
    }

    /// The segments a second received in a trial that began at `since`, as soon as they are known.
    fn verdict(&self, now: Time, paths: &[Observation], since: Time, before: f64) -> Option<f64> {
        let elapsed = now.since(since);
        let slowest = paths.iter().map(|path| path.round_trip).max().unwrap_or_default();
        let recent = self.rate(now, ABORT_WINDOW);
        if elapsed > ABORT_AFTER.saturating_add(slowest.saturating_mul(2)) && recent < ABORT_BELOW * before {
            return Some(recent);
        }
        let settled = SETTLING_TIME.saturating_add(slowest.saturating_mul(10));
        (elapsed >= settled.saturating_add(MEASURING_TIME)).then(|| self.rate(now, MEASURING_TIME))
    }

    /// The time of the next trial.
    fn postpone(&mut self, now: Time) -> Time {
        self.pause = PAUSE.after(self.pause);
        self.not_before = now + self.pause;
        self.not_before
    }

    fn count(&mut self, now: Time, received: u64) {
        self.received.push_back((now, received));
        while self.received.front().is_some_and(|(at, _)| now.since(*at) > MEASURING_TIME.saturating_mul(2)) {
            self.received.pop_front();
        }
    }

    /// Segments a second, over the last `over`.
    fn rate(&self, now: Time, over: Duration) -> f64 {
        let from = self.received.partition_point(|(at, _)| now.since(*at) > over);
        let (Some((began, first)), Some((_, last))) = (self.received.get(from), self.received.back()) else {
            return 0.0;
        };
        let seconds = now.since(*began).as_secs_f64();
        if seconds > 0.0 { last.saturating_sub(*first) as f64 / seconds } else { 0.0 }
    }
}

/// The path with the most loss, if that is much more than another's and none is full.
fn suspect(paths: &[Observation]) -> Option<usize> {
    let usable = || paths.iter().enumerate().filter(|(_, path)| path.is_usable);
    let least = usable().map(|(_, path)| path.loss).min_by(f64::total_cmp)?;
    let (worst, path) = usable().max_by(|(_, one), (_, other)| one.loss.total_cmp(&other.loss))?;
    let empty = usable().all(|(_, path)| path.queue < EMPTY_QUEUE);
    (empty && usable().count() > 1 && path.loss > least + HARMFUL_LOSS).then_some(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the second of two paths with 500 segments a second each is excluded, given its loss after so many seconds.
    fn is_tried_without(loss: impl Fn(f64) -> f64) -> bool {
        let mut probation = Probation::default();
        (0..500_u64).any(|step| {
            let (is_usable, queue, round_trip) = (true, 0.0, Duration::from_millis(60));
            let observation = |loss| Observation { is_usable, loss, queue, round_trip, received: step * 10 };
            let paths = [observation(0.0), observation(loss(step as f64 * 0.02))];
            probation.review(Time::from_millis(step * 20), &paths) == Some(1)
        })
    }

    #[test]
    fn a_path_is_tried_without_for_losses_that_last_and_not_for_those_of_a_moment() {
        assert!(is_tried_without(|_| 0.01));
        assert!(is_tried_without(|seconds| 0.01 + 0.1 * (-seconds / 2.0).exp()));
        assert!(!is_tried_without(|seconds| 0.1 * (-seconds / 2.0).exp()));
    }
}
