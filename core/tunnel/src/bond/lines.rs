//! All paths to one peer, and which of them a packet takes.

use std::time::Duration;

use braid_types::{BitsPerSec, Time};

use super::frame::Answer;
use super::line::Line;
use crate::endpoint::MAX_PATHS;

/// The interval between two probes of a path.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);
/// A path counts as used for this long after its last packet in order.
const USED_FOR: Duration = Duration::from_secs(1);
/// A path that carries less than this part of the best one gains less than its queue costs.
const WORTH: f64 = 0.15;
/// The pause until it is tried again: at first this, and twice as long after each trial.
const MIN_PAUSE: Duration = Duration::from_secs(30);
const MAX_PAUSE: Duration = Duration::from_secs(600);
/// The weight of a packet in the shares.
const SHARE_WEIGHT: f64 = 1.0 / 1_024.0;

/// The paths that are up. A packet takes the path by which it arrives first, behind what was sent before.
///
/// So each packet arrives no later than by the best path alone, as far as the paths are known; slower ones are used from
/// when the queues of the others take as long.
#[derive(Debug)]
pub(super) struct Lines {
    lines: [Option<Line>; MAX_PATHS],
    /// When each last carried a packet in order.
    used: [Option<Time>; MAX_PATHS],
    shares: [f64; MAX_PATHS],
    rests: [Rest; MAX_PATHS],
    number: u32,
    next_probe: Time,
}

/// Until when a path is not used for packets in order, and how long the pause is.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    until: Time,
    pause: Duration,
}

impl Lines {
    pub(super) fn new(now: Time) -> Self {
        Self {
            lines: Default::default(),
            used: Default::default(),
            shares: Default::default(),
            rests: Default::default(),
            number: 0,
            next_probe: now,
        }
    }

    /// A path has come up or gone down.
    pub(super) fn set(&mut self, now: Time, path: u8, up: bool, rate: Option<BitsPerSec>) {
        let line = up.then(|| Line::new(now, rate));
        let places = self.lines.get_mut(usize::from(path)).zip(self.shares.get_mut(usize::from(path)));
        if let Some((place, share)) = places {
            (*place, *share) = (line, 0.0);
        }
        if let Some(rest) = self.rests.get_mut(usize::from(path)) {
            *rest = Rest::default();
        }
        self.next_probe = now;
    }

    /// Traffic begins after a pause.
    pub(super) fn wake(&mut self, now: Time) {
        self.lines.iter_mut().flatten().for_each(|line| line.wake(now));
        self.next_probe = now;
    }

    /// The number of the probe that is due now by all paths.
    pub(super) fn poll_probe(&mut self, now: Time) -> Option<u32> {
        if now < self.next_probe {
            return None;
        }
        // After a pause, missed probes are not made up for.
        self.next_probe = (self.next_probe + PROBE_INTERVAL).max(now);
        self.number = self.number.wrapping_add(1);
        for line in self.lines.iter_mut().flatten() {
            line.note_probe(now, self.number);
            line.review(now);
        }
        self.rest(now);
        Some(self.number)
    }

    /// Gives a rest to paths that carry next to nothing beside the best one.
    fn rest(&mut self, now: Time) {
        let alive = self.lines.iter().flatten().filter(|line| !line.is_dead());
        let least = alive.map(Line::carried).fold(0.0, f64::max) * WORTH;
        for (line, rest) in self.lines.iter().zip(&mut self.rests) {
            let limit = line.as_ref().and_then(Line::limit);
            if rest.until <= now && limit.is_some_and(|rate| rate < least) {
                let pause = rest.pause.saturating_mul(2).clamp(MIN_PAUSE, MAX_PAUSE);
                *rest = Rest { until: now + pause, pause };
            }
        }
    }

    fn rests(&self, now: Time, path: u8) -> bool {
        self.rests.get(usize::from(path)).is_some_and(|rest| now < rest.until)
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.up().next().map(|_| self.next_probe)
    }

    pub(super) fn handle_answer(&mut self, now: Time, path: u8, answer: &Answer) {
        self.get_mut(path).into_iter().for_each(|line| {
            line.handle_answer(now, answer);
        });
    }

    /// The path by which a packet of this size arrives first.
    pub(super) fn pick(&self, now: Time, size: usize) -> Option<u8> {
        let alive = || self.up().filter(|(_, line)| !line.is_dead());
        let is_good = |(path, line): &(u8, &Line)| !line.is_broken() && !self.rests(now, *path);
        let any_good = alive().any(|it| is_good(&it));
        let known = alive().filter(|it| !any_good || is_good(it));
        let arrivals = known.filter_map(|(path, line)| Some((path, line.arrival(now, size)?)));
        let first = arrivals.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(path, _)| path);
        // Of paths that are not known, any, before those that do not answer.
        first.or_else(|| alive().next().map(|it| it.0)).or_else(|| self.up().next().map(|it| it.0))
    }

    /// A packet of this size is sent by a path.
    pub(super) fn note_packet(&mut self, now: Time, path: u8, size: usize) {
        self.get_mut(path).into_iter().for_each(|line| line.note_packet(now, size));
        for (place, share) in self.shares.iter_mut().enumerate() {
            let is_it = f64::from(u8::from(place == usize::from(path)));
            *share += SHARE_WEIGHT * (is_it - *share);
        }
    }

    /// The packet was one in order.
    pub(super) fn note_used(&mut self, now: Time, path: u8) {
        self.used.get_mut(usize::from(path)).into_iter().for_each(|used| *used = Some(now));
    }

    /// The number of paths that have carried packets in order lately.
    pub(super) fn count_used(&self, now: Time) -> u8 {
        let used = self.used.iter().flatten().filter(|at| now.since(**at) < USED_FOR).count();
        u8::try_from(used).unwrap_or(u8::MAX).max(1)
    }

    pub(super) fn get(&self, path: u8) -> Option<&Line> {
        self.lines.get(usize::from(path))?.as_ref()
    }

    pub(super) fn get_mut(&mut self, path: u8) -> Option<&mut Line> {
        self.lines.get_mut(usize::from(path))?.as_mut()
    }

    /// The shortest round trip of those that answer.
    pub(super) fn round_trip(&self) -> Option<Duration> {
        let alive = self.up().filter(|(_, line)| !line.is_dead() && !line.round_trip().is_zero());
        alive.map(|(_, line)| line.round_trip()).min()
    }

    /// The paths that are up.
    pub(super) fn up(&self) -> impl Iterator<Item = (u8, &Line)> {
        (0..).zip(&self.lines).filter_map(|(path, line)| Some((path, line.as_ref()?)))
    }

    /// A path's part of the packets sent lately, from 0 to 1.
    pub(super) fn share(&self, path: u8) -> f64 {
        self.shares.get(usize::from(path)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Option<BitsPerSec> = Some(BitsPerSec(8_000_000));
    const DELAYS: [u64; 2] = [10, 30];

    /// Two paths with delays of 10 and 30 ms, whose probes were answered once.
    fn lines() -> Lines {
        let mut lines = Lines::new(Time::ZERO);
        (0..2).for_each(|path| lines.set(Time::ZERO, path, true, RATE));
        answer(&mut lines, 0, &[0, 1]);
        lines
    }

    /// Probes are sent at this time, and answered by these paths.
    fn answer(lines: &mut Lines, at: u64, paths: &[u8]) {
        let number = lines.poll_probe(Time::from_millis(at)).unwrap();
        for path in paths {
            let delay = DELAYS[usize::from(*path)];
            let arrived = Time::from_millis(at + delay).as_nanos();
            let answer = Answer { number, arrived, ..Answer::default() };
            lines.handle_answer(Time::from_millis(at + 2 * delay), *path, &answer);
        }
    }

    #[test]
    fn the_slower_path_is_used_from_when_the_queue_of_the_quicker_one_takes_as_long() {
        let (mut lines, now) = (lines(), Time::from_millis(60));
        let picked: Vec<_> = (0..24)
            .map(|_| {
                let path = lines.pick(now, 1_000).unwrap();
                lines.note_packet(now, path, 1_000);
                path
            })
            .collect();
        // A packet takes a millisecond.
        assert!(picked[..20].iter().all(|path| *path == 0), "{picked:?}");
        assert!(picked[20..].contains(&1), "{picked:?}");
        assert_eq!(lines.pick(Time::from_millis(90), 1_000), Some(0), "it has run empty");
    }

    #[test]
    fn a_path_that_does_not_answer_is_left_until_it_has_answered_for_a_while() {
        let mut lines = lines();
        (3..20).for_each(|turn| answer(&mut lines, turn * 20, &[1]));
        assert_eq!(lines.pick(Time::from_millis(400), 1_000), Some(1));
        (20..60).for_each(|turn| answer(&mut lines, turn * 20, &[0, 1]));
        assert_eq!(lines.pick(Time::from_millis(1_300), 1_000), Some(0));
    }

    #[test]
    fn a_path_whose_state_is_unknown_is_better_than_none() {
        let mut lines = Lines::new(Time::ZERO);
        assert_eq!(lines.pick(Time::ZERO, 1_000), None);
        lines.set(Time::ZERO, 3, true, None);
        assert_eq!(lines.pick(Time::ZERO, 1_000), Some(3));
        lines.set(Time::ZERO, 3, false, None);
        assert_eq!(lines.pick(Time::ZERO, 1_000), None);
    }
}
