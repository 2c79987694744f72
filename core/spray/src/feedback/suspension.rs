//! Suspension of a path that loses packets while others do not, and its gradual resumption.

use std::time::Duration;

use braid_types::{Backoff, Time};

use super::path::PathState;
use super::verdict::{self, CROSS_TRAFFIC_TIME, FULL_QUEUE, HALF, Verdict};
use super::{MIN_SHARE, QUEUE_NOISE};

/// The round trips in which a sender may react by itself to other losses, and during which these stay visible afterwards.
const REACTION_ROUND_TRIPS: u32 = 2;
const LOSS_VISIBLE: Duration = Duration::from_millis(300);
/// A full path that delivers little is first reduced; if that helps for less than this, it is suspended.
const REDUCED_ONCE: Duration = Duration::from_secs(1);
/// The part of a path's delivery rate that it keeps, so that its queue drains.
const DRAIN_SHARE: f64 = 0.9;
/// A path that is suspended again within this time pauses, and twice as long each time.
const RELAPSE_WINDOW: Duration = Duration::from_secs(10);
const PAUSE: Backoff = Backoff::between(Duration::from_secs(1), Duration::from_secs(8));
/// After this time it resumes whatever its queue is: the path may have become longer.
const MAX_SUSPENSION: Duration = Duration::from_secs(60);
/// A queue that changes by less, in seconds a second, does not drain.
const MIN_DRAIN: f64 = 0.01;
/// A path resumes with its spare capacity divided by this.
const RESUME_DIVISOR: f64 = 4.0;
/// The growth of a share each round trip: up to the estimated spare capacity, at first beyond it, and the exponent by which
/// each later step is greater than the one before.
const RECOVERY_GROWTH: f64 = 2.0;
const FIRST_GROWTH: f64 = 1.15;
const GROWTH_EXPONENT: f64 = 1.5;
/// The time after an answer until a queue shows, as the least of some probes counts.
const QUEUE_VISIBLE: Duration = Duration::from_millis(60);

/// Suspends a path at once that loses packets while others do not, and resumes it with a small share. If its queue is long, its
/// share is halved first: the sender may have overfilled it.
///
/// ```text
///           loses, others do not             its queue is empty
///  Active ──────────────────────▶ Suspended ─────────────────────▶ Resuming
///     ▲                              ▲        again: later           │  │
///     │                              └────────── loses ──────────────┘  │
///     └───────────── has its share again, or is given less ─────────────┘
/// ```
///
/// During a suspension, a queue that was the flow's own drains; a queue that stays is cross traffic.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Suspension {
    phase: Phase,
    /// Packets sent before have been judged.
    since: Time,
    /// When it began to lose packets that others do not, and when it last did.
    loses: Option<(Time, Time)>,
    /// When cross traffic began to fill it, as far as visible, and when it last did.
    cross_traffic: Option<(Time, Time)>,
    resumed: Option<Time>,
    /// When its share was last reduced in the place of a suspension.
    reduced: Option<Time>,
    pause: Duration,
    goal: f64,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Phase {
    #[default]
    Active,
    Suspended {
        until: Time,
        share: f64,
        kept: f64,
        /// The rate at which the queue has drained, in seconds a second.
        drain: f64,
    },
    Resuming {
        threshold: f64,
        grown: Time,
        /// The factor of the share's next growth beyond the threshold.
        growth: f64,
    },
}

impl Suspension {
    /// Whether the path has no share.
    pub(super) const fn is_suspended(&self) -> bool {
        matches!(self.phase, Phase::Suspended { .. })
    }

    /// Resets the state because shares are set anew: the path does not grow towards its old share.
    pub(super) fn reset(&mut self) {
        if let Phase::Resuming { .. } = self.phase {
            self.phase = Phase::Active;
        }
    }

    /// Makes this path active with its old share, as there is no other.
    pub(super) fn force_active(&mut self, now: Time) -> Option<f64> {
        (self.phase, self.since) = (Phase::Active, now);
        None
    }

    /// Whether the losses of `path`, compared with the active `others`, are a reason to reduce its `share`.
    ///
    /// A sender that has overfilled a queue reduces its rate by itself. If others had to carry all of it meanwhile, their
    /// queues would overflow next.
    pub(super) fn judge(
        &mut self,
        now: Time,
        path: &PathState,
        share: f64,
        others: &[&PathState],
    ) -> Option<Verdict> {
        let verdict = verdict::of(path, share, others, self.since);
        let taken = verdict == Some(Verdict::CrossTraffic);
        self.cross_traffic = taken.then(|| goes_on(self.cross_traffic, now, CROSS_TRAFFIC_TIME));
        let verdict = verdict?;
        if let Some((began, _)) = self.cross_traffic {
            return (now.since(began) >= CROSS_TRAFFIC_TIME).then_some(verdict);
        }
        let (began, _) = *self.loses.insert(goes_on(self.loses, now, LOSS_VISIBLE));
        let reaction = path.round_trip().saturating_mul(REACTION_ROUND_TRIPS);
        let lasts = now.since(began) >= reaction.saturating_add(LOSS_VISIBLE);
        let is_first = self.reduced.is_none_or(|at| now.since(at) >= REDUCED_ONCE);
        let may_overfill = is_first && !self.is_beginning(share);
        if !lasts && verdict.is_urgent() && path.queue > FULL_QUEUE && may_overfill {
            // A sender may have overfilled the queue, and others may have no room for all of it.
            self.reduced = Some(now);
            return Some(Verdict::Reduce);
        }
        (lasts || verdict.is_urgent()).then_some(verdict)
    }

    /// Whether it resumes with a share that has no part in a long queue.
    fn is_beginning(&self, share: f64) -> bool {
        matches!(self.phase, Phase::Resuming { threshold, .. } if share < threshold)
    }

    /// Applies a verdict to the path with the share `share`; returns its new share, if it stays active.
    pub(super) fn apply(&mut self, now: Time, share: f64, verdict: Verdict) -> Option<f64> {
        match verdict {
            Verdict::Suspend { kept } => self.suspend(now, share, kept),
            Verdict::CrossTraffic => self.suspend(now, share, HALF),
            Verdict::Reduce => {
                self.since = now;
                if let Phase::Resuming { .. } = self.phase {
                    (self.phase, self.resumed) = (Phase::Active, Some(now));
                }
                return Some(share * HALF);
            }
        }
        None
    }

    /// Suspends the path with the share `share`, of which the part `kept` arrives.
    fn suspend(&mut self, now: Time, share: f64, kept: f64) {
        let again = self.resumed.is_some_and(|at| now.since(at) < RELAPSE_WINDOW);
        let delivered = (share * kept * DRAIN_SHARE).max(MIN_SHARE);
        // What lost little more than it delivered has found its share; others that took all of it may leave again.
        let others = kept < HALF;
        self.goal = if again && others {
            self.goal
        } else if again {
            delivered
        } else if self.reduced.is_some_and(|at| now.since(at) < REDUCED_ONCE) {
            share / HALF
        } else {
            share
        };
        self.pause = if again { PAUSE.after(self.pause) } else { Duration::ZERO };
        (self.phase, self.since) =
            (Phase::Suspended { until: now + self.pause, share, kept, drain: 0.0 }, now);
    }

    /// The share with which the path resumes, if it resumes now; `other` is the shortest queue of the active paths. A
    /// pause lasts only as long as the others do well.
    pub(super) fn resume(
        &mut self,
        now: Time,
        path: &PathState,
        other: f64,
        others_do_well: bool,
    ) -> Option<f64> {
        let Phase::Suspended { until, share, kept, drain } = self.phase else { return None };
        let fresh = path.history.is_fresh(self.since);
        let drain = if fresh { drain.max(-path.slope) } else { drain };
        self.phase = Phase::Suspended { until, share, kept, drain };
        let is_empty = fresh && path.queue < QUEUE_NOISE.max(other / 2.0);
        // A draining queue says more than elapsed time.
        let waits = now < until && others_do_well && drain < MIN_DRAIN;
        if waits || !path.is_usable() || !is_empty && now.since(self.since) < MAX_SUSPENSION {
            return None;
        }
        (self.since, self.resumed) = (now, Some(now));
        let threshold = (share * spare(kept, drain) * DRAIN_SHARE).clamp(MIN_SHARE, self.goal.max(MIN_SHARE));
        self.phase = Phase::Resuming { threshold, grown: now, growth: FIRST_GROWTH };
        // A queue that drained at the speed of the link was the flow's alone.
        Some(if drain > HALF { threshold } else { threshold / RESUME_DIVISOR })
    }

    /// The next share of a resuming path, which grows while nothing queues there.
    pub(super) fn grow(&mut self, now: Time, path: &PathState, share: f64) -> Option<f64> {
        let Phase::Resuming { threshold, grown, growth } = self.phase else { return None };
        if share >= self.goal {
            (self.phase, self.resumed) = (Phase::Active, Some(now));
            return None;
        }
        if path.queue > QUEUE_NOISE {
            self.phase = Phase::Resuming { threshold, grown, growth: FIRST_GROWTH };
            return None;
        }
        let (factor, next, shows) = if share < threshold {
            (RECOVERY_GROWTH, FIRST_GROWTH, Duration::ZERO)
        } else {
            (growth, growth.powf(GROWTH_EXPONENT).min(RECOVERY_GROWTH), QUEUE_VISIBLE)
        };
        if now.since(grown) < path.round_trip().saturating_add(shows) {
            return None;
        }
        self.phase = Phase::Resuming { threshold, grown: now, growth: next };
        Some((share * factor).min(self.goal))
    }
}

/// Extends the period of a condition that holds now; starts a new one after a break of `gap`.
fn goes_on(seen: Option<(Time, Time)>, now: Time, gap: Duration) -> (Time, Time) {
    let began = seen.filter(|(_, last)| now.since(*last) < gap).map_or(now, |(began, _)| began);
    (began, now)
}

/// The spare capacity of a path, as a part of the traffic sent by it. `kept` of the traffic passed a full queue, which
/// then drained by `drain` seconds a second.
///
/// With our traffic `s`, cross traffic `o`, and the rate `c`: kept = c / (s + o), drain = (c - o) / c, spare = (c -
/// o) / s.
fn spare(kept: f64, drain: f64) -> f64 {
    if drain < MIN_DRAIN {
        // Nothing can be inferred of a path that hardly queues.
        return kept;
    }
    let drain = drain.min(1.0);
    drain / (1.0 / kept.max(1e-3) - 1.0 + drain)
}

#[cfg(test)]
mod tests;
