//! Shares that follow probes, against a fluid model of paths with queues.

use std::collections::VecDeque;
use std::time::Duration;

use braid_spray::{Feedback, Probe, ProbeSettings, SegmentCounts};
use braid_types::Time;

const STEP: Duration = Duration::from_millis(1);
/// The other edge's clock is so far ahead.
const AHEAD: i64 = 7_000_000_000;

struct Path {
    /// Bits a second.
    rate: f64,
    delay: Duration,
    /// Seconds of the rate.
    most: f64,
    queue: f64,
    is_cut: bool,
    /// Others send so much.
    others: f64,
    /// The part that it loses of what it carries.
    loss: f64,
    /// Segments that were sent and that came.
    sent: f64,
    came: f64,
}

fn path(mbits: f64, delay_millis: u64) -> Path {
    let delay = Duration::from_millis(delay_millis);
    Path {
        rate: mbits * 1e6,
        delay,
        most: 0.1,
        queue: 0.0,
        is_cut: false,
        others: 0.0,
        loss: 0.0,
        sent: 0.0,
        came: 0.0,
    }
}

/// A sender that takes what it can get, as TCP does, over paths that are probed.
struct World {
    now: Time,
    feedback: Feedback,
    shares: Vec<f64>,
    paths: Vec<Path>,
    rate: f64,
    answers: VecDeque<(Time, usize, u32, i64, SegmentCounts)>,
    halved: Time,
    /// Every so many probes are late, as the machine is busy.
    late: u32,
    is_reno: bool,
}

impl World {
    fn new(paths: Vec<Path>, rate: f64) -> Self {
        let even = vec![1; paths.len()];
        let feedback = Feedback::new(Time::ZERO, ProbeSettings::default(), &even);
        let shares = vec![1.0 / paths.len() as f64; paths.len()];
        let (answers, now, halved) = (VecDeque::new(), Time::ZERO, Time::ZERO);
        Self { now, feedback, shares, paths, rate, answers, halved, late: u32::MAX, is_reno: false }
    }

    fn run(&mut self, duration: Duration) {
        let end = self.now + duration;
        while self.now < end {
            self.now = self.now + STEP;
            self.fill();
            self.probe();
            self.answer();
            if let Some(shares) = self.feedback.poll_shares() {
                let total: u32 = shares.iter().sum();
                self.shares = shares.iter().map(|it| f64::from(*it) / f64::from(total)).collect();
            }
        }
    }

    fn fill(&mut self) {
        let mut lost = false;
        for (path, share) in self.paths.iter_mut().zip(&self.shares) {
            let offered = self.rate * share + path.others;
            let segments = self.rate * share * STEP.as_secs_f64() / 12_000.0;
            path.sent += segments;
            // What is beyond the rate is lost once there is no room for it.
            let kept = if path.queue < path.most { 1.0 } else { path.rate / offered.max(path.rate) };
            path.came += segments * (1.0 - path.loss) * kept;
            path.queue = (path.queue + (offered / path.rate - 1.0) * STEP.as_secs_f64()).max(0.0);
            lost |= path.queue > path.most && *share > 0.02;
            path.queue = path.queue.min(path.most);
        }
        // As CUBIC does, and no more often than once a round trip.
        if lost && self.now.since(self.halved) > Duration::from_millis(150) {
            self.rate *= 0.8;
            self.halved = self.now;
        }
        self.rate *= 1.0002;
        // As fast as Reno is at that loss: Mathis et al. (1997).
        let loss: f64 = self.paths.iter().zip(&self.shares).map(|(path, share)| path.loss * share).sum();
        if self.is_reno && loss > 0.0 {
            let round_trip = 2.0 * self.paths[0].delay.as_secs_f64();
            self.rate = self.rate.min(12_000.0 / round_trip * (1.5 / loss).sqrt());
        }
    }

    fn probe(&mut self) {
        while let Some(Probe { path, number }) = self.feedback.poll_probe(self.now) {
            let it = &self.paths[path];
            if it.is_cut || it.others > it.rate * 10.0 && number % 16 != 0 {
                continue;
            }
            let late = Duration::from_millis(if number % self.late == self.late - 1 { 15 } else { 0 });
            let arrives = self.now + it.delay + Duration::from_secs_f64(it.queue) + late;
            let at = arrives.as_nanos() as i64 + AHEAD;
            let counts = SegmentCounts { sent: it.sent as u32, received: it.came as u32 };
            self.answers.push_back((arrives + it.delay, path, number, at, counts));
        }
    }

    fn answer(&mut self) {
        let now = self.now;
        let (due, later) = self.answers.drain(..).partition(|(at, ..)| *at <= now);
        self.answers = later;
        for (_, path, number, arrived, counts) in due {
            self.feedback.handle_answer(now, path, number, arrived, Some(counts));
        }
    }

    /// What all paths carry, of what they could.
    fn carried(&mut self, duration: Duration) -> f64 {
        let (mut carried, mut steps) = (0.0, 0.0);
        let end = self.now + duration;
        while self.now < end {
            self.run(STEP);
            for (path, share) in self.paths.iter().zip(&self.shares) {
                let offered = self.rate * share;
                carried += if path.queue > 0.0 { path.rate } else { offered.min(path.rate) };
            }
            steps += 1.0;
        }
        carried / steps / self.paths.iter().map(|path| path.rate).sum::<f64>()
    }
}

#[test]
fn shares_come_to_be_what_paths_carry_though_nobody_says_it() {
    for (one, other) in [((10.0, 5), (40.0, 5)), ((50.0, 10), (100.0, 30)), ((10.0, 95), (10.0, 95))] {
        let mut world = World::new(vec![path(one.0, one.1), path(other.0, other.1)], 10e6);
        world.run(Duration::from_secs(20));
        let wanted = one.0 / (one.0 + other.0);
        let mean = (0..2_000).map(|_| {
            world.run(STEP);
            world.shares[0]
        });
        let mean = mean.sum::<f64>() / 2_000.0;
        assert!((mean - wanted).abs() < 0.1 * wanted.max(0.3), "{mean} instead of {wanted}");
        let carried = world.carried(Duration::from_secs(10));
        assert!(carried > 0.95, "{carried} of {one:?} and {other:?}");
    }
}

#[test]
fn a_path_that_is_cut_is_left_within_200_ms_and_taken_again() {
    let mut world = World::new(vec![path(100.0, 5), path(100.0, 5)], 50e6);
    world.run(Duration::from_secs(2));
    world.paths[1].is_cut = true;
    world.run(Duration::from_millis(200));
    assert!(world.feedback.is_dead(1) && !world.feedback.is_dead(0));
    assert_eq!(world.shares, [1.0, 0.0]);
    world.run(Duration::from_secs(5));
    world.paths[1].is_cut = false;
    world.run(Duration::from_millis(200));
    assert!(!world.feedback.is_dead(1) && world.shares[1] > 0.2, "{:?}", world.shares);
}

#[test]
fn a_path_that_others_fill_is_given_less_and_is_given_its_share_again() {
    let mut world = World::new(vec![path(20.0, 25), path(20.0, 25)], 10e6);
    world.run(Duration::from_secs(10));
    world.paths[1].others = 1e9;
    world.run(Duration::from_millis(1_000));
    assert!(world.shares[1] < 0.05, "{:?}", world.shares);
    world.paths[1].others = 0.0;
    world.run(Duration::from_secs(15));
    assert!(world.shares[1] > 0.4, "{:?}", world.shares);
}

#[test]
fn shares_stay_where_nothing_queues() {
    let mut world = World::new(vec![path(100.0, 10), path(100.0, 30)], 20e6);
    world.feedback.set_shares(&[3, 1]);
    for _ in 0..3_000 {
        world.rate = 20e6;
        world.run(STEP);
    }
    assert_eq!(world.shares, [0.75, 0.25]);
}

#[test]
fn a_machine_that_is_busy_now_and_then_moves_nothing() {
    let mut world = World::new(vec![path(100.0, 10), path(100.0, 30)], 20e6);
    world.late = 7;
    world.feedback.set_shares(&[3, 1]);
    for _ in 0..30_000 {
        world.rate = 20e6;
        world.run(STEP);
    }
    assert_eq!(world.shares, [0.75, 0.25]);
}

#[test]
fn what_answers_nothing_or_was_not_asked_changes_nothing() {
    let mut feedback = Feedback::new(Time::ZERO, ProbeSettings::default(), &[1, 1]);
    feedback.poll_shares();
    for path in [0, 1, 2, usize::MAX] {
        feedback.handle_answer(Time::from_millis(5), path, 77, i64::MIN, Some(SegmentCounts::default()));
    }
    assert_eq!(feedback.poll_shares(), None);
    assert!(Feedback::new(Time::ZERO, ProbeSettings::default(), &[]).poll_probe(Time::ZERO).is_none());
}

/// Two paths, one of which loses 1 %, and a sender that minds it or does not.
fn lossy(is_reno: bool) -> World {
    let mut world = World::new(vec![path(100.0, 10), path(100.0, 10)], 20e6);
    (world.paths[1].loss, world.is_reno) = (0.01, is_reno);
    world.run(Duration::from_secs(60));
    world
}

#[test]
fn a_path_whose_loss_slows_the_sender_down_is_left_out_and_taken_again_when_it_loses_no_more() {
    let mut world = lossy(true);
    assert!(world.feedback.report(1).unwrap().is_suspended, "{:?}", world.shares);
    assert_eq!(world.shares, [1.0, 0.0]);
    let carried = world.carried(Duration::from_secs(10));
    assert!(carried > 0.47, "{carried} of both, where one alone carries half");
    world.paths[1].loss = 0.0;
    world.run(Duration::from_secs(130));
    assert!(world.shares[1] > 0.3, "{:?}", world.shares);
}

#[test]
fn a_path_whose_loss_does_not_slow_the_sender_down_stays() {
    let mut world = lossy(false);
    assert!(!world.feedback.report(1).unwrap().is_suspended);
    assert!(world.shares[1] > 0.3, "{:?}", world.shares);
    assert!(world.carried(Duration::from_secs(10)) > 0.95);
}
