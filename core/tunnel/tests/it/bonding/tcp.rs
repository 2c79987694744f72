//! A model of a TCP sender with CUBIC and selective acknowledgements, and of its receiver: whole segments, each acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_types::Time;

use super::cubic::Cubic;
use super::world::Transport;

/// RFC 6298, with Linux's least time.
const MIN_TIMEOUT: Duration = Duration::from_millis(200);
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);

/// A connection.
pub(crate) struct Tcp {
    sender: Sender,
    receiver: Receiver,
}

impl Transport for Tcp {
    const PROTOCOL: u8 = 6;

    fn new() -> Self {
        Self { sender: Sender::new(), receiver: Receiver::default() }
    }

    fn poll(&mut self, now: Time) -> Option<u32> {
        self.sender.poll(now)
    }

    fn receive(&mut self, number: u32) -> u32 {
        self.receiver.receive(number);
        self.receiver.expected
    }

    fn acknowledge(&mut self, now: Time, number: u32, expected: u32) {
        self.sender.acknowledge(now, number, expected);
    }

    fn delivered(&self) -> u32 {
        self.receiver.expected
    }
}

/// Sends as much as its window allows. Lost is what was sent a quarter of a round trip before something that has come. RFC 8985.
struct Sender {
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

impl Sender {
    fn new() -> Self {
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
    fn poll(&mut self, now: Time) -> Option<u32> {
        self.time_out(now);
        if self.flying.len() >= self.window.packets() {
            return None;
        }
        let again = self.lost.pop_first();
        let number = again.unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        self.flying.insert(number, (now, again.is_some()));
        Some(number)
    }

    /// The receiver has this segment, and all before `expected`.
    fn acknowledge(&mut self, now: Time, number: u32, expected: u32) {
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
        self.window.restart();
        (self.reduced, self.heard, self.timeouts) = (now, now, self.timeouts + 1);
    }
}

/// What the receiving host has.
#[derive(Default)]
struct Receiver {
    beyond: BTreeSet<u32>,
    /// All segments before this one have come.
    expected: u32,
}

impl Receiver {
    fn receive(&mut self, number: u32) {
        if number >= self.expected {
            self.beyond.insert(number);
        }
        while self.beyond.remove(&self.expected) {
            self.expected += 1;
        }
    }
}
