//! The congestion window of CUBIC, in packets, as senders of TCP and QUIC have it.

use std::time::Duration;

use braid_types::Time;

/// RFC 9438 §4.
const BETA: f64 = 0.7;
const CUBIC: f64 = 0.4;

/// The congestion window, in packets.
pub(crate) struct Cubic {
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

impl Epoch {
    fn new(since: Time, size: f64, peak: f64) -> Self {
        Self { since, origin: size.max(peak), plateau: ((peak - size).max(0.0) / CUBIC).cbrt() }
    }
}

impl Cubic {
    pub(crate) fn new() -> Self {
        Self { size: 10.0, threshold: f64::MAX, peak: 0.0, epoch: None, reno: 10.0, round: Round::default() }
    }

    pub(crate) fn grow(&mut self, now: Time, news: f64, round_trip: Duration) {
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

    pub(crate) fn reduce(&mut self) {
        // Fast convergence. RFC 9438 §4.7.
        self.peak = if self.size < self.peak { self.size * (1.0 + BETA) / 2.0 } else { self.size };
        self.size = (self.size * BETA).max(2.0);
        (self.threshold, self.reno, self.epoch) = (self.size, self.size, None);
    }

    /// Begins anew after a loss of everything.
    pub(crate) fn restart(&mut self) {
        self.reduce();
        self.size = 2.0;
    }

    /// The packets that may be on their way.
    pub(crate) fn packets(&self) -> usize {
        self.size as usize
    }

    /// Leaves slow start when round trips grow. RFC 9406.
    pub(crate) fn note_round_trip(&mut self, now: Time, measured: Duration, least: Duration) {
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
