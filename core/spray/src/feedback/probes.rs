//! The probes of one path: those that await an answer, the round trip, and how late the answers come.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

use super::ProbeSettings;
use super::silence::{Lateness, Missed};

/// The greatest number of probes awaiting an answer.
const MAX_SENT: usize = 256;

/// The probes of one path, each with what its sender wants to know of it once it is answered.
#[derive(Clone, Debug)]
pub struct Probes<T> {
    /// Without an answer, oldest first.
    sent: VecDeque<SentProbe<T>>,
    /// The send time of the newest answered probe.
    answered: Option<Time>,
    began: Time,
    round_trip: Duration,
    last_round_trip: Duration,
    lateness: Lateness,
}

/// A probe without an answer.
#[derive(Clone, Copy, Debug)]
pub struct SentProbe<T> {
    /// Its number, which its answer repeats.
    pub number: u32,
    /// When it was sent.
    pub at: Time,
    /// What its sender has noted.
    pub note: T,
}

/// A probe that is answered.
#[derive(Clone, Debug)]
pub struct AnsweredProbe<T> {
    /// The probe.
    pub probe: SentProbe<T>,
    /// The time until its answer came.
    pub round_trip: Duration,
    /// Those that were sent before it and have no answer, oldest first; they are no longer awaited.
    pub skipped: Vec<SentProbe<T>>,
}

impl<T> Probes<T> {
    /// None so far.
    pub fn new(now: Time) -> Self {
        Self {
            sent: VecDeque::new(),
            answered: None,
            began: now,
            round_trip: Duration::ZERO,
            last_round_trip: Duration::ZERO,
            lateness: Lateness::default(),
        }
    }

    /// Begins anew after a pause: no earlier probe is awaited, and how late answers were says nothing.
    pub fn restart(&mut self, now: Time) {
        self.sent.clear();
        self.lateness = Lateness::default();
        (self.began, self.answered) = (now, self.answered.map(|_| now));
    }

    /// Notes a probe that is sent. Of more than 256 without an answer, the oldest is forgotten.
    pub fn note_sent(&mut self, now: Time, number: u32, note: T) {
        if self.sent.len() >= MAX_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back(SentProbe { number, at: now, note });
    }

    /// Takes the probe that is answered; `None` if it is not awaited. An answer that is late by more than `timeout` ends an
    /// outage.
    pub fn take_answered(&mut self, now: Time, number: u32, timeout: Duration) -> Option<AnsweredProbe<T>> {
        let place = self.sent.iter().position(|sent| sent.number == number)?;
        let due = self.due().unwrap_or(now);
        let mut skipped: Vec<_> = self.sent.drain(..=place).collect();
        let probe = skipped.pop()?;
        if self.answered.replace(probe.at).is_some() {
            self.lateness.note(probe.at, now, due, timeout);
        }
        let round_trip = now.since(probe.at);
        self.last_round_trip = round_trip;
        let smoothed = self.round_trip.saturating_mul(7).saturating_add(round_trip).checked_div(8);
        self.round_trip = smoothed.filter(|_| !self.round_trip.is_zero()).unwrap_or(round_trip);
        Some(AnsweredProbe { probe, round_trip, skipped })
    }

    /// When the oldest probe without an answer should have had one.
    pub fn due(&self) -> Option<Time> {
        Some(self.sent.front()?.at + self.last_round_trip)
    }

    /// Whether nothing was answered for this long, beyond the round trip, with probes at this interval.
    pub fn is_unanswered_for(&self, now: Time, patience: Duration, interval: Duration) -> bool {
        let Some(oldest) = self.sent.front().map(|sent| sent.at) else { return false };
        let newest = self.answered.unwrap_or(self.began);
        let waits = oldest >= newest || self.answered.is_none();
        // While this machine stood still, no probe was sent that could have been answered.
        let since = newest.max(oldest - interval);
        waits && now.since(since) > self.round_trip.saturating_add(patience)
    }

    /// Whether the path misses what a path with `other` lateness has answered, though it may be late by its own lateness and
    /// by `slack`. What takes as long as the timeout shows without a comparison.
    pub fn is_silent_beside(&self, other: &Lateness, slack: Duration, settings: &ProbeSettings) -> bool {
        let missed = Missed::of(self.sent.iter().map(|sent| sent.at), self.last_round_trip);
        let allowance = self.lateness.allowance(settings.interval).map(|it| it.saturating_add(slack));
        let allowance = allowance.filter(|it| *it < settings.timeout);
        missed.zip(allowance).is_some_and(|(missed, allowance)| other.proves(&missed, allowance))
    }

    /// How late its answers come.
    pub const fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The send time of the newest probe that was answered.
    pub const fn answered(&self) -> Option<Time> {
        self.answered
    }

    /// The round trip, smoothed; zero while it is not known.
    pub const fn round_trip(&self) -> Duration {
        self.round_trip
    }

    /// What is noted of the probes without an answer.
    pub fn notes_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.sent.iter_mut().map(|sent| &mut sent.note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(120);

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    /// The numbers of probes that an answer takes, its own last.
    fn taken(probes: &mut Probes<()>, now: Time, number: u32) -> Option<Vec<u32>> {
        let AnsweredProbe { probe, skipped, .. } = probes.take_answered(now, number, TIMEOUT)?;
        Some(skipped.into_iter().chain([probe]).map(|it| it.number).collect())
    }

    #[test]
    fn an_answer_counts_once_and_only_if_it_was_asked_for() {
        let mut probes = Probes::new(at(0));
        (0..3).for_each(|number| probes.note_sent(at(u64::from(number) * 20), number, ()));
        assert_eq!(taken(&mut probes, at(50), 1), Some(vec![0, 1]));
        assert_eq!([0, 1, 3, u32::MAX].map(|number| taken(&mut probes, at(60), number)), [const { None }; 4]);
        assert_eq!(taken(&mut probes, at(60), 2), Some(vec![2]));
    }

    #[test]
    fn unanswered_probes_are_bounded_and_their_numbers_wrap() {
        let mut probes = Probes::new(at(0));
        let numbers = (0..1_000_u32).map(|step| (u32::MAX - 500).wrapping_add(step));
        for (step, number) in (0..).zip(numbers) {
            probes.note_sent(at(step * 20), number, ());
        }
        assert_eq!(probes.sent.len(), MAX_SENT);
        assert_eq!(taken(&mut probes, at(20_100), u32::MAX), None, "it was forgotten");
        assert_eq!(taken(&mut probes, at(20_100), 498).map(|it| it.len()), Some(MAX_SENT));
        assert_eq!(probes.sent.len(), 0);
    }

    #[test]
    fn the_round_trip_begins_with_the_first_and_follows_the_others_by_an_eighth() {
        let mut probes = Probes::new(at(0));
        let mut answer = |sent, after| {
            probes.note_sent(at(sent), sent as u32, ());
            probes.take_answered(at(sent + after), sent as u32, TIMEOUT).unwrap();
            probes.round_trip()
        };
        assert_eq!([answer(0, 40), answer(20, 80)], [40, 45].map(Duration::from_millis));
    }

    #[test]
    fn time_without_answers_counts_from_the_last_one_or_from_the_first_question_after_a_pause() {
        let interval = Duration::from_millis(20);
        let mut probes = Probes::new(at(0));
        let is_unanswered = |probes: &Probes<()>, now| probes.is_unanswered_for(at(now), TIMEOUT, interval);
        assert!(!is_unanswered(&probes, 5_000), "nothing was asked");
        probes.note_sent(at(0), 0, ());
        assert!(!is_unanswered(&probes, 120) && is_unanswered(&probes, 121));
        probes.take_answered(at(10), 0, TIMEOUT);
        assert!(!is_unanswered(&probes, 5_000), "all is answered");
        probes.note_sent(at(5_000), 1, ());
        assert!(!is_unanswered(&probes, 5_110) && is_unanswered(&probes, 5_111));
        probes.restart(at(6_000));
        assert!(!is_unanswered(&probes, 9_000));
    }
}
