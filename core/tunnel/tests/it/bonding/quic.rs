//! A model of a QUIC sender with CUBIC, and of its receiver, which acknowledges each packet. Nothing is sent under the same number twice.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_types::Time;

use super::cubic::Cubic;
use super::received::Received;
use super::world::Transport;

/// RFC 9002 §6.1.
const PACKET_THRESHOLD: u32 = 3;
const GRANULARITY: Duration = Duration::from_millis(1);
/// RFC 9002 §6.2 and §7.6.
const FIRST_ROUND_TRIP: Duration = Duration::from_millis(333);
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
const PERSISTENT_PROBE_TIMEOUTS: u32 = 3;

/// A connection.
pub(crate) struct Quic {
    sender: Sender,
    received: Received,
}

impl Transport for Quic {
    const PROTOCOL: u8 = 17;

    fn new() -> Self {
        Self { sender: Sender::new(), received: Received::default() }
    }

    fn poll(&mut self, now: Time) -> Option<u32> {
        self.sender.poll(now)
    }

    fn receive(&mut self, number: u32) -> u32 {
        self.received.push(number)
    }

    fn acknowledge(&mut self, now: Time, _number: u32, count: u32) {
        self.sender.acknowledge(now, self.received.tell(count));
    }

    fn delivered(&self) -> u32 {
        self.received.count()
    }
}

/// Sends as much as its window allows.
struct Sender {
    next: u32,
    /// By number, when it was sent.
    flying: BTreeMap<u32, Time>,
    window: Cubic,
    largest: Option<u32>,
    reduced: Time,
    round_trip: Duration,
    variation: Duration,
    least_round_trip: Duration,
    latest: Duration,
    heard: Time,
    timeouts: u32,
    /// Probes that may be sent beyond the window.
    probes: u32,
}

impl Sender {
    fn new() -> Self {
        Self {
            next: 0,
            flying: BTreeMap::new(),
            window: Cubic::new(),
            largest: None,
            reduced: Time::ZERO,
            round_trip: Duration::ZERO,
            variation: Duration::ZERO,
            least_round_trip: Duration::from_secs(10),
            latest: Duration::ZERO,
            heard: Time::ZERO,
            timeouts: 0,
            probes: 0,
        }
    }

    /// The next packet that may be sent now.
    fn poll(&mut self, now: Time) -> Option<u32> {
        self.find_lost(now);
        self.time_out(now);
        if self.flying.len() >= self.window.packets() {
            self.probes = self.probes.checked_sub(1)?;
        }
        let number = self.next;
        self.next += 1;
        if self.flying.is_empty() {
            self.heard = now;
        }
        self.flying.insert(number, now);
        Some(number)
    }

    /// The receiver has these packets, too.
    fn acknowledge(&mut self, now: Time, numbers: Vec<u32>) {
        if numbers.is_empty() {
            return;
        }
        (self.heard, self.timeouts) = (now, 0);
        let largest =
            numbers.iter().max().copied().filter(|it| self.largest.is_none_or(|before| *it > before));
        if let Some((largest, sent)) = largest.and_then(|it| Some((it, *self.flying.get(&it)?))) {
            self.largest = Some(largest);
            self.note_round_trip(now, now.since(sent));
        }
        for sent in numbers.iter().filter_map(|number| self.flying.remove(number)).collect::<Vec<_>>() {
            if sent >= self.reduced {
                self.window.grow(now, 1.0, self.round_trip);
            }
        }
        self.find_lost(now);
    }

    fn note_round_trip(&mut self, now: Time, measured: Duration) {
        self.latest = measured;
        self.least_round_trip = self.least_round_trip.min(measured);
        if self.round_trip.is_zero() {
            (self.round_trip, self.variation) = (measured, measured / 2);
        } else {
            self.variation = (self.variation * 3 + self.round_trip.abs_diff(measured)) / 4;
            self.round_trip = (self.round_trip * 7 + measured) / 8;
        }
        self.window.note_round_trip(now, measured, self.least_round_trip);
    }

    fn find_lost(&mut self, now: Time) {
        let Some(largest) = self.largest else { return };
        let late = (self.round_trip.max(self.latest) * 9 / 8).max(GRANULARITY);
        let is_lost =
            |number: &u32, sent: &mut Time| number + PACKET_THRESHOLD <= largest || now.since(*sent) >= late;
        let gone: Vec<_> = self.flying.extract_if(..largest, is_lost).collect();
        let Some((&(first, from), &(last, to))) = gone.first().zip(gone.last()) else { return };
        if to >= self.reduced {
            self.window.reduce();
            self.reduced = now;
        }
        let is_run = last - first + 1 == gone.len() as u32;
        if is_run && to.since(from) >= self.probe_timeout() * PERSISTENT_PROBE_TIMEOUTS {
            self.window.restart();
        }
    }

    /// Nothing was heard for long: two packets more are sent. RFC 9002 §6.2.4.
    fn time_out(&mut self, now: Time) {
        if !self.flying.is_empty()
            && now.since(self.heard) >= self.probe_timeout() * (1 << self.timeouts.min(6))
        {
            (self.heard, self.timeouts, self.probes) = (now, self.timeouts + 1, 2);
        }
    }

    fn probe_timeout(&self) -> Duration {
        if self.round_trip.is_zero() {
            return FIRST_ROUND_TRIP * 2;
        }
        self.round_trip + (self.variation * 4).max(GRANULARITY) + MAX_ACK_DELAY
    }
}
