//! A stretch of time over which rates are measured.

use std::time::Duration;

use braid_types::Time;

use crate::Reading;

/// The part of the readings in which data has to wait: an application may be late once.
const GREEDY_PART: f64 = 0.8;

/// Readings from the first to the last, of a connection whose subflows stay the same.
#[derive(Clone, Debug)]
pub(crate) struct Window<K> {
    since: Time,
    first: Reading<K>,
    middle: (Time, u64),
    until: Time,
    last: Reading<K>,
    readings: u32,
    greedy: u32,
}

/// What a subflow has done in a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress<K> {
    pub(crate) id: K,
    pub(crate) delivered: f64,
    /// The part of what was sent that was sent again.
    pub(crate) loss: f64,
    pub(crate) rtt: Duration,
}

impl<K: Copy + Ord> Window<K> {
    pub(crate) fn new(now: Time, reading: &Reading<K>) -> Self {
        Self {
            since: now,
            first: reading.clone(),
            middle: (now, reading.acknowledged),
            until: now,
            last: reading.clone(),
            readings: 0,
            greedy: 0,
        }
    }

    /// Adds a reading; `length` is that of the whole window.
    pub(crate) fn add(&mut self, now: Time, reading: &Reading<K>, length: Duration) {
        let half = self.since + length / 2;
        if self.until < half {
            self.middle = (now, reading.acknowledged);
        }
        self.until = now;
        self.last.clone_from(reading);
        self.readings += 1;
        self.greedy += u32::from(reading.is_greedy);
    }

    pub(crate) fn age(&self) -> Duration {
        self.until.since(self.since)
    }

    /// The connection's rate in bits per second.
    pub(crate) fn rate(&self) -> f64 {
        rate((self.since, self.first.acknowledged), (self.until, self.last.acknowledged))
    }

    /// The rate in the second half as a multiple of that in the first.
    pub(crate) fn growth(&self) -> f64 {
        let first = rate((self.since, self.first.acknowledged), self.middle);
        rate(self.middle, (self.until, self.last.acknowledged)) / first.max(1.0)
    }

    /// Whether the paths were the limit almost all the time.
    pub(crate) fn is_greedy(&self) -> bool {
        self.readings > 0 && f64::from(self.greedy) >= GREEDY_PART * f64::from(self.readings)
    }

    pub(crate) fn progress(&self) -> impl Iterator<Item = Progress<K>> {
        self.last.subflows.iter().filter_map(|last| {
            let first = self.first.subflow(last.id)?;
            let grown = |before: u64, after: u64| float(after.saturating_sub(before));
            let sent = grown(first.sent, last.sent);
            let retransmitted = grown(first.retransmitted, last.retransmitted);
            Some(Progress {
                id: last.id,
                delivered: grown(first.acknowledged, last.acknowledged),
                loss: if sent > 0.0 { retransmitted / sent } else { 0.0 },
                rtt: last.rtt,
            })
        })
    }
}

fn rate((since, before): (Time, u64), (until, after): (Time, u64)) -> f64 {
    let seconds = until.since(since).as_secs_f64();
    if seconds > 0.0 { 8.0 * float(after.saturating_sub(before)) / seconds } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "rates need no more than a float holds")]
const fn float(count: u64) -> f64 {
    count as f64
}
