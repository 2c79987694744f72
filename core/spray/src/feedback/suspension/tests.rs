//! When paths are suspended, reduced and resumed.

use super::*;
use crate::feedback::ProbeKind;
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
        self.path.note_sent(at, self.number, ProbeKind::Regular);
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
    assert_eq!(probes_until_left(|round| if round < 10 { 7 } else { 0 }), None, "it has halved its window");
    let probes = probes_until_left(|_| 7).unwrap();
    assert!((25..30).contains(&probes), "{probes}");
}

#[test]
fn a_burst_that_overfills_a_queue_is_not_taken_for_a_path_that_delivers_little() {
    assert_eq!(probes_until_left(|round| if round < 2 { 15 } else { 0 }), None);
    let probes = probes_until_left(|_| 15).unwrap();
    assert!((4..9).contains(&probes), "{probes}");
}

/// The verdicts on a full path that hardly delivers anything until it is suspended, and its share by then.
fn verdicts(suspension: &mut Suspension, mut share: f64) -> (Vec<Verdict>, f64) {
    let (mut full, mut clean) = (Bench::new(), Bench::new());
    (0..50).for_each(|_| [&mut full, &mut clean].into_iter().for_each(|it| it.carry(16, 0)));
    full.delay = Duration::from_millis(60);
    let mut verdicts = Vec::new();
    while !suspension.is_suspended() && verdicts.len() < 5 {
        full.carry(16, 15);
        clean.carry(16, 0);
        let now = Time::from_millis(u64::from(full.number) * 20);
        let Some(verdict) = suspension.judge(now, &full.path, share, &[&clean.path]) else { continue };
        verdicts.push(verdict);
        share = suspension.apply(now, share, verdict).unwrap_or(share);
    }
    (verdicts, share)
}

#[test]
fn a_full_path_that_delivers_little_is_reduced_once_before_it_is_suspended() {
    let mut suspension = Suspension::default();
    let (verdicts, share) = verdicts(&mut suspension, 0.6);
    assert!(matches!(verdicts[..], [Verdict::Reduce, Verdict::Suspend { .. }]), "{verdicts:?}");
    assert!((share - 0.3).abs() < 1e-9 && (suspension.goal - 0.6).abs() < 1e-9, "{suspension:?}");
}

#[test]
fn a_path_that_resumes_with_a_small_share_and_is_full_again_is_suspended_at_once() {
    let resumes = Phase::Resuming { threshold: 0.4, grown: Time::ZERO, growth: FIRST_GROWTH };
    let after = |share| {
        let resumed = Some(Time::from_millis(900));
        let mut suspension = Suspension { phase: resumes, resumed, goal: 0.6, ..Suspension::default() };
        (verdicts(&mut suspension, share).0, suspension.pause)
    };
    let (few, pause) = after(0.1);
    assert!(matches!(few[..], [Verdict::Suspend { .. }]), "{few:?}");
    assert_eq!(pause, PAUSE.after(None));
    let (grown, _) = after(0.45);
    assert!(matches!(grown[..], [Verdict::Reduce, Verdict::Suspend { .. }]), "{grown:?}");
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
