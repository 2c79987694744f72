//! A model of a TCP sender with CUBIC and selective acknowledgements, and of its receiver: whole segments, each acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_types::Time;

/// RFC 9438 §4.
const BETA: f64 = 0.7;
const CUBIC: f64 = 0.4;
/// RFC 6298, with Linux's least time.
const MIN_TIMEOUT: Duration = Duration::from_millis(200);
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);

/// Sends as much as its window allows. Lost is what was sent a quarter of a round trip before something that has come. RFC 8985.
pub(crate) struct Sender {
    next: u32,
    /// By number, when it was sent last, and whether that was not the first time.
    flying: BTreeMap<u32, (Time, bool)>,
    lost: BTreeSet<u32>,
    window: Cubic,
    newest: Time,
    reduced: Time,
    round_trip: Duration,
    least_round_trip: Duration,
    heard: Time,
    timeouts: u32,
}

/// The congestion window, in segments.
struct Cubic {
    size: f64,
    threshold: f64,
    peak: f64,
    epoch: Option<Epoch>,
    /// What Reno would have.
    reno: f64,
    round: Round,
}

/// The growth since the last reduction.
#[derive(Clone, Copy)]
struct Epoch {
    since: Time,
    origin: f64,
    plateau: f64,
}

/// The least round trip of the present round of slow start. RFC 9406.
#[derive(Default)]
struct Round {
    ends: Time,
    least: Option<Duration>,
    before: Option<Duration>,
}

impl Sender {
    pub(crate) fn new() -> Self {
        Self {
            next: 0,
            flying: BTreeMap::new(),
            lost: BTreeSet::new(),
            window: Cubic::new(),
            newest: Time::ZERO,
            reduced: Time::ZERO,
            round_trip: Duration::ZERO,
            least_round_trip: Duration::from_secs(10),
            heard: Time::ZERO,
            timeouts: 0,
        }
    }

    /// The next segment that may be sent now.
    pub(crate) fn poll(&mut self, now: Time) -> Option<u32> {
        self.time_out(now);
        if self.flying.len() >= self.window.size as usize {
            return None;
        }
        let again = self.lost.pop_first();
        let number = again.unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        self.flying.insert(number, (now, again.is_some()));
        Some(number)
    }

    /// The receiver has this segment, and all before `expected`.
    pub(crate) fn acknowledge(&mut self, now: Time, number: u32, expected: u32) {
        (self.heard, self.timeouts) = (now, 0);
        self.lost = self.lost.split_off(&expected);
        self.lost.remove(&number);
        let known = self.flying.get(&number).copied();
        let later = self.flying.split_off(&expected);
        let acknowledged = std::mem::replace(&mut self.flying, later).len();
        let news = acknowledged + usize::from(self.flying.remove(&number).is_some());
        let Some((sent, again)) = known else { return };
        let measured = now.since(sent);
        if !again {
            let smoothed = (self.round_trip * 7 + measured) / 8;
            self.round_trip = if self.round_trip.is_zero() { measured } else { smoothed };
            self.least_round_trip = self.least_round_trip.min(measured);
            self.window.note_round_trip(now, measured, self.least_round_trip);
        }
        self.newest = self.newest.max(sent);
        self.window.grow(now, news as f64, self.round_trip);
        self.find_lost(now);
    }

    fn find_lost(&mut self, now: Time) {
        let (late, newest) = (self.least_round_trip / 4, self.newest);
        let gone: Vec<_> = self.flying.extract_if(.., |_, (sent, _)| *sent + late < newest).collect();
        for (number, (sent, _)) in gone {
            self.lost.insert(number);
            if sent >= self.reduced {
                self.window.reduce();
                self.reduced = now;
            }
        }
    }

    /// Nothing was heard for long: all is lost, and it begins anew. RFC 6298.
    fn time_out(&mut self, now: Time) {
        let known = self.round_trip * 2 + MIN_TIMEOUT;
        let wait =
            if self.round_trip.is_zero() { FIRST_TIMEOUT } else { known } * (1 << self.timeouts.min(6));
        if self.flying.is_empty() || now.since(self.heard) < wait {
            return;
        }
        self.lost.extend(std::mem::take(&mut self.flying).into_keys());
        self.window.reduce();
        self.window.size = 2.0;
        (self.reduced, self.heard, self.timeouts) = (now, now, self.timeouts + 1);
    }
}

impl Epoch {
    fn new(since: Time, size: f64, peak: f64) -> Self {
        Self { since, origin: size.max(peak), plateau: ((peak - size).max(0.0) / CUBIC).cbrt() }
    }
}

impl Cubic {
    fn new() -> Self {
        Self { size: 10.0, threshold: f64::MAX, peak: 0.0, epoch: None, reno: 10.0, round: Round::default() }
    }

    fn grow(&mut self, now: Time, news: f64, round_trip: Duration) {
        if self.size < self.threshold {
            self.size += news;
            return;
        }
        let epoch = *self.epoch.get_or_insert_with(|| Epoch::new(now, self.size, self.peak));
        let elapsed = (now.since(epoch.since) + round_trip).as_secs_f64();
        let target = CUBIC * (elapsed - epoch.plateau).powi(3) + epoch.origin;
        self.reno += news * 3.0 * (1.0 - BETA) / (1.0 + BETA) / self.size;
        let target = target.max(self.reno).clamp(self.size, self.size * 1.5);
        self.size += news * (target - self.size) / self.size;
    }

    fn reduce(&mut self) {
        // Fast convergence. RFC 9438 §4.7.
        self.peak = if self.size < self.peak { self.size * (1.0 + BETA) / 2.0 } else { self.size };
        self.size = (self.size * BETA).max(2.0);
        (self.threshold, self.reno, self.epoch) = (self.size, self.size, None);
    }

    /// Leaves slow start when round trips grow. RFC 9406.
    fn note_round_trip(&mut self, now: Time, measured: Duration, least: Duration) {
        let round = &mut self.round;
        if now >= round.ends {
            *round = Round { ends: now + measured, least: None, before: round.least };
        }
        round.least = Some(round.least.map_or(measured, |it| it.min(measured)));
        let limit = (least / 8).clamp(Duration::from_millis(4), Duration::from_millis(16));
        let is_late = round.least.zip(round.before).is_some_and(|(now, before)| now >= before + limit);
        if self.size < self.threshold && self.size >= 16.0 && is_late {
            self.threshold = self.size;
        }
    }
}

/// What the receiving host has.
#[derive(Default)]
pub(crate) struct Receiver {
    beyond: BTreeSet<u32>,
    /// All segments before this one have come.
    pub(crate) expected: u32,
}

impl Receiver {
    pub(crate) fn receive(&mut self, number: u32) {
        if number >= self.expected {
            self.beyond.insert(number);
        }
        while self.beyond.remove(&self.expected) {
            self.expected += 1;
        }
    }
}
