//! What is known of one path: how long a packet takes by it now, what it carries, and what it loses.

mod backlog;
mod delay;
mod gate;
mod jitter;
mod losses;
mod overtaken;
mod rate;

use std::time::Duration;

use braid_spray::{AnsweredProbe, Lateness, ProbeSettings, Probes};
use braid_types::{BitsPerSec, Time};

use super::frame::Answer;
use backlog::Backlog;
use delay::Delay;
use gate::{Gate, Seen};
use losses::Losses;
use overtaken::Overtaken;
use rate::Rate;

/// A path is dead when no probe is answered for this long, beyond the round trip; sooner if it misses what others have answered.
const DEAD_AFTER: Duration = Duration::from_millis(120);
/// Answers in a row that revive it, and one that has missed some.
const REVIVED_BY: u32 = 3;
const SILENT_REVIVED_BY: u32 = 1;
/// The part of the difference between the modelled queue and a measured one by which the model is corrected.
const CORRECTION: f64 = 0.3;
/// The part by which the usual wait is corrected, which is jitter, or the traffic of others; more by the first answers.
const USUAL_CORRECTION: f64 = 0.03;
/// A queue of so many seconds is more than jitter.
const OVERFULL: f64 = 0.04;
/// What it takes until a lost packet is repaired, in round trips; all later packets of its flow wait for it.
const REPAIR_ROUND_TRIPS: f64 = 1.25;
/// Packets that wait for one that is lost, about: with so few between two losses, some always wait.
const PACKETS_THAT_WAIT: f64 = 100.0;
/// The part of lost packets that parity does not make up for, about.
const BEYOND_PARITY: f64 = 0.02;

/// A path as probes show it, and a model of its queue since the last answer.
///
/// The model fills with each packet that is sent and empties at the path's rate. An answer says how long the queue was a round
/// trip ago; the model and the questions that are still open are corrected by a part of what it was wrong by.
#[derive(Clone, Debug)]
pub(super) struct Line {
    probes: Probes<Modelled>,
    overtaken: Overtaken,
    delay: Delay,
    rate: Rate,
    losses: Losses,
    gate: Gate,
    backlog: Backlog,
    /// The same if the path carries no more than it did in any burst, without corrections.
    burst: Backlog,
    /// Seconds that packets wait besides.
    usual: f64,
    answers: u32,
    in_a_row: u32,
    is_dead: bool,
    revived_by: u32,
}

/// The queue by each model when a probe was sent.
#[derive(Clone, Copy, Debug)]
struct Modelled {
    backlog: f64,
    burst: f64,
    /// That of the gate.
    level: f64,
}

/// What is known of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathReport {
    /// Whether it does not answer probes.
    pub is_dead: bool,
    /// The time that packets wait in its queues.
    pub queue: Duration,
    /// The round trip of probes, smoothed.
    pub round_trip: Duration,
    /// The part of its packets that is lost, smoothed; of probes, while it carries little.
    pub loss: f64,
}

impl Line {
    /// A path of which nothing is known but perhaps its rate.
    pub(super) fn new(now: Time, rate: Option<BitsPerSec>) -> Self {
        Self {
            probes: Probes::new(now),
            overtaken: Overtaken::default(),
            delay: Delay::new(now),
            rate: Rate::new(rate),
            losses: Losses::default(),
            gate: Gate::new(now, rate),
            backlog: Backlog::new(now),
            burst: Backlog::new(now),
            usual: 0.0,
            answers: 0,
            in_a_row: 0,
            is_dead: false,
            revived_by: REVIVED_BY,
        }
    }

    /// Traffic begins after a pause: nothing that was asked before counts.
    pub(super) fn wake(&mut self, now: Time) {
        // A modem that has slept is late at first.
        self.probes.restart(now);
        self.overtaken.clear();
        (self.backlog, self.burst) = (Backlog::new(now), Backlog::new(now));
        self.delay.wake();
        self.rate.wake();
        self.gate.wake(now);
    }

    pub(super) fn note_probe(&mut self, now: Time, number: u32) {
        let (backlog, burst, level) = (self.backlog.at(now), self.burst.at(now), self.gate.level(now));
        self.probes.note_sent(now, number, Modelled { backlog, burst, level });
    }

    /// A packet of this size is sent.
    pub(super) fn note_packet(&mut self, now: Time, size: usize) {
        let bound = self.delay.bound();
        self.backlog.add(now, self.seconds(size), bound);
        self.burst.add(now, self.rate.burst_seconds(size), bound);
        self.gate.note_packet(now, size);
        self.losses.note_packet(self.is_crowded(), self.delay.is_rough());
    }

    /// So many bytes that were sent together took so long.
    pub(super) fn note_train(&mut self, bytes: u32, nanos: u64) {
        self.rate.note_train(bytes, nanos);
    }

    /// The answer to a probe, while packets wait here or none do; whether it was expected.
    pub(super) fn handle_answer(&mut self, now: Time, answer: &Answer, has_waiting: bool) -> bool {
        let Some(answered) = self.probes.take_answered(now, answer.number, DEAD_AFTER) else {
            self.handle_overtaken(answer);
            return false;
        };
        let AnsweredProbe { probe, round_trip, skipped } = answered;
        self.in_a_row = if skipped.is_empty() { self.in_a_row.saturating_add(1) } else { 1 };
        skipped.iter().for_each(|earlier| self.overtaken.note(earlier.number, earlier.at));
        self.count_probes(now);
        let modelled = probe.note;
        let is_held = has_waiting && self.gate.rate().is_some();
        self.delay.note(probe.at, answer.arrived, [modelled.backlog, modelled.burst], is_held);
        if self.delay.queue() > round_trip.as_secs_f64() {
            // No queue is longer than the round trip: a clock was set, or stood still.
            self.delay.forget();
        }
        if self.losses.note_answer(now, answer, self.delay.is_calm()) {
            self.rate.forget(answer.arrived);
        }
        self.rate.note(answer, self.delay.queue() - self.delay.jitter());
        self.correct(now, &modelled);
        self.control(now, &modelled, has_waiting);
        self.is_dead &= self.in_a_row < self.revived_by;
        true
    }

    /// Later probes were answered first.
    fn handle_overtaken(&mut self, answer: &Answer) {
        if self.overtaken.take(answer.number) {
            self.losses.note_probe(true);
            self.in_a_row = self.in_a_row.saturating_add(1);
            self.is_dead &= self.in_a_row < self.revived_by;
        }
    }

    /// One more probe has arrived, and those that nobody expects any more are lost.
    fn count_probes(&mut self, now: Time) {
        let lost = self.overtaken.poll_lost(now, self.probes.round_trip());
        (0..lost).for_each(|_| self.losses.note_probe(false));
        self.losses.note_probe(true);
    }

    fn correct(&mut self, now: Time, modelled: &Modelled) {
        let wrong = self.delay.queue() - self.usual - modelled.backlog;
        self.answers = self.answers.saturating_add(1);
        let part = (1.0 / f64::from(self.answers)).max(USUAL_CORRECTION);
        self.usual = (self.usual + part * wrong).max(0.0);
        let wrong = CORRECTION * wrong;
        self.backlog.correct(now, wrong);
        self.probes.notes_mut().for_each(|it| it.backlog = (it.backlog + wrong).max(0.0));
    }

    /// Keeps the queue inside the path short.
    fn control(&mut self, now: Time, modelled: &Modelled, has_waiting: bool) {
        let (rate, most) = (self.rate.lately(), self.rate.carried());
        let seen = Seen { recent: self.delay.recent(), rate, most, has_waiting };
        let wrong = self.gate.handle_answer(now, modelled.level, &seen);
        self.probes.notes_mut().for_each(|it| it.level = (it.level + wrong).max(0.0));
    }

    /// Marks the path dead if nothing is answered; with probes that are further apart than `interval`, after `slack` more.
    pub(super) fn review(&mut self, now: Time, interval: Duration, slack: Duration) {
        let patience = DEAD_AFTER.saturating_add(self.queued_for(now).max(slack));
        if self.probes.is_unanswered_for(now, patience, interval) {
            (self.is_dead, self.in_a_row, self.backlog) = (true, 0, Backlog::new(now));
            self.revived_by = REVIVED_BY;
            self.gate.wake(now);
        }
    }

    /// Whether it misses what a path with `other` lateness has answered, with probes at this interval.
    pub(super) fn is_silent_beside(&self, now: Time, other: &Lateness, interval: Duration) -> bool {
        let settings = ProbeSettings { interval, timeout: DEAD_AFTER };
        !self.is_dead && self.probes.is_silent_beside(other, self.queued_for(now), &settings)
    }

    /// It misses what others have answered.
    pub(super) const fn note_silence(&mut self) {
        (self.is_dead, self.revived_by) = (true, SILENT_REVIVED_BY);
    }

    pub(super) const fn lateness(&self) -> &Lateness {
        self.probes.lateness()
    }

    /// When a packet sent now would arrive, in seconds since an epoch that is the same for all paths; `None` while unknown.
    pub(super) fn arrival(&self, now: Time, size: usize) -> Option<f64> {
        let least = self.delay.least()?;
        let repair = REPAIR_ROUND_TRIPS * (self.round_trip().as_secs_f64() - self.delay.queue()).max(0.0);
        let unmet = match (self.losses.is_lossy(), self.needs_parity()) {
            (false, _) => 0.0,
            (true, false) => 1.0,
            (true, true) => BEYOND_PARITY,
        };
        let repairs = (self.losses.usual() * unmet * PACKETS_THAT_WAIT).min(1.0) * repair;
        Some(least + self.usual + self.backlog.at(now) + self.seconds(size) + repairs)
    }

    /// The most that it carried lately, in bytes a second.
    pub(super) fn carried(&self) -> f64 {
        self.rate.carried()
    }

    /// What it carries at most, while it is full and more waits than jitter explains; `held` bytes wait here. Unknown while
    /// it is held at a rate that still grows.
    pub(super) fn limit(&self, held: usize) -> Option<f64> {
        let rate = self.gate.rate().or_else(|| self.rate.full_now());
        let rate = rate.filter(|_| !self.gate.is_growing());
        rate.filter(|_| self.queued(held) > OVERFULL + self.delay.jitter())
    }

    /// Seconds that are queued beyond jitter, inside the path and here.
    pub(super) fn queued(&self, held: usize) -> f64 {
        self.delay.queue() - self.usual + self.seconds(held)
    }

    /// How long the path takes for so many bytes.
    pub(super) fn seconds(&self, bytes: usize) -> f64 {
        self.gate.rate().map_or_else(|| self.rate.seconds(bytes), |rate| bytes as f64 / rate)
    }

    /// Somebody waits for packets: the queue inside the path is to be short.
    pub(super) fn note_interactive(&mut self, now: Time) {
        self.gate.note_interactive(now);
    }

    /// Whether a packet that is not urgent may be sent now.
    pub(super) fn is_open(&self, now: Time) -> bool {
        self.gate.is_open(now)
    }

    /// Whether even urgent packets have to wait.
    pub(super) fn is_overfull(&self, now: Time) -> bool {
        self.gate.is_overfull(now)
    }

    /// When the next packet may be sent.
    pub(super) fn opens_at(&self, now: Time) -> Time {
        self.gate.opens_at(now)
    }

    /// Bytes a second at which it is held; `None` if it is not.
    pub(super) const fn held_at(&self) -> Option<f64> {
        self.gate.rate()
    }

    pub(super) const fn is_dead(&self) -> bool {
        self.is_dead
    }

    /// Whether hardly a packet is delayed by jitter or repairs.
    pub(super) fn is_clean(&self) -> bool {
        !self.delay.is_rough() && !self.losses.is_lossy()
    }

    /// Whether its packets are protected by parity: it loses some, and jitter makes their repair slow.
    pub(super) fn needs_parity(&self) -> bool {
        self.losses.needs_parity() && self.delay.is_rough()
    }

    /// The parity packets for so many packets.
    pub(super) fn parity_for(&self, packets: usize) -> u8 {
        self.losses.parity_for(packets)
    }

    /// Whether it loses much though it is not full.
    pub(super) fn is_broken(&self) -> bool {
        self.losses.is_broken() && !self.is_crowded()
    }

    /// Whether its queue is about as long as it ever is.
    pub(super) fn is_crowded(&self) -> bool {
        self.delay.is_crowded()
    }

    /// Whether one more lost packet may be repaired.
    pub(super) fn may_repair(&self) -> bool {
        self.losses.may_repair()
    }

    pub(super) fn note_repair(&mut self) {
        self.losses.note_repair();
    }

    pub(super) const fn round_trip(&self) -> Duration {
        self.probes.round_trip()
    }

    pub(super) fn report(&self) -> Option<PathReport> {
        self.probes.answered().map(|_| PathReport {
            is_dead: self.is_dead,
            queue: Duration::from_secs_f64(self.delay.queue().clamp(0.0, 1e6)),
            round_trip: self.round_trip(),
            loss: self.losses.share(),
        })
    }

    fn queued_for(&self, now: Time) -> Duration {
        Duration::from_secs_f64(self.backlog.at(now).min(1.0))
    }
}

#[cfg(test)]
mod tests;
