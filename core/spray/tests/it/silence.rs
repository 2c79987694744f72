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
    /// When each answer arrives, by path.
    answers: Vec<VecDeque<(Time, u32)>>,
    /// Whether paths let answers overtake each other.
    reorders: bool,
    probes: usize,
    is_dead: Vec<bool>,
    /// The milliseconds in which a path became silent.
    silent: Vec<(usize, u64)>,
}

impl<D: FnMut(usize, u64) -> Option<u64>> World<D> {
    fn new(delay: D) -> Self {
        Self::with_paths(2, delay)
    }

    fn with_paths(count: usize, delay: D) -> Self {
        let feedback = Feedback::new(Time::ZERO, ProbeSettings::default(), &vec![1; count]);
        let (answers, is_dead) = (vec![VecDeque::new(); count], vec![false; count]);
        let (now, reorders) = (Time::ZERO, false);
        Self { now, feedback, delay, answers, reorders, probes: 0, is_dead, silent: Vec::new() }
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
        for path in 0..self.is_dead.len() {
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
            self.answers[path].push_back((if self.reorders { at } else { at.max(last) }, number));
            self.answers[path].make_contiguous().sort();
        }
    }

    fn answer(&mut self) {
        for path in 0..self.answers.len() {
            while let Some((at, number)) = self.answers[path].pop_front_if(|(at, _)| *at <= self.now) {
                self.feedback.handle_answer(self.now, path, number, at.as_nanos().cast_signed(), None);
                self.note_silence();
            }
        }
    }

    /// The machine stands still: answers wait until it goes on.
    fn pause(&mut self, millis: u64) {
        self.now = self.now + Duration::from_millis(millis);
    }

    fn shares(&mut self) -> Option<Vec<u32>> {
        self.feedback.poll_shares()
    }

    /// How often each path has stopped answering, as it reports.
    fn silences(&self) -> Vec<u32> {
        (0..self.is_dead.len()).map(|path| self.feedback.report(path).unwrap().silences).collect()
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

#[test]
fn answers_that_overtake_each_other_silence_no_path() {
    // Up to five probes are on the way at once, in any order.
    for (round_trip, spread) in [(5, 40), (20, 80), (150, 100)] {
        let mut seed = spread;
        let mut world =
            World::new(|path, _| Some(round_trip + if path == 1 { random(&mut seed, spread) } else { 0 }));
        world.reorders = true;
        world.run_until(1_000);
        world.silent.clear();
        world.run_until(60_000);
        assert_eq!(world.silent, [], "{round_trip} ms and up to {spread} ms more");
    }
}

#[test]
fn a_path_that_has_never_answered_is_silent_but_has_not_stopped_answering() {
    // The round trip of the second is longer than the timeout, the third answers nothing.
    let mut world = World::with_paths(3, |path, _| [Some(10), Some(300), None][path]);
    world.run_until(250);
    assert!(world.feedback.is_dead(1) && world.feedback.is_dead(2));
    world.run_until(2_000);
    assert!(!world.feedback.is_dead(1) && world.feedback.is_dead(2));
    assert_eq!(world.silences(), [0, 0, 0]);
}

#[test]
fn each_silence_is_counted_once_however_it_goes_on() {
    // Short ones, and one that outlasts the timeout, so that the path is silent, then dead.
    let dark = |at: u64| [2_000..2_090, 32_000..32_090, 62_000..64_000].iter().any(|it| it.contains(&at));
    let mut world = World::new(|path, at| (path == 0 || !dark(at)).then_some(10));
    world.run_until(63_000);
    assert!(world.feedback.is_dead(1));
    world.run_until(66_000);
    assert_eq!((world.silences(), world.feedback.is_dead(1)), (vec![0, 3], false));
}

#[test]
fn a_single_path_keeps_all_packets_whether_it_answers_or_not() {
    let mut world = World::with_paths(1, |_, at| (!(2_000..4_000).contains(&at)).then_some(10));
    world.run_until(2_000);
    assert!(world.shares().unwrap()[0] > 0);
    world.run_until(3_000);
    assert_eq!((world.shares(), world.feedback.is_dead(0)), (None, true), "there is no other to take them");
    assert!((2_110..2_160).contains(&world.silent[0].1), "{:?}", world.silent);
    world.run_until(4_100);
    assert_eq!((world.silences(), world.feedback.is_dead(0)), (vec![1], false));
}

#[test]
fn where_all_paths_are_dark_shares_stay_and_the_first_that_answers_takes_all() {
    let mut world = World::with_paths(3, |path, at| (at < 2_000 || path == 2 && at >= 5_000).then_some(10));
    world.run_until(2_000);
    let before = world.shares().unwrap();
    world.run_until(4_999);
    assert_eq!((world.shares(), world.silences()), (None, vec![1; 3]));
    world.run_until(5_100);
    assert_eq!(world.shares().unwrap(), [0, 0, before[2]]);
}

#[test]
fn of_three_paths_two_are_left_at_once() {
    let mut world = World::with_paths(3, |path, at| (path == 1 || at < 2_000).then_some(10));
    world.run_until(2_060);
    let shares = world.shares().unwrap();
    assert!(shares[1] > 0 && shares[0] == 0 && shares[2] == 0, "{shares:?}");
    assert_eq!(world.silent.iter().map(|(path, _)| *path).collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn a_machine_that_stood_still_silences_no_path_and_makes_up_for_no_probe() {
    let mut world = World::new(|_, _| Some(10));
    world.run_until(2_000);
    for pause in [100, 1_000, 60_000] {
        let probes = world.probes;
        world.pause(pause);
        world.run_until(world.millis() + 1_000);
        assert!((98..=106).contains(&(world.probes - probes)), "{}", world.probes - probes);
    }
    assert_eq!((&world.silent, world.silences()), (&Vec::new(), vec![0, 0]));
}

#[test]
fn a_path_that_was_dark_for_long_has_lost_what_it_was_late_by() {
    let mut world = World::new(|path, at| (path == 0 || !(2_000..62_000).contains(&at)).then_some(10));
    world.run_until(62_100);
    assert!(!world.feedback.is_dead(1), "probes that were forgotten do not matter");
    // An hour of silence is no lateness: the next one is found as soon as the first.
    let mut world =
        World::new(|path, at| (path == 0 || !((2_000..5_000).contains(&at) || at >= 8_000)).then_some(10));
    world.run_until(9_000);
    assert_eq!(world.silent, [(1, 2_040), (1, 8_040)]);
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
        // missed, what the other path is late by, and the interval until the answer that proves it, which may be late too.
        let most = (20 + round_trip + jitter) + (40 + jitter * 3 / 2) + jitter + (10 + jitter);
        let took = world.silent[0].1 - at;
        prop_assert!(took <= most.min(20 + round_trip + jitter + 120 + 20), "{took} ms of {most}");
    }
}
