//! Counters of one port as they were read, with the time and its uncertainty.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

use crate::measurement::ReadPeriod;
use crate::port_counters::PortCounters;

/// Readings that are kept: enough to interpolate between those of both ends.
const MIN_READINGS: usize = 4;
/// Up to this many of the latest time are kept, as an end may be read more often than the other.
const MAX_READINGS: usize = 16;
const READING_TIME: Duration = Duration::from_secs(16);
/// A reading whose time is less certain is not used: the controller or the switch is busy.
const MAX_SLACK: Duration = Duration::from_millis(250);

/// What a port has counted since its counters started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counted {
    pub(super) sent: u64,
    pub(super) bytes_sent: u64,
    pub(super) received: u64,
    /// 0 where the switch does not count them.
    pub(super) bytes_received: u64,
    /// Received frames that the port dropped for lack of room, whether or not they are in `received`.
    pub(super) dropped: u64,
    /// Received frames that were damaged.
    pub(super) damaged: u64,
}

/// The counters at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reading {
    pub(super) at: Time,
    /// How much earlier or later they may have been read, in nanoseconds: there are many readings.
    slack_nanos: u32,
    pub(super) counted: Counted,
}

/// The latest readings of a port, without a restart of its counters in between.
#[derive(Debug, Default)]
pub(super) struct PortReadings {
    readings: VecDeque<Reading>,
    counting: Duration,
    restarts: u32,
}

impl Reading {
    /// How much earlier or later the counters may have been read.
    pub(super) const fn slack(&self) -> Duration {
        Duration::from_nanos(self.slack_nanos as u64)
    }
}

impl PortReadings {
    /// Records counters that a switch has read in this period. Counters without packets count as restarted.
    pub(super) fn note(&mut self, period: ReadPeriod, counters: &PortCounters) {
        let Some(counted) = Counted::of(counters) else { return self.restart(counters.counting) };
        let half = period.until.since(period.since) / 2;
        if half > MAX_SLACK {
            return;
        }
        let at = period.since + half;
        if self.last().is_some_and(|last| !counted.continues(&last.counted))
            || counters.counting < self.counting
        {
            self.restart(counters.counting);
        }
        self.counting = counters.counting;
        if self.last().is_some_and(|last| at <= last.at) {
            return;
        }
        let is_old = |old: &Reading| at.since(old.at) > READING_TIME;
        while self.readings.len() >= MAX_READINGS
            || self.readings.len() >= MIN_READINGS && self.readings.front().is_some_and(is_old)
        {
            self.readings.pop_front();
        }
        self.readings.push_back(Reading { at, slack_nanos: half.subsec_nanos(), counted });
    }

    /// The latest reading.
    pub(super) fn last(&self) -> Option<&Reading> {
        self.readings.back()
    }

    /// How often the counters have restarted.
    pub(super) const fn restarts(&self) -> u32 {
        self.restarts
    }

    /// A counter at a time between two readings, interpolated.
    pub(super) fn at(&self, at: Time, counter: fn(&Counted) -> u64) -> Option<f64> {
        let after = self.readings.iter().position(|reading| reading.at >= at)?;
        let after = self.readings.get(after).zip(after.checked_sub(1).and_then(|at| self.readings.get(at)));
        let first =
            self.readings.front().filter(|first| first.at == at).map(|first| counter(&first.counted) as f64);
        let Some((after, before)) = after else { return first };
        let span = after.at.since(before.at).as_secs_f64();
        let part = at.since(before.at).as_secs_f64() / span;
        let (old, new) = (counter(&before.counted), counter(&after.counted));
        Some(old as f64 + part * new.saturating_sub(old) as f64)
    }

    fn restart(&mut self, counting: Duration) {
        self.readings.clear();
        self.counting = counting;
        self.restarts = self.restarts.wrapping_add(1);
    }
}

impl Counted {
    /// `None` if the switch does not count packets.
    fn of(counters: &PortCounters) -> Option<Self> {
        Some(Self {
            sent: counters.packets_out?,
            bytes_sent: counters.bytes_out.unwrap_or_default(),
            received: counters.packets_in?,
            bytes_received: counters.bytes_in.unwrap_or_default(),
            dropped: counters.dropped_in.unwrap_or_default(),
            damaged: counters.damaged_in.unwrap_or_default(),
        })
    }

    /// Whether the counters have neither restarted nor wrapped since `old`.
    const fn continues(&self, old: &Self) -> bool {
        self.sent >= old.sent
            && self.received >= old.received
            && self.bytes_sent >= old.bytes_sent
            && self.bytes_received >= old.bytes_received
            && self.dropped >= old.dropped
            && self.damaged >= old.damaged
    }
}
