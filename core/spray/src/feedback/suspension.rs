//! Suspension of a path that loses packets while others do not, and its gradual resumption.

use std::time::Duration;

use braid_types::Time;

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
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(8);
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

/// Suspends a path at once that loses packets while others do not, and resumes it with a small share.
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
        if !lasts && verdict.is_urgent() && path.queue > FULL_QUEUE && is_first {
            // A sender may have overfilled the queue, and others may have no room for all of it.
            self.reduced = Some(now);
            return Some(Verdict::Reduce);
        }
        (lasts || verdict.is_urgent()).then_some(verdict)
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
        self.pause =
            if again { self.pause.saturating_mul(2).clamp(MIN_PAUSE, MAX_PAUSE) } else { Duration::ZERO };
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
mod tests {
    use super::*;
    use crate::segment_counts::SegmentCounts;

    /// A path whose probes are answered every 20 ms, and the segments that it carries between two of them.
    struct Bench {
        path: PathState,
        tally: SegmentCounts,
        number: u32,
        round_trip: Duration,
        /// The time that a probe waits in the queue.
        delay: Duration,
    }

    impl Bench {
        fn new() -> Self {
            let (path, round_trip) = (PathState::new(Time::ZERO), Duration::ZERO);
            Self { path, tally: SegmentCounts::default(), number: 0, round_trip, delay: Duration::ZERO }
        }

        fn carry(&mut self, sent: u32, lost: u32) {
            self.tally.sent = self.tally.sent.wrapping_add(sent);
            self.tally.received = self.tally.received.wrapping_add(sent - lost);
            let at = Time::from_millis(u64::from(self.number) * 20);
            self.path.note_sent(at, self.number, false);
            let arrived = (at + self.delay).as_nanos().cast_signed();
            let timeout = Duration::from_millis(120);
            self.path.note_answer(at + self.round_trip, self.number, arrived, Some(self.tally), timeout);
            self.number += 1;
        }
    }

    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[test]
    fn loss_that_is_a_path_s_own_says_nothing() {
        // An hour and 20 minutes in all; a path of 10 Mbit/s has 16 segments in 20 ms.
        for (segments, loss) in [(2, 0.01), (16, 0.01), (160, 0.01), (160, 0.03)] {
            let (mut lossy, mut clean, mut seed) = (Bench::new(), Bench::new(), 1);
            for round in 0..60_000 {
                let lost = (0..segments).filter(|_| random(&mut seed) < loss).count() as u32;
                lossy.carry(segments, lost);
                clean.carry(segments, 0);
                let verdict = verdict::of(&lossy.path, 0.5, &[&clean.path], Time::ZERO);
                assert_eq!(verdict, None, "{segments} segments, {loss}, round {round}");
            }
        }
    }

    #[test]
    fn a_path_that_loses_most_while_another_does_not_is_left_within_three_probes() {
        let (mut lossy, mut clean) = (Bench::new(), Bench::new());
        (0..50).for_each(|_| [&mut lossy, &mut clean].into_iter().for_each(|it| it.carry(8, 0)));
        (0..3).for_each(|_| (lossy.carry(8, 6), clean.carry(8, 0)).1);
        let judge = |path: &Bench, share, others: &[&PathState]| {
            Suspension::default().judge(Time::from_millis(1_000), &path.path, share, others)
        };
        assert_eq!(judge(&lossy, 0.5, &[&clean.path]), Some(Verdict::Suspend { kept: 0.25 }));
        assert_eq!(judge(&clean, 0.5, &[&lossy.path]), None);
        assert_eq!(judge(&lossy, 0.5, &[&lossy.path]), None, "all lose alike");
        assert_eq!(judge(&lossy, 0.5, &[]), None, "there is no other");
        assert_eq!(judge(&lossy, 0.95, &[&clean.path]), None, "the other may carry next to nothing");
    }

    /// The number of probes until a path is suspended that has a round trip of 100 ms, and loses so many of 16 segments.
    fn probes_until_left(lost: impl Fn(u32) -> u32) -> Option<u32> {
        let (mut lossy, mut clean, mut suspension) = (Bench::new(), Bench::new(), Suspension::default());
        [&mut lossy, &mut clean].into_iter().for_each(|it| it.round_trip = Duration::from_millis(100));
        (0..50).for_each(|_| [&mut lossy, &mut clean].into_iter().for_each(|it| it.carry(16, 0)));
        (0..100).find(|round| {
            lossy.carry(16, lost(*round));
            clean.carry(16, 0);
            let now = Time::from_millis(u64::from(lossy.number) * 20);
            suspension.judge(now, &lossy.path, 0.6, &[&clean.path]).is_some()
        })
    }

    #[test]
    fn a_sender_has_time_to_react_to_losses_of_its_own_making() {
        assert_eq!(
            probes_until_left(|round| if round < 10 { 7 } else { 0 }),
            None,
            "it has halved its window"
        );
        let probes = probes_until_left(|_| 7).unwrap();
        assert!((25..30).contains(&probes), "{probes}");
    }

    #[test]
    fn a_burst_that_overfills_a_queue_is_not_taken_for_a_path_that_delivers_little() {
        assert_eq!(probes_until_left(|round| if round < 2 { 15 } else { 0 }), None);
        let probes = probes_until_left(|_| 15).unwrap();
        assert!((4..9).contains(&probes), "{probes}");
    }

    #[test]
    fn what_a_path_has_to_spare_shows_in_how_its_queue_runs_empty() {
        // 10 of others and 10 of the flow's by 15; without the flow it is 5 faster than its arrivals.
        assert!((spare(0.75, 1.0 / 3.0) - 0.5).abs() < 1e-9);
        assert!((spare(0.5, 1.0) - 0.5).abs() < 1e-9, "all of it was the flow's");
        assert!((spare(0.5, 0.0) - 0.5).abs() < 1e-9, "nothing queued");
    }

    /// The factors by which a share of `MIN_SHARE` grows towards a half, if probes wait for `queue` from the tenth on.
    fn steps(round_trip: Duration, queue: Duration) -> Vec<f64> {
        let mut bench = Bench { round_trip, ..Bench::new() };
        let returns = Phase::Resuming { threshold: MIN_SHARE, grown: Time::ZERO, growth: FIRST_GROWTH };
        let mut suspension = Suspension { phase: returns, goal: 0.5, ..Suspension::default() };
        let mut shares = vec![MIN_SHARE];
        for round in 0..100 {
            bench.delay = if (10..20).contains(&round) { queue } else { Duration::ZERO };
            bench.carry(1, 0);
            let now = Time::from_millis(round * 20) + round_trip;
            shares.extend(suspension.grow(now, &bench.path, *shares.last().unwrap()));
        }
        assert_eq!((suspension.phase, shares.last()), (Phase::Active, Some(&0.5)), "{shares:?}");
        shares.windows(2).map(|it| it[1] / it[0]).collect()
    }

    #[test]
    fn a_share_that_meets_no_queue_grows_in_ever_longer_steps_until_it_meets_one() {
        for round_trip in [5, 100].map(Duration::from_millis) {
            let free = steps(round_trip, Duration::ZERO);
            assert!(free[0] < 1.2 && free.windows(2).rev().skip(1).all(|it| it[1] >= it[0]), "{free:?}");
            assert!((6..12).contains(&free.len()), "{free:?}");
        }
        let queued = steps(Duration::from_millis(5), Duration::from_millis(30));
        assert!(queued[1..].iter().any(|it| (it - FIRST_GROWTH).abs() < 1e-9), "carefully again: {queued:?}");
    }

    #[test]
    fn a_path_is_left_though_the_other_carries_next_to_nothing() {
        let (mut lossy, mut idle, mut suspension) = (Bench::new(), Bench::new(), Suspension::default());
        let left = (0..100).find(|round| {
            lossy.carry(8, if *round < 50 { 0 } else { 8 });
            idle.carry(if *round == 10 { 8 } else { 0 }, 0);
            let now = Time::from_millis(u64::from(lossy.number) * 20);
            suspension.judge(now, &lossy.path, 0.7, &[&idle.path]).is_some()
        });
        assert_eq!(left, Some(52));
    }

    #[test]
    fn a_path_is_left_to_others_when_its_queue_has_stayed_long_for_a_while() {
        let left_after = |late: std::ops::Range<u32>| {
            let (mut full, mut empty, mut suspension) = (Bench::new(), Bench::new(), Suspension::default());
            (0..60).find(|round| {
                full.delay = Duration::from_millis(if late.contains(round) { 60 } else { 0 });
                full.carry(u32::from(round % 20 == 0), 0);
                empty.carry(4, 0);
                let now = Time::from_millis(u64::from(full.number) * 20);
                suspension.judge(now, &full.path, 0.5, &[&empty.path]).is_some()
            })
        };
        assert_eq!(left_after(20..26), None, "for a moment");
        assert!(left_after(20..60).is_some_and(|round| (30..40).contains(&round)));
    }
}
