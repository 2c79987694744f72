//! One direction of a link in virtual time: frames that queue, travel, get lost or damaged, and switches that read
//! their counters at moments that nobody knows exactly.

use std::collections::VecDeque;
use std::time::Duration;

use braid_topology::LinkState;
use braid_types::{BitsPerSec, SplitMix64, Time};

use crate::health::evidence::LossEvidence;
use crate::health::fast_interval;
use crate::health::link::{Change, LinkHealth};
use crate::health::readings::PortReadings;
use crate::measurement::ReadPeriod;
use crate::port_counters::PortCounters;
use crate::settings::HealthSettings;

const USUAL_INTERVAL: u64 = 1_000;
const SUSPICION_TIME: u64 = 5_000;

/// How a network behaves. Times in milliseconds.
#[derive(Clone, Copy)]
pub(super) struct Behaviour {
    /// Frames a second, on average.
    pub(super) rate: f64,
    /// Traffic alternates between nothing and twice the rate after about this long; 0 for steady traffic.
    pub(super) bursts: u64,
    /// The delay of the link.
    pub(super) delay: usize,
    /// The longest time in which a switch answers.
    pub(super) reply: u64,
    /// Counters are renewed at this interval; 0: always up to date.
    pub(super) stale: u64,
    /// The share of frames that is lost.
    pub(super) loss: f64,
    /// The share of frames that arrives damaged.
    pub(super) damage: f64,
    /// The share of frames that is counted as one with the frame before.
    pub(super) merged: f64,
    /// Bytes of a frame.
    pub(super) frame: u64,
    /// Whether a discovery frame passes each second, whatever becomes of others.
    pub(super) discovery: bool,
    /// Frames a second that the link carries, 0 for any number, and that wait for it at most.
    pub(super) capacity: (f64, u64),
}

/// Bytes of a long frame, of its headers, and of a discovery frame.
pub(super) const FRAME: u64 = 1_514;
const HEADERS: u64 = 66;
const DISCOVERY: u64 = 109;

impl Default for Behaviour {
    fn default() -> Self {
        super::STEADY
    }
}

/// Counters of one end.
#[derive(Clone, Copy, Default)]
struct Counts {
    frames: u64,
    bytes: u64,
    damaged: u64,
}

/// One end of the link: what it has counted, what it shows, and what the controller has read of it.
#[derive(Default)]
struct End {
    counts: Counts,
    shown: Counts,
    renewed: u64,
    /// When it reads its counters, and when its answer arrives.
    due: Option<(u64, u64)>,
    asked: u64,
    read: Counts,
    readings: PortReadings,
    started: u64,
}

pub(super) struct World {
    pub(super) behaviour: Behaviour,
    pub(super) settings: HealthSettings,
    pub(super) now: u64,
    /// What has changed, and when.
    pub(super) changes: Vec<(u64, Change)>,
    /// How often counters were read.
    pub(super) polls: u64,
    link: LinkHealth,
    ends: [End; 2],
    waiting: u64,
    served: f64,
    travelling: VecDeque<u64>,
    random: SplitMix64,
    next_poll: u64,
    suspected_until: u64,
    owed: f64,
    is_on: bool,
}

impl World {
    pub(super) fn new(behaviour: Behaviour, seed: u64) -> Self {
        Self {
            behaviour,
            settings: HealthSettings::default(),
            now: 0,
            changes: Vec::new(),
            polls: 0,
            link: LinkHealth::default(),
            ends: <[End; 2]>::default(),
            waiting: 0,
            served: 0.0,
            travelling: VecDeque::new(),
            random: SplitMix64::new(seed),
            next_poll: 0,
            suspected_until: 0,
            owed: 0.0,
            is_on: true,
        }
    }

    pub(super) fn run(&mut self, seconds: u64) {
        self.run_millis(seconds * 1_000);
    }

    pub(super) fn run_millis(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += 1;
            self.carry();
            self.poll();
            self.answer();
        }
    }

    /// When the link was found to be degraded after a time, and the evidence.
    pub(super) fn found_after(&self, start: u64) -> Option<(Duration, LossEvidence)> {
        self.changes.iter().find_map(|(at, change)| match change {
            Change::Degraded(evidence) if *at >= start => {
                Some((Duration::from_millis(at - start), *evidence))
            }
            _ => None,
        })
    }

    /// When it was taken back.
    pub(super) fn recoveries(&self) -> Vec<u64> {
        let recovered = self.changes.iter().filter(|(_, change)| matches!(change, Change::Recovered(_)));
        recovered.map(|(at, _)| *at).collect()
    }

    pub(super) fn alarms(&self) -> usize {
        self.changes.iter().filter(|(_, change)| matches!(change, Change::Degraded(_))).count()
    }

    /// The counters of one end start anew.
    pub(super) fn restart_counters(&mut self, end: usize) {
        self.ends[end] = End {
            readings: std::mem::take(&mut self.ends[end].readings),
            started: self.now,
            ..End::default()
        };
    }

    fn carry(&mut self) {
        let Behaviour { rate, bursts, delay, loss, damage, merged, frame, discovery, .. } = self.behaviour;
        if discovery && self.now.is_multiple_of(1_000) {
            for counts in self.ends.iter_mut().map(|end| &mut end.counts) {
                (counts.frames, counts.bytes) = (counts.frames + 1, counts.bytes + DISCOVERY);
            }
        }
        if bursts > 0 && self.random.next_f64() < 1.0 / bursts as f64 {
            self.is_on = !self.is_on;
        }
        let factor = if bursts == 0 { 1.0 } else { 2.0 * f64::from(u8::from(self.is_on)) };
        self.owed += rate * factor / 1e3;
        let frames = self.owed.floor();
        self.owed -= frames;
        self.ends[0].counts.frames += frames as u64;
        self.ends[0].counts.bytes += frames as u64 * frame;
        let leaving = self.queue(frames as u64);
        self.travelling.push_back(leaving);
        let arriving = if self.travelling.len() > delay { self.travelling.pop_front() } else { None };
        if loss + damage + merged == 0.0 {
            self.ends[1].counts.frames += arriving.unwrap_or(0);
            self.ends[1].counts.bytes += arriving.unwrap_or(0) * frame;
            return;
        }
        for _ in 0..arriving.unwrap_or(0) {
            let fate = self.random.next_f64();
            let counts = &mut self.ends[1].counts;
            if fate >= 1.0 - merged {
                counts.bytes += frame - HEADERS;
            } else if fate >= loss + damage {
                counts.frames += 1;
                counts.bytes += frame;
            } else if fate >= loss {
                counts.damaged += 1;
            }
        }
    }

    /// Lets frames wait for the link, if there is room; returns those that leave in this millisecond.
    fn queue(&mut self, frames: u64) -> u64 {
        let (capacity, room) = self.behaviour.capacity;
        if capacity == 0.0 {
            return frames;
        }
        self.waiting = (self.waiting + frames).min(room);
        self.served += capacity / 1e3;
        let leaving = self.waiting.min(self.served as u64);
        self.waiting -= leaving;
        self.served = if self.waiting == 0 { 0.0 } else { self.served - leaving as f64 };
        leaving
    }

    fn poll(&mut self) {
        if self.now < self.next_poll || self.ends.iter().any(|end| end.due.is_some()) {
            return;
        }
        let fast = u64::try_from(fast_interval(Time::from_millis(self.now)).as_millis()).unwrap_or(0);
        let interval = if self.now < self.suspected_until { fast } else { USUAL_INTERVAL };
        // The controller wakes every tenth of a second.
        self.next_poll = (self.now + interval).next_multiple_of(100);
        self.polls += 1;
        for end in &mut self.ends {
            let reply = 1 + self.random.next_u64() % self.behaviour.reply.max(1);
            let read = self.random.next_u64() % reply.max(1);
            (end.asked, end.due) = (self.now, Some((self.now + read, self.now + reply)));
        }
    }

    fn answer(&mut self) {
        let (now, stale) = (self.now, self.behaviour.stale);
        let mut answered = false;
        for end in &mut self.ends {
            if stale == 0 || now >= end.renewed + stale {
                (end.shown, end.renewed) = (end.counts, now);
            }
            let Some((read, arrives)) = end.due else { continue };
            if now == read {
                end.read = end.shown;
            }
            if now == arrives {
                end.take(now);
                answered = true;
            }
        }
        if answered {
            self.compare();
        }
    }

    fn compare(&mut self) {
        let [src, dst] = &self.ends;
        let delay = Duration::from_millis(self.behaviour.delay as u64);
        let Some(step) = self.link.comparison.step(&src.readings, &dst.readings, delay) else { return };
        let bits = self.behaviour.capacity.0 * self.behaviour.frame as f64 * 8.0;
        let state = LinkState { capacity: BitsPerSec(bits as u64), ..LinkState::default() };
        let usage = self.link.congestion.note(&step, state, None);
        match self.link.note(step, &self.settings, usage) {
            Some(Change::Suspicious) => {
                self.next_poll = self.next_poll.min(self.now + 100);
                self.suspected_until = self.now + SUSPICION_TIME;
            }
            Some(change) => self.changes.push((self.now, change)),
            None => {}
        }
    }
}

impl End {
    fn take(&mut self, now: u64) {
        self.due = None;
        let period = ReadPeriod { since: Time::from_millis(self.asked), until: Time::from_millis(now) };
        let counters = PortCounters {
            counting: Duration::from_millis(now - self.started),
            packets_in: Some(self.read.frames),
            packets_out: Some(self.read.frames),
            bytes_in: Some(self.read.bytes),
            bytes_out: Some(self.read.bytes),
            damaged_in: Some(self.read.damaged),
            ..PortCounters::default()
        };
        self.readings.note(period, &counters);
    }
}
