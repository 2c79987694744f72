//! Rates and totals from port counters.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::{BitsPerSec, Time};

use crate::port_counters::PortCounters;

/// Readings closer together give no rate.
const MIN_COUNTER_INTERVAL: Duration = Duration::from_millis(100);
/// Packet readings that are kept,
const MIN_HISTORY: usize = 16;
/// and up to this many of the latest time, as counters may be read more often for a while.
const MAX_HISTORY: usize = 96;
const HISTORY_TIME: Duration = Duration::from_secs(16);

/// Totals of a port since its first reading. Restarted counters do not reset them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) bytes_out: u64,
    pub(crate) packets_out: u64,
    pub(crate) dropped_in: u64,
    pub(crate) dropped_out: u64,
    pub(crate) errors: u64,
}

/// The load that leaves a port, smoothed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LoadReading {
    pub(crate) load: BitsPerSec,
    /// When the counters were read.
    pub(crate) at: Time,
}

/// A packet count at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Count {
    pub(super) at: Time,
    pub(super) packets: u64,
}

/// The latest packet counts.
#[derive(Debug, Default)]
pub(super) struct History(VecDeque<Count>);

/// The counters of one port.
#[derive(Debug, Default)]
pub(super) struct PortMeter {
    last: Option<(Time, PortCounters)>,
    load: Option<LoadReading>,
    totals: Totals,
    /// Packets sent, and packets received.
    pub(super) sent: History,
    pub(super) received: History,
}

impl PortMeter {
    /// Records the counters that the switch read at `at`.
    pub(super) fn note(&mut self, at: Time, new: &PortCounters, smoothing: Duration) {
        match self.last {
            Some((then, old)) if is_continued(&old, new) => {
                let (before, now) = (Reading { at: then, counters: &old }, Reading { at, counters: new });
                let Some(elapsed) = elapsed(before, now) else { return };
                self.take_load(before, now, elapsed, smoothing);
                self.totals.add(&old, new);
            }
            // After a restart of the switch or port, new packets cannot be separated from old ones.
            _ => (self.sent, self.received) = (History::default(), History::default()),
        }
        self.last = Some((at, *new));
        self.sent.push(at, new.packets_out);
        self.received.push(at, new.packets_in);
    }

    pub(super) const fn load(&self) -> Option<LoadReading> {
        self.load
    }

    pub(super) const fn totals(&self) -> &Totals {
        &self.totals
    }

    fn take_load(&mut self, old: Reading<'_>, new: Reading<'_>, elapsed: Duration, smoothing: Duration) {
        let bytes = [old, new].map(|reading| reading.counters.bytes_out);
        let [Some(before), Some(after)] = bytes else { return };
        let rate = after.saturating_sub(before) as f64 * 8.0 / elapsed.as_secs_f64();
        let known = self.load.map_or(rate, |reading| reading.load.as_f64());
        // The step of a first-order low-pass filter sampled after `elapsed`.
        let share = elapsed.as_secs_f64() / (elapsed + smoothing).as_secs_f64();
        let load = BitsPerSec((known + share * (rate - known)).round() as u64);
        self.load = Some(LoadReading { load, at: new.at });
    }
}

/// The counters of a port at one moment.
#[derive(Clone, Copy)]
struct Reading<'a> {
    at: Time,
    counters: &'a PortCounters,
}

impl Totals {
    fn add(&mut self, old: &PortCounters, new: &PortCounters) {
        let grow = |total: &mut u64, counter: fn(&PortCounters) -> Option<u64>| {
            let grown = counter(new).zip(counter(old)).map(|(new, old)| new.saturating_sub(old));
            *total = total.saturating_add(grown.unwrap_or_default());
        };
        grow(&mut self.bytes_out, |counters| counters.bytes_out);
        grow(&mut self.packets_out, |counters| counters.packets_out);
        grow(&mut self.dropped_in, |counters| counters.dropped_in);
        grow(&mut self.dropped_out, |counters| counters.dropped_out);
        grow(&mut self.errors, |counters| counters.errors);
    }
}

impl History {
    fn push(&mut self, at: Time, packets: Option<u64>) {
        let Some(packets) = packets else { return };
        let is_old = |count: &Count| at.since(count.at) > HISTORY_TIME;
        while self.0.len() >= MAX_HISTORY || self.0.len() >= MIN_HISTORY && self.0.front().is_some_and(is_old)
        {
            self.0.pop_front();
        }
        self.0.push_back(Count { at, packets });
    }

    /// The first and the last count.
    pub(super) fn span(&self) -> Option<(Count, Count)> {
        Some((*self.0.front()?, *self.0.back()?))
    }

    /// The packets between the first count and a time in the span, interpolated linearly.
    pub(super) fn since_first(&self, at: Time) -> Option<f64> {
        let (first, (before, after)) = (self.0.front()?, self.around(at)?);
        let grown = |count: Count| count.packets.saturating_sub(first.packets) as f64;
        let span = after.at.since(before.at).as_secs_f64();
        let part = if span > 0.0 { at.since(before.at).as_secs_f64() / span } else { 0.0 };
        Some(grown(before) + part * (grown(after) - grown(before)))
    }

    /// Packets a second between the counts around this time.
    pub(super) fn rate_at(&self, at: Time) -> Option<f64> {
        let (before, after) = self.around(at)?;
        let span = after.at.since(before.at).as_secs_f64();
        (span > 0.0).then(|| after.packets.saturating_sub(before.packets) as f64 / span)
    }

    /// The last count before a time, and the first one after it.
    fn around(&self, at: Time) -> Option<(Count, Count)> {
        let after = self.0.iter().position(|count| count.at >= at)?;
        Some((*self.0.get(after.saturating_sub(1))?, *self.0.get(after)?))
    }
}

/// Whether the counters have not restarted or wrapped: those go backwards.
fn is_continued(old: &PortCounters, new: &PortCounters) -> bool {
    let grows = |counter: fn(&PortCounters) -> Option<u64>| counter(old) <= counter(new);
    old.counting <= new.counting
        && grows(|counters| counters.bytes_out)
        && grows(|counters| counters.packets_out)
        && grows(|counters| counters.packets_in)
}

/// The time between two readings by the switch's clock, which excludes delays of replies. If that differs too
/// much from the controller's clock, the time by the latter.
fn elapsed(old: Reading<'_>, new: Reading<'_>) -> Option<Duration> {
    let ours = new.at.since(old.at);
    let theirs = new.counters.counting.saturating_sub(old.counters.counting);
    let agree = theirs >= ours / 2 && theirs <= ours * 2;
    Some(if agree { theirs } else { ours }).filter(|elapsed| *elapsed >= MIN_COUNTER_INTERVAL)
}
