//! A model of a sender with BBR, version 1, and of its receiver, which acknowledges each packet. Nothing is sent twice.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use braid_types::Time;

use super::received::Received;
use super::world::Transport;

/// Cardwell et al., BBR: Congestion-Based Congestion Control, 2016; Linux' `tcp_bbr.c`.
const STARTUP_GAIN: f64 = 2.885;
const WINDOW_GAIN: f64 = 2.0;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const RATE_ROUNDS: u32 = 10;
const LEAST_VALID: Duration = Duration::from_secs(10);
const PROBE_TIME: Duration = Duration::from_millis(200);
const LEAST_PACKETS: f64 = 4.0;
/// Packets that wait for segmentation at both ends, beyond what fills the path.
const AT_ENDS: f64 = 6.0;
const PACED: f64 = 0.99;
/// A timer that is late by less loses nothing.
const CATCHES_UP: Duration = Duration::from_millis(1);
/// A packet is lost when one that was sent so many after it has come, or so long after it, in round trips.
const OVERTAKEN_BY: f64 = 0.25;

/// A connection as Linux has it; `ALLOWS_EXTRA` is false for stacks of QUIC, whose window makes no room for acknowledgements that
/// come together.
pub(crate) struct Bbr<const ALLOWS_EXTRA: bool> {
    next: u32,
    flying: BTreeMap<u32, Flight>,
    newest: Time,
    delivered: u32,
    delivered_at: Time,
    round_ends: u32,
    round: u32,
    /// The greatest rates by round, in packets a second.
    rates: VecDeque<(u32, f64)>,
    least: Duration,
    least_at: Time,
    phase: Phase,
    full_rate: f64,
    full_rounds: u32,
    sends_at: Time,
    extra: Extra,
    received: Received,
}

/// A packet on its way, and what was delivered when it was sent.
#[derive(Clone, Copy)]
struct Flight {
    sent: Time,
    first_sent: Time,
    delivered: u32,
    delivered_at: Time,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Startup,
    Drain,
    Cycle {
        place: usize,
        since: Time,
    },
    /// With few packets, to see the least round trip; the time is known once so few are on their way.
    Least {
        until: Option<Time>,
    },
}

/// Acknowledgements that come together, beyond the rate.
#[derive(Default)]
struct Extra {
    since: Time,
    acknowledged: f64,
    most: VecDeque<(u32, f64)>,
}

impl<const ALLOWS_EXTRA: bool> Transport for Bbr<ALLOWS_EXTRA> {
    const PROTOCOL: u8 = 17;

    fn new() -> Self {
        Self {
            next: 0,
            flying: BTreeMap::new(),
            newest: Time::ZERO,
            delivered: 0,
            delivered_at: Time::ZERO,
            round_ends: 0,
            round: 0,
            rates: VecDeque::new(),
            least: Duration::from_secs(10),
            least_at: Time::ZERO,
            phase: Phase::Startup,
            full_rate: 0.0,
            full_rounds: 0,
            sends_at: Time::ZERO,
            extra: Extra::default(),
            received: Received::default(),
        }
    }

    fn poll(&mut self, now: Time) -> Option<u32> {
        if now < self.sends_at || self.flying.len() as f64 >= self.window() {
            return None;
        }
        let number = self.next;
        self.next += 1;
        if self.flying.is_empty() {
            self.delivered_at = now;
        }
        let first_sent = self.flying.values().next().map_or(now, |first| first.sent);
        let (delivered, delivered_at) = (self.delivered, self.delivered_at);
        self.flying.insert(number, Flight { sent: now, first_sent, delivered, delivered_at });
        if let Some(rate) = self.pace() {
            let at = if now.since(self.sends_at) < CATCHES_UP { self.sends_at } else { now };
            self.sends_at = at + Duration::from_secs_f64(1.0 / rate);
        }
        Some(number)
    }

    fn receive(&mut self, number: u32) -> u32 {
        self.received.push(number)
    }

    fn acknowledge(&mut self, now: Time, _number: u32, count: u32) {
        let numbers = self.received.tell(count);
        let flights: Vec<_> = numbers.iter().filter_map(|number| self.flying.remove(number)).collect();
        let Some(newest) = flights.iter().max_by_key(|flight| flight.sent) else { return };
        self.delivered += flights.len() as u32;
        self.delivered_at = now;
        self.newest = self.newest.max(newest.sent);
        let (late, newest_sent) = (self.least.mul_f64(OVERTAKEN_BY), self.newest);
        self.flying.retain(|_, it| it.sent + late >= newest_sent);
        let is_round = newest.delivered >= self.round_ends;
        if is_round {
            (self.round, self.round_ends) = (self.round + 1, self.delivered);
        }
        self.note_rate(now, newest);
        self.note_extra(now, flights.len());
        if is_round && self.phase == Phase::Startup {
            self.look_for_full();
        }
        self.note_round_trip(now, now.since(newest.sent));
        self.change(now);
    }

    fn delivered(&self) -> u32 {
        self.received.count()
    }
}

impl<const ALLOWS_EXTRA: bool> Bbr<ALLOWS_EXTRA> {
    fn rate(&self) -> f64 {
        self.rates.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }

    fn fills(&self) -> f64 {
        self.rate() * self.least.as_secs_f64()
    }

    fn window(&self) -> f64 {
        if self.rates.is_empty() {
            return 10.0;
        }
        let known = self.extra.most.iter().filter(|_| ALLOWS_EXTRA);
        let extra = known.map(|(_, extra)| *extra).fold(0.0, f64::max);
        match self.phase {
            Phase::Least { .. } => LEAST_PACKETS,
            Phase::Startup => (STARTUP_GAIN * self.fills() + AT_ENDS + extra).max(10.0),
            _ => (WINDOW_GAIN * self.fills() + AT_ENDS + extra).max(LEAST_PACKETS),
        }
    }

    /// Packets a second that may be sent.
    fn pace(&self) -> Option<f64> {
        let gain = match self.phase {
            Phase::Startup => STARTUP_GAIN,
            Phase::Drain => 1.0 / STARTUP_GAIN,
            Phase::Cycle { place, .. } => CYCLE[place],
            Phase::Least { .. } => 1.0,
        };
        Some(gain * self.rate() * PACED).filter(|rate| *rate > 0.0)
    }

    fn note_rate(&mut self, now: Time, flight: &Flight) {
        let elapsed = now.since(flight.delivered_at).max(flight.sent.since(flight.first_sent));
        if elapsed < self.least.min(now.since(flight.sent)) {
            return;
        }
        let rate = f64::from(self.delivered - flight.delivered) / elapsed.as_secs_f64();
        put(&mut self.rates, self.round, rate);
    }

    /// What was acknowledged beyond the rate. `bbr_update_ack_aggregation`.
    fn note_extra(&mut self, now: Time, acknowledged: usize) {
        let rate = self.rate();
        let expected = rate * now.since(self.extra.since).as_secs_f64();
        if self.extra.acknowledged <= expected {
            (self.extra.since, self.extra.acknowledged) = (now, 0.0);
        }
        let expected = rate * now.since(self.extra.since).as_secs_f64();
        self.extra.acknowledged += acknowledged as f64;
        let extra = (self.extra.acknowledged - expected).clamp(0.0, rate * 0.1);
        put(&mut self.extra.most, self.round, extra);
    }

    fn look_for_full(&mut self) {
        if self.rate() >= 1.25 * self.full_rate {
            (self.full_rate, self.full_rounds) = (self.rate(), 0);
            return;
        }
        self.full_rounds += 1;
        if self.full_rounds >= 3 {
            self.phase = Phase::Drain;
        }
    }

    fn note_round_trip(&mut self, now: Time, measured: Duration) {
        let is_old = now.since(self.least_at) > LEAST_VALID;
        if measured <= self.least || is_old {
            (self.least, self.least_at) = (measured, now);
        }
        if is_old && !matches!(self.phase, Phase::Least { .. }) {
            self.phase = Phase::Least { until: None };
        }
    }

    fn change(&mut self, now: Time) {
        let (flying, fills) = (self.flying.len() as f64, self.fills());
        match &mut self.phase {
            Phase::Drain if flying <= fills => self.phase = Phase::Cycle { place: 2, since: now },
            Phase::Cycle { place, since } => {
                let (gain, is_over) = (CYCLE[*place], now.since(*since) > self.least);
                let is_due = match gain {
                    gain if gain > 1.0 => is_over && flying >= gain * fills,
                    gain if gain < 1.0 => is_over || flying <= fills,
                    _ => is_over,
                };
                if is_due {
                    (*place, *since) = ((*place + 1) % CYCLE.len(), now);
                }
            }
            Phase::Least { until: until @ None } if flying <= LEAST_PACKETS => {
                *until = Some(now + PROBE_TIME.max(self.least));
            }
            Phase::Least { until: Some(until) } if now >= *until => {
                self.least_at = now;
                let is_full = self.full_rounds >= 3;
                self.phase = if is_full { Phase::Cycle { place: 2, since: now } } else { Phase::Startup };
            }
            _ => {}
        }
    }
}

/// Keeps the greatest value of each of the last rounds.
fn put(greatest: &mut VecDeque<(u32, f64)>, round: u32, value: f64) {
    match greatest.back_mut() {
        Some((of, greatest)) if *of == round => *greatest = greatest.max(value),
        _ => greatest.push_back((round, value)),
    }
    while greatest.front().is_some_and(|(of, _)| of + RATE_ROUNDS <= round) {
        greatest.pop_front();
    }
}
