//! Silent paths: found at once beside paths that answer, and never where queues grow, answers jitter or a machine is busy.

use std::collections::VecDeque;
use std::time::Duration;

use braid_spray::{Feedback, Probe, ProbeSettings};
use braid_types::Time;
use proptest::prelude::*;

const STEP: Duration = Duration::from_millis(1);

/// Paths whose probes are answered after a time that `delay` says, by path and millisecond; `None`: not at all.
struct World<D> {
    now: Time,
    feedback: Feedback,
    delay: D,
    /// When each answer arrives, by path: paths keep their order.
    answers: [VecDeque<(Time, u32)>; 2],
    probes: usize,
    is_dead: [bool; 2],
    /// The milliseconds in which a path became silent.
    silent: Vec<(usize, u64)>,
}

impl<D: FnMut(usize, u64) -> Option<u64>> World<D> {
    fn new(delay: D) -> Self {
        let feedback = Feedback::new(Time::ZERO, ProbeSettings::default(), &[1, 1]);
        let answers = [VecDeque::new(), VecDeque::new()];
        let is_dead = [false; 2];
        Self { now: Time::ZERO, feedback, delay, answers, probes: 0, is_dead, silent: Vec::new() }
    }

    fn millis(&self) -> u64 {
        self.now.as_nanos() / 1_000_000
    }

    fn run_until(&mut self, millis: u64) {
        while self.millis() < millis {
            self.now = self.now + STEP;
            self.answer();
            self.probe();
        }
    }

    /// Whatever is true for less than a step counts, too.
    fn note_silence(&mut self) {
        for path in 0..2 {
            let is_dead = self.feedback.is_dead(path);
            if is_dead && !self.is_dead[path] {
                self.silent.push((path, self.millis()));
            }
            self.is_dead[path] = is_dead;
        }
    }

    fn probe(&mut self) {
        while let Some(Probe { path, number }) = self.feedback.poll_probe(self.now) {
            self.note_silence();
            self.probes += 1;
            let millis = self.millis();
            let Some(delay) = (self.delay)(path, millis) else { continue };
            let at = self.now + Duration::from_millis(delay);
            let last = self.answers[path].back().map_or(at, |(last, _)| *last);
            self.answers[path].push_back((at.max(last), number));
        }
    }

    fn answer(&mut self) {
        for path in 0..2 {
            while let Some((at, number)) = self.answers[path].pop_front_if(|(at, _)| *at <= self.now) {
                self.feedback.handle_answer(self.now, path, number, at.as_nanos().cast_signed(), None);
                self.note_silence();
            }
        }
    }

    fn shares(&mut self) -> Option<Vec<u32>> {
        self.feedback.poll_shares()
    }
}

/// Numbers that look random, below `bound`.
fn random(seed: &mut u64, bound: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % bound.max(1)
}

#[test]
fn a_silent_path_is_left_after_a_few_probes_and_has_its_share_again_with_its_first_answer() {
    let mut world = World::new(|path, at| (path == 0 || !(2_000..2_090).contains(&at)).then_some(10));
    world.run_until(2_060);
    assert_eq!(world.shares().unwrap(), [5_000, 0]);
    assert_eq!(world.silent, [(1, 2_040)]);
    world.run_until(2_110);
    assert_eq!(world.shares().unwrap(), [5_000, 5_000]);
    // What it was late by, it may be late by again.
    world.run_until(8_000);
    assert_eq!(world.silent.len(), 1);
}

#[test]
fn a_path_that_has_not_answered_for_the_timeout_must_answer_three_times() {
    let mut world = World::new(|path, at| (path == 0 || !(2_000..3_000).contains(&at)).then_some(10));
    world.run_until(3_011);
    world.shares();
    assert!(world.feedback.is_dead(1));
    world.run_until(3_080);
    assert!(world.shares().unwrap()[1] > 4_000);
}

#[test]
fn where_no_other_path_answers_the_timeout_counts() {
    let mut world = World::new(|_, at| (at < 2_000).then_some(10));
    world.run_until(2_500);
    let at: Vec<_> = world.silent.iter().map(|(_, at)| *at).collect();
    assert!(at.len() == 2 && at.iter().all(|at| (2_110..2_160).contains(at)), "{at:?}");
}

#[test]
fn a_busy_machine_silences_no_path() {
    // Too rarely to be remembered, an end answers nothing for up to 80 ms, and then all.
    for busy in [30, 50, 80] {
        let mut world =
            World::new(|_, at| Some(10 + (at % 25_000).abs_diff(25_000).saturating_sub(25_000 - busy)));
        world.run_until(120_000);
        assert_eq!(world.silent, []);
    }
}

#[test]
fn a_path_that_loses_some_of_its_probes_is_hardly_ever_silent() {
    let mut seed = 1;
    let mut world = World::new(|_, _| (random(&mut seed, 20) > 0).then_some(10));
    world.run_until(120_000);
    assert!(world.silent.len() <= 4, "{:?}", world.silent);
}

#[test]
fn probes_are_sent_more_often_only_while_an_answer_is_late() {
    let mut world = World::new(|_, _| Some(10));
    world.run_until(10_000);
    assert!((990..=1_010).contains(&world.probes), "{}", world.probes);
}

proptest! {
    #[test]
    fn queues_that_grow_and_jitter_silence_no_path(
        mut seed: u64,
        round_trip in 2..150_u64,
        jitter in 0..=20_u64,
        growth in 0..=50_u64,
    ) {
        // From 2 s on, one path's queue grows every second within 100 ms, stays, and drains.
        let mut world = World::new(|path, at| {
            let queue = match at % 1_000 {
                grows @ 0..100 => growth * grows / 100,
                100..500 => growth,
                drains @ 500..600 => growth * (600 - drains) / 100,
                _ => 0,
            };
            let queue = if path == 1 && at >= 2_000 { queue } else { 0 };
            Some(round_trip + queue + random(&mut seed, jitter + 1))
        });
        // A longer round trip than the timeout is not known at first.
        world.run_until(2_000);
        world.silent.clear();
        world.run_until(10_000);
        prop_assert_eq!(&world.silent, &[]);
    }

    #[test]
    fn true_silence_is_found_in_time(mut seed: u64, round_trip in 2..100_u64, jitter in 0..=20_u64, at in 5_000..5_020_u64) {
        let mut world = World::new(|path, now| {
            (path == 0 || now < at).then(|| round_trip + random(&mut seed, jitter + 1))
        });
        world.run_until(5_000);
        world.silent.clear();
        world.run_until(5_500);
        prop_assert_eq!(world.silent.len(), 1);
        // The interval until the first probe that is missed, its round trip, what the path may be late by or until two more are
        // missed, what the other path is late by, and the interval until the answer that proves it.
        let most = (20 + round_trip + jitter) + (40 + jitter * 3 / 2) + jitter + 10;
        let took = world.silent[0].1 - at;
        prop_assert!(took <= most.min(20 + round_trip + jitter + 120 + 20), "{took} ms of {most}");
    }
}
