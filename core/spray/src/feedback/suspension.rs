//! Suspension of a path that loses packets while others do not, and its gradual resumption.

use std::time::Duration;

use braid_types::Time;

use super::path::PathState;
use super::verdict::{self, HALF, IDLE, Verdict};
use super::{LEAST, NOISE};

/// So many round trips a sender has to react by itself to other losses, which are seen for so long when they have ended.
const REACTION: u32 = 2;
const SEEN: Duration = Duration::from_millis(300);
/// What is left of what a path delivers, so that its queue becomes empty.
const MARGIN: f64 = 0.9;
/// A path that is shed again so soon rests for a while, and twice as long each time.
const SOON: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// Then it is tried, whatever its queue seems to be: the path may have become a longer one.
const LONGEST: Duration = Duration::from_secs(60);
/// A queue that changes by no more, in seconds a second, stands.
const STANDS: f64 = 0.01;
/// With what part of what it has to spare a path begins when it is taken again.
const LITTLE: f64 = 4.0;
/// How a share grows each round trip, up to what the path seemed to have to spare, and beyond, where each step is longer than the one before.
const DOUBLES: f64 = 2.0;
const GROWS: f64 = 1.15;
const FASTER: f64 = 1.5;
/// Longer than an answer takes, a queue is seen: the least of some probes counts.
const SHOWS: Duration = Duration::from_millis(60);

/// Leaves a path at once that loses what is sent by it while others do not, and takes it again with little.
///
/// ```text
///            loses, others do not            its queue is empty
///  Carries ──────────────────────▶ Rests ───────────────────────▶ Returns
///     ▲                              ▲        again: later           │  │
///     │                              └────────── loses ──────────────┘  │
///     └───────────── has its share again, or is given less ─────────────┘
/// ```
///
/// While a path rests, a queue that was the flow's own runs empty, and the link goes on sending what is in it; a queue that stays is that of others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shed {
    phase: Phase,
    /// What was sent before has been judged.
    since: Time,
    /// When it began to lose what others do not, and when it last did.
    loses: Option<(Time, Time)>,
    /// Since when others seem to fill it, and when they last did.
    taken: Option<(Time, Time)>,
    returned: Option<Time>,
    pause: Duration,
    goal: f64,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Phase {
    #[default]
    Carries,
    Rests {
        until: Time,
        share: f64,
        kept: f64,
        /// How fast the queue has run empty, in seconds a second.
        drain: f64,
    },
    Returns {
        threshold: f64,
        grown: Time,
        /// By what the share is multiplied next beyond the threshold.
        growth: f64,
    },
}

impl Shed {
    /// Whether the path is given nothing.
    pub(super) const fn rests(&self) -> bool {
        matches!(self.phase, Phase::Rests { .. })
    }

    /// Shares are given anew: the path does not grow towards what it had.
    pub(super) fn begin_anew(&mut self) {
        if let Phase::Returns { .. } = self.phase {
            self.phase = Phase::Carries;
        }
    }

    /// No other path is left; the share stays what it was.
    pub(super) fn must_carry(&mut self, now: Time) -> Option<f64> {
        (self.phase, self.since) = (Phase::Carries, now);
        None
    }

    /// Whether what `path` has lost beside the `others` that carry is a reason to give it less than its `share`.
    ///
    /// A sender that has overfilled a queue will send less by itself. If others had to carry all of it meanwhile, theirs would
    /// be overfilled next.
    pub(super) fn judge(
        &mut self,
        now: Time,
        path: &PathState,
        share: f64,
        others: &[&PathState],
    ) -> Option<Verdict> {
        let verdict = verdict::of(path, share, others, self.since);
        let taken = verdict == Some(Verdict::Taken);
        self.taken = taken.then(|| goes_on(self.taken, now, IDLE));
        let verdict = verdict?;
        if let Some((began, _)) = self.taken {
            return (now.since(began) >= IDLE).then_some(verdict);
        }
        let (began, _) = *self.loses.insert(goes_on(self.loses, now, SEEN));
        let lasts = now.since(began) >= path.round_trip() * REACTION + SEEN;
        (lasts || verdict.is_urgent()).then_some(verdict)
    }

    /// Does what a verdict says of the path, which has `share`; the share that it has then, if it goes on carrying.
    pub(super) fn follow(&mut self, now: Time, share: f64, verdict: Verdict) -> Option<f64> {
        match verdict {
            Verdict::Leave { kept } => self.shed(now, share, kept),
            Verdict::Taken => self.shed(now, share, HALF),
            Verdict::Less => {
                self.since = now;
                if let Phase::Returns { .. } = self.phase {
                    (self.phase, self.returned) = (Phase::Carries, Some(now));
                }
                return Some(share * HALF);
            }
        }
        None
    }

    /// The path has `share` and is to be left, as so much of that comes as `kept` says.
    fn shed(&mut self, now: Time, share: f64, kept: f64) {
        let again = self.returned.is_some_and(|at| now.since(at) < SOON);
        let delivered = (share * kept * MARGIN).max(LEAST);
        // What lost little more than it delivered has found its share; others that took all of it may leave again.
        let others = kept < HALF;
        self.goal = if again && others {
            self.goal
        } else if again {
            delivered
        } else {
            share
        };
        self.pause = if again { (self.pause * 2).clamp(PAUSE, LONGEST_PAUSE) } else { Duration::ZERO };
        (self.phase, self.since) = (Phase::Rests { until: now + self.pause, share, kept, drain: 0.0 }, now);
    }

    /// The share with which the path is taken again, if it is to be now; `other` is the shortest queue of those that carry.
    /// A pause is kept only as long as the others do well.
    pub(super) fn returns(
        &mut self,
        now: Time,
        path: &PathState,
        other: f64,
        others_do_well: bool,
    ) -> Option<f64> {
        let Phase::Rests { until, share, kept, drain } = self.phase else { return None };
        let fresh = path.recent.is_fresh(self.since);
        let drain = if fresh { drain.max(-path.slope) } else { drain };
        self.phase = Phase::Rests { until, share, kept, drain };
        let is_empty = fresh && path.queue < NOISE.max(other / 2.0);
        // A queue that runs empty says more than time does.
        let waits = now < until && others_do_well && drain < STANDS;
        if waits || !path.is_usable() || !is_empty && now.since(self.since) < LONGEST {
            return None;
        }
        (self.since, self.returned) = (now, Some(now));
        let threshold = (share * spare(kept, drain) * MARGIN).clamp(LEAST, self.goal.max(LEAST));
        self.phase = Phase::Returns { threshold, grown: now, growth: GROWS };
        // A queue that runs empty as fast as the link can send was the flow's alone.
        Some(if drain > HALF { threshold } else { threshold / LITTLE })
    }

    /// The share that the path has next, if it grows now, which it does while nothing queues there.
    pub(super) fn grows(&mut self, now: Time, path: &PathState, share: f64) -> Option<f64> {
        let Phase::Returns { threshold, grown, growth } = self.phase else { return None };
        if share >= self.goal {
            (self.phase, self.returned) = (Phase::Carries, Some(now));
            return None;
        }
        if path.queue > NOISE {
            self.phase = Phase::Returns { threshold, grown, growth: GROWS };
            return None;
        }
        let (factor, next, shows) = if share < threshold {
            (DOUBLES, GROWS, Duration::ZERO)
        } else {
            (growth, growth.powf(FASTER).min(DOUBLES), SHOWS)
        };
        if now.since(grown) < path.round_trip() + shows {
            return None;
        }
        self.phase = Phase::Returns { threshold, grown: now, growth: next };
        Some((share * factor).min(self.goal))
    }
}

/// Since when something is so and until when, now that it is; unless it was not for `gap`.
fn goes_on(seen: Option<(Time, Time)>, now: Time, gap: Duration) -> (Time, Time) {
    let began = seen.filter(|(_, last)| now.since(*last) < gap).map_or(now, |(began, _)| began);
    (began, now)
}

/// The part of what was sent by a path that it has to spare, if `kept` of it came by a queue that was full, and that queue ran empty by `drain` seconds a
/// second afterwards.
///
/// With what was sent, `s`, what others send, `o`, and the rate `c`: kept = c / (s + o), drain = (c - o) / c, spare = (c - o) / s.
fn spare(kept: f64, drain: f64) -> f64 {
    if drain < STANDS {
        // Nothing can be told of a path that hardly queues.
        return kept;
    }
    let drain = drain.min(1.0);
    drain / (1.0 / kept.max(1e-3) - 1.0 + drain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::loss::Tally;

    /// A path whose probes are answered each 20 ms, and that carries so many segments between two of them.
    struct Bench {
        path: PathState,
        tally: Tally,
        number: u32,
        round_trip: Duration,
        /// How long a probe waits in the queue.
        delay: Duration,
    }

    impl Bench {
        fn new() -> Self {
            let (path, round_trip) = (PathState::new(Time::ZERO), Duration::ZERO);
            Self { path, tally: Tally::default(), number: 0, round_trip, delay: Duration::ZERO }
        }

        fn carry(&mut self, sent: u32, lost: u32) {
            self.tally.sent = self.tally.sent.wrapping_add(sent);
            self.tally.came = self.tally.came.wrapping_add(sent - lost);
            let at = Time::from_millis(u64::from(self.number) * 20);
            self.path.note_sent(at, self.number);
            let arrived = (at + self.delay).as_nanos().cast_signed();
            self.path.note_answer(at + self.round_trip, self.number, arrived, Some(self.tally));
            self.number += 1;
        }
    }

    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[test]
    fn loss_that_is_a_path_s_own_says_nothing() {
        // For an hour and 20 minutes in all; a path of 10 Mbit/s has 16 segments in 20 ms.
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
            Shed::default().judge(Time::from_millis(1_000), &path.path, share, others)
        };
        assert_eq!(judge(&lossy, 0.5, &[&clean.path]), Some(Verdict::Leave { kept: 0.25 }));
        assert_eq!(judge(&clean, 0.5, &[&lossy.path]), None);
        assert_eq!(judge(&lossy, 0.5, &[&lossy.path]), None, "all lose alike");
        assert_eq!(judge(&lossy, 0.5, &[]), None, "there is no other");
        assert_eq!(judge(&lossy, 0.95, &[&clean.path]), None, "the other may carry next to nothing");
    }

    /// After how many probes a path with a round trip of 100 ms is left, that loses 7 of 16 segments between some of them.
    fn probes_until_left(loses: impl Fn(u32) -> bool) -> Option<u32> {
        let (mut lossy, mut clean, mut shed) = (Bench::new(), Bench::new(), Shed::default());
        [&mut lossy, &mut clean].into_iter().for_each(|it| it.round_trip = Duration::from_millis(100));
        (0..50).for_each(|_| [&mut lossy, &mut clean].into_iter().for_each(|it| it.carry(16, 0)));
        (0..100).find(|round| {
            lossy.carry(16, if loses(*round) { 7 } else { 0 });
            clean.carry(16, 0);
            let now = Time::from_millis(u64::from(lossy.number) * 20);
            shed.judge(now, &lossy.path, 0.6, &[&clean.path]).is_some()
        })
    }

    #[test]
    fn a_sender_has_time_to_react_to_losses_of_its_own_making() {
        assert_eq!(probes_until_left(|round| round < 10), None, "it has halved its window");
        let probes = probes_until_left(|_| true).unwrap();
        assert!((25..30).contains(&probes), "{probes}");
    }

    #[test]
    fn what_a_path_has_to_spare_shows_in_how_its_queue_runs_empty() {
        // 10 of others and 10 of the flow's by 15; when the flow leaves it is 5 faster than what comes.
        assert!((spare(0.75, 1.0 / 3.0) - 0.5).abs() < 1e-9);
        assert!((spare(0.5, 1.0) - 0.5).abs() < 1e-9, "all of it was the flow's");
        assert!((spare(0.5, 0.0) - 0.5).abs() < 1e-9, "nothing queued");
    }

    /// By what a share of `LEAST` grows at each step, towards a half, if probes wait for `queue` from the tenth on.
    fn steps(round_trip: Duration, queue: Duration) -> Vec<f64> {
        let mut bench = Bench { round_trip, ..Bench::new() };
        let returns = Phase::Returns { threshold: LEAST, grown: Time::ZERO, growth: GROWS };
        let mut shed = Shed { phase: returns, goal: 0.5, ..Shed::default() };
        let mut shares = vec![LEAST];
        for round in 0..100 {
            bench.delay = if (10..20).contains(&round) { queue } else { Duration::ZERO };
            bench.carry(1, 0);
            let now = Time::from_millis(round * 20) + round_trip;
            shares.extend(shed.grows(now, &bench.path, *shares.last().unwrap()));
        }
        assert_eq!((shed.phase, shares.last()), (Phase::Carries, Some(&0.5)), "{shares:?}");
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
        assert!(queued[1..].iter().any(|it| (it - GROWS).abs() < 1e-9), "carefully again: {queued:?}");
    }

    #[test]
    fn a_path_is_left_though_the_other_carries_next_to_nothing() {
        let (mut lossy, mut idle, mut shed) = (Bench::new(), Bench::new(), Shed::default());
        let left = (0..100).find(|round| {
            lossy.carry(8, if *round < 50 { 0 } else { 8 });
            idle.carry(if *round == 10 { 8 } else { 0 }, 0);
            let now = Time::from_millis(u64::from(lossy.number) * 20);
            shed.judge(now, &lossy.path, 0.7, &[&idle.path]).is_some()
        });
        assert_eq!(left, Some(52));
    }

    #[test]
    fn a_path_is_left_to_others_when_its_queue_has_stayed_long_for_a_while() {
        let left_after = |late: std::ops::Range<u32>| {
            let (mut full, mut empty, mut shed) = (Bench::new(), Bench::new(), Shed::default());
            (0..60).find(|round| {
                full.delay = Duration::from_millis(if late.contains(round) { 60 } else { 0 });
                full.carry(u32::from(round % 20 == 0), 0);
                empty.carry(4, 0);
                let now = Time::from_millis(u64::from(full.number) * 20);
                shed.judge(now, &full.path, 0.5, &[&empty.path]).is_some()
            })
        };
        assert_eq!(left_after(20..26), None, "for a moment");
        assert!(left_after(20..60).is_some_and(|round| (30..40).contains(&round)));
    }
}
