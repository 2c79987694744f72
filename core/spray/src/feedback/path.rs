//! State of one path as its probes show it: delay, queue, loss, and whether it is alive.

use std::time::Duration;

use braid_types::Time;

use super::ProbeSettings;
use super::history::ProbeHistory;
use super::loss::Loss;
use super::probes::{AnsweredProbe, Probes};
use super::silence::Lateness;
use crate::segment_counts::SegmentCounts;

/// The time over which the slope of a queue is smoothed, in seconds.
const SMOOTHING: f64 = 0.06;
/// The weight of a new probe in the smoothed loss.
const LOSS_SHARE: f64 = 0.08;
/// The least delay is taken over this time, up to twice as long.
const WINDOW: Duration = Duration::from_secs(20);
/// The least delay of this many probes counts: the delay of a machine that is busy for a moment is not a queue.
const LATEST: usize = 3;
/// After this part of the time by which an answer may be late, it is doubtful.
const DOUBT: f64 = 0.5;
/// The number of consecutive answers that revive a dead path.
const REVIVED_BY: u32 = 3;

/// The state of one path.
#[derive(Clone, Debug)]
pub(super) struct PathState {
    probes: Probes<ProbeKind>,
    least: [Option<i64>; 2],
    least_since: Time,
    last: Option<(Time, f64)>,
    latest: [i64; LATEST],
    /// Seconds that a packet waits in queues.
    pub(super) queue: f64,
    /// Seconds of queue a second.
    pub(super) slope: f64,
    /// The part of probes that is lost.
    probes_lost: f64,
    pub(super) carried: Loss,
    pub(super) history: ProbeHistory,
    /// Whether the least delay is frozen: the queue is cross traffic, and may last.
    pub(super) keeps_least: bool,
    life: Life,
    in_a_row: u32,
    /// How often it has become silent or dead.
    pub(super) silences: u32,
}

/// When a probe was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProbeKind {
    /// With the interval.
    Regular,
    /// Between two regular ones, because an answer is late.
    Extra,
}

/// Whether a path answers.
///
/// ```text
///        misses what others answer          timeout
///  Alive ─────────────────────────▶ Silent ─────────▶ Dead
///    ▲  ▲            answers           │                │
///    │  └──────────────────────────────┘                │
///    └───────────── answers three times in a row ───────┘
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Alive,
    Silent,
    Dead,
}

impl PathState {
    pub(super) fn new(now: Time) -> Self {
        Self {
            probes: Probes::new(now),
            least: [None; 2],
            least_since: now,
            last: None,
            latest: [i64::MAX; LATEST],
            queue: 0.0,
            slope: 0.0,
            probes_lost: 0.0,
            carried: Loss::default(),
            history: ProbeHistory::default(),
            keeps_least: false,
            life: Life::Alive,
            in_a_row: 0,
            silences: 0,
        }
    }

    pub(super) fn note_sent(&mut self, now: Time, number: u32, kind: ProbeKind) {
        self.probes.note_sent(now, number, kind);
    }

    /// Handles an answer; `arrived` is when the probe arrived, on the other end's clock. Returns whether it was expected.
    /// An answer that is late by more than `timeout` ends an outage.
    pub(super) fn note_answer(
        &mut self,
        now: Time,
        number: u32,
        arrived: i64,
        counts: Option<SegmentCounts>,
        timeout: Duration,
    ) -> bool {
        let Some(answered) = self.probes.take_answered(now, number, timeout) else { return false };
        let AnsweredProbe { probe, skipped, .. } = answered;
        self.in_a_row = if skipped.is_empty() { self.in_a_row.saturating_add(1) } else { 1 };
        // A path keeps its order, so earlier probes are lost, in either direction.
        for _ in skipped {
            self.probes_lost += LOSS_SHARE * (1.0 - self.probes_lost);
        }
        self.probes_lost -= LOSS_SHARE * self.probes_lost;
        // Traffic is compared, and queues are followed, in steps of the regular interval.
        if probe.note == ProbeKind::Regular {
            if let Some(counts) = counts {
                self.carried.note(now, counts);
                self.history.note(probe.at, counts);
            }
            self.note_delay(probe.at, arrived.saturating_sub(nanos(probe.at)));
        }
        if self.life == Life::Silent || self.in_a_row >= REVIVED_BY {
            self.life = Life::Alive;
        }
        true
    }

    /// From when on it is doubtful whether it will answer, with probes of this interval; `None` if nothing is to be found out.
    pub(super) fn doubtful_from(&self, interval: Duration) -> Option<Time> {
        let allowance = self.lateness().allowance(interval).filter(|_| self.is_usable())?;
        Some(self.probes.due()? + allowance.mul_f64(DOUBT))
    }

    /// Whether it misses what a path with `other` lateness has answered.
    pub(super) fn is_silent_beside(&self, other: &Lateness, settings: &ProbeSettings) -> bool {
        self.is_usable() && self.probes.is_silent_beside(other, Duration::ZERO, settings)
    }

    pub(super) fn note_silence(&mut self) {
        self.end_life(Life::Silent);
    }

    fn end_life(&mut self, life: Life) {
        // A round trip that is not known yet is no silence.
        if self.life == Life::Alive && self.answered().is_some() {
            self.silences = self.silences.saturating_add(1);
        }
        self.life = life;
    }

    pub(super) const fn lateness(&self) -> &Lateness {
        self.probes.lateness()
    }

    pub(super) fn is_dead(&self) -> bool {
        self.life != Life::Alive
    }

    /// The offset between two edges' clocks is the same for all paths, so only changes of a delay are meaningful.
    fn note_delay(&mut self, sent: Time, delay: i64) {
        if !self.keeps_least && sent.since(self.least_since) >= WINDOW {
            (self.least, self.least_since) = ([None, self.least[0]], sent);
        }
        self.least[0] = Some(self.least[0].map_or(delay, |least| least.min(delay)));
        let least = self.least.iter().flatten().min().copied().unwrap_or(delay);
        self.latest.rotate_right(1);
        self.latest[0] = delay;
        let latest = self.latest.iter().min().copied().unwrap_or(delay);
        let queue = latest.saturating_sub(least) as f64 / 1e9;
        if let Some((before, known)) = self.last {
            let step = sent.since(before).as_secs_f64();
            if step > 0.0 {
                let share = step / (step + SMOOTHING);
                self.slope += share * ((queue - known) / step - self.slope);
            }
        }
        self.queue = queue;
        self.last = Some((sent, queue));
    }

    /// Marks the path dead if no probe was answered for the timeout, beyond the round-trip time.
    pub(super) fn review(&mut self, now: Time, settings: &ProbeSettings) {
        if self.probes.is_unanswered_for(now, settings.timeout, settings.interval) {
            self.end_life(Life::Dead);
            self.in_a_row = 0;
            (self.queue, self.slope, self.last) = (0.0, 0.0, None);
            self.latest = [i64::MAX; LATEST];
        }
    }

    /// The lost part of its traffic, or of probes while it carries little.
    pub(super) fn loss(&self) -> f64 {
        self.carried.share().unwrap_or(self.probes_lost)
    }

    /// Its suitability as a reference for others, less being better: its loss of the last moments and its queue.
    pub(super) fn measure(&self) -> f64 {
        let lost = self.history.lately().map_or(0.0, |carried| 1.0 - carried.kept());
        lost + self.queue
    }

    /// Whether it has answered, and is alive.
    pub(super) fn is_usable(&self) -> bool {
        self.answered().is_some() && !self.is_dead()
    }

    pub(super) const fn answered(&self) -> Option<Time> {
        self.probes.answered()
    }

    pub(super) const fn round_trip(&self) -> Duration {
        self.probes.round_trip()
    }
}

fn nanos(time: Time) -> i64 {
    i64::try_from(time.since(Time::ZERO).as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_millis(20);
    const TIMEOUT: Duration = Duration::from_millis(120);

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    /// A path of which so many probes have been answered after 10 ms.
    fn answered(probes: u32) -> PathState {
        let mut path = PathState::new(Time::ZERO);
        for number in 0..probes {
            let sent = at(u64::from(number) * 20);
            path.note_sent(sent, number, ProbeKind::Regular);
            assert!(path.note_answer(sent + Duration::from_millis(10), number, 0, None, TIMEOUT));
        }
        path
    }

    #[test]
    fn counts_of_silences_and_answers_end_at_their_limits() {
        let mut path = answered(3);
        (path.silences, path.in_a_row) = (u32::MAX, u32::MAX);
        path.note_silence();
        path.note_sent(at(60), 3, ProbeKind::Regular);
        assert!(path.note_answer(at(70), 3, 0, None, TIMEOUT));
        assert_eq!((path.silences, path.in_a_row, path.is_dead()), (u32::MAX, u32::MAX, false));
    }

    #[test]
    fn nothing_is_doubtful_of_a_path_that_has_answered_little_or_is_silent() {
        assert_eq!(PathState::new(Time::ZERO).doubtful_from(INTERVAL), None);
        let doubtful = |probes: u32| {
            let mut path = answered(probes);
            path.note_sent(at(u64::from(probes) * 20), probes, ProbeKind::Regular);
            (path.doubtful_from(INTERVAL), path)
        };
        assert_eq!(doubtful(50).0, None, "the first answer tells of no lateness");
        let (from, mut path) = doubtful(51);
        assert_eq!(from, Some(at(51 * 20 + 10) + Duration::from_micros(12_500)));
        path.note_silence();
        assert_eq!(path.doubtful_from(INTERVAL), None);
    }
}
