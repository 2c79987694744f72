//! A model of a TCP sender, as far as losses matter: whole segments, and an acknowledgement for each.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use braid_types::Time;

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// Halves when something is lost. RFC 5681.
    Reno,
    /// Sends at the rate that it found, and minds no loss. After BBR, version 1.
    Paced,
}

/// Sends as much as it may. What is lost is found as RACK finds it: something that was sent later has come. RFC 8985.
pub(crate) struct Sender {
    control: Control,
    next: u32,
    /// By number, when it was sent last, and whether that was not the first time.
    flying: BTreeMap<u32, (Time, bool)>,
    lost: BTreeSet<u32>,
    window: f64,
    threshold: f64,
    reduced: Time,
    newest: Time,
    round_trip: Duration,
    least_round_trip: Duration,
    heard: Time,
    patience: u32,
    model: Model,
}

/// The rate that was found, in segments a second.
struct Model {
    delivered: u32,
    since: Time,
    rates: VecDeque<f64>,
    is_starting: bool,
    phase: usize,
    credit: f64,
}

impl Sender {
    pub(crate) fn new(control: Control) -> Self {
        let rates = VecDeque::from([200.0]);
        Self {
            control,
            next: 0,
            flying: BTreeMap::new(),
            lost: BTreeSet::new(),
            window: 10.0,
            threshold: f64::MAX,
            reduced: Time::ZERO,
            newest: Time::ZERO,
            round_trip: Duration::ZERO,
            least_round_trip: SECOND,
            heard: Time::ZERO,
            patience: 0,
            model: Model {
                delivered: 0,
                since: Time::ZERO,
                rates,
                is_starting: true,
                phase: 0,
                credit: 10.0,
            },
        }
    }

    /// The next segment that may be sent now.
    pub(crate) fn poll(&mut self, now: Time) -> Option<u32> {
        self.time_out(now);
        let may = self.flying.len() < self.window() as usize;
        if !may || self.control == Control::Paced && self.model.credit < 1.0 {
            return None;
        }
        self.model.credit -= 1.0;
        let again = self.lost.pop_first();
        let number = again.unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        self.flying.insert(number, (now, again.is_some()));
        Some(number)
    }

    /// A segment has come, which the other end says.
    pub(crate) fn acknowledge(&mut self, now: Time, number: u32) {
        (self.heard, self.patience) = (now, 0);
        self.lost.remove(&number);
        let Some((sent, again)) = self.flying.remove(&number) else { return };
        let measured = now.since(sent);
        if !again {
            let known = if self.round_trip.is_zero() { measured } else { self.round_trip };
            self.round_trip = (known * 7 + measured) / 8;
            self.least_round_trip = self.least_round_trip.min(measured);
        }
        self.newest = self.newest.max(sent);
        self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
        self.model.note(now, self.least_round_trip);
        self.find_lost(now);
    }

    /// Once in each step of `step`.
    pub(crate) fn pace(&mut self, step: Duration) {
        let gain = self.model.gain();
        self.model.credit = (self.model.credit + gain * self.model.rate() * step.as_secs_f64()).min(40.0);
    }

    fn window(&self) -> f64 {
        match self.control {
            Control::Reno => self.window,
            Control::Paced => {
                (2.0 * self.model.rate() * (self.least_round_trip * 3 / 2).as_secs_f64()).max(10.0)
            }
        }
    }

    fn find_lost(&mut self, now: Time) {
        let late = self.round_trip / 4;
        let newest = self.newest;
        let gone = self.flying.extract_if(.., |_, (sent, _)| *sent + late < newest).collect::<Vec<_>>();
        for (number, (sent, _)) in gone {
            self.lost.insert(number);
            if sent >= self.reduced {
                self.window = (self.window / 2.0).max(2.0);
                (self.threshold, self.reduced) = (self.window, now);
            }
        }
    }

    /// Nothing was heard for long: all is lost, and it begins anew. RFC 6298.
    fn time_out(&mut self, now: Time) {
        let patience = (self.round_trip * 2 + Duration::from_millis(200)) * (1 << self.patience.min(6));
        if self.flying.is_empty() || now.since(self.heard) < patience {
            return;
        }
        self.lost.extend(std::mem::take(&mut self.flying).into_keys());
        (self.threshold, self.window) = ((self.window / 2.0).max(2.0), 1.0);
        (self.reduced, self.heard, self.patience) = (now, now, self.patience + 1);
    }
}

impl Model {
    fn rate(&self) -> f64 {
        self.rates.iter().copied().fold(20.0, f64::max)
    }

    fn gain(&self) -> f64 {
        match (self.is_starting, self.phase) {
            (true, _) => 2.89,
            (_, 0) => 1.25,
            (_, 1) => 0.75,
            _ => 1.0,
        }
    }

    fn note(&mut self, now: Time, round: Duration) {
        self.delivered += 1;
        let elapsed = now.since(self.since);
        if elapsed < round.max(Duration::from_millis(20)) {
            return;
        }
        let rate = f64::from(self.delivered) / elapsed.as_secs_f64();
        let third = self.rates.iter().rev().nth(2).copied().unwrap_or(0.0);
        self.is_starting &= self.rates.len() < 4 || rate > 1.25 * third;
        self.rates.push_back(rate);
        if self.rates.len() > 10 {
            self.rates.pop_front();
        }
        (self.delivered, self.since, self.phase) = (0, now, (self.phase + 1) % 8);
    }
}
