//! Rates and totals from port counters.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::{BitsPerSec, Time};

use crate::port_counters::PortCounters;

/// Readings closer together give no rate.
const MIN_COUNTER_INTERVAL: Duration = Duration::from_millis(100);
/// Packet readings that are kept: enough for the loss over three intervals.
const MIN_HISTORY: usize = 6;
/// Up to this many of the latest time are kept, as counters may be read more often for a while.
const MAX_HISTORY: usize = 96;
const HISTORY_TIME: Duration = Duration::from_secs(15);

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

/// The latest counts of packets sent and received. There is one of each port, so it is small.
#[derive(Debug, Default)]
struct History(VecDeque<Counts>);

/// Packets sent and received until a time.
#[derive(Clone, Copy, Debug)]
struct Counts {
    at: Time,
    sent: Counter,
    received: Counter,
}

/// One direction of a port's latest packet counts.
#[derive(Clone, Copy)]
pub(super) struct Direction<'a> {
    counts: &'a VecDeque<Counts>,
    of: fn(&Counts) -> Counter,
}

/// A counter in eight bytes: all ones where the switch has none, as in OpenFlow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counter(u64);

/// What is kept of the counters of a port.
#[derive(Clone, Copy, Debug)]
struct Reading {
    at: Time,
    counting: Duration,
    bytes_out: Counter,
    packets_out: Counter,
    packets_in: Counter,
    dropped_in: Counter,
    dropped_out: Counter,
    errors: Counter,
}

/// The counters of one port.
#[derive(Debug, Default)]
pub(super) struct PortMeter {
    last: Option<Reading>,
    load: Option<LoadReading>,
    totals: Totals,
    history: History,
}

impl PortMeter {
    /// Records the counters that the switch read at `at`.
    pub(super) fn note(&mut self, at: Time, new: &PortCounters, smoothing: Duration) {
        let new = Reading::new(at, new);
        match self.last {
            Some(old) if new.continues(&old) => {
                let Some(elapsed) = elapsed(&old, &new) else { return };
                self.take_load(&old, &new, elapsed, smoothing);
                self.totals.add(&old, &new);
            }
            // After a restart of the switch or port, new packets cannot be separated from old ones.
            _ => self.history = History::default(),
        }
        self.last = Some(new);
        self.history.push(Counts { at, sent: new.packets_out, received: new.packets_in });
    }

    /// The latest counts of packets that the port has sent.
    pub(super) const fn sent(&self) -> Direction<'_> {
        Direction { counts: &self.history.0, of: |counts| counts.sent }
    }

    /// The latest counts of packets that the port has received.
    pub(super) const fn received(&self) -> Direction<'_> {
        Direction { counts: &self.history.0, of: |counts| counts.received }
    }

    pub(super) const fn load(&self) -> Option<LoadReading> {
        self.load
    }

    pub(super) const fn totals(&self) -> &Totals {
        &self.totals
    }

    fn take_load(&mut self, old: &Reading, new: &Reading, elapsed: Duration, smoothing: Duration) {
        let (Some(before), Some(after)) = (old.bytes_out.get(), new.bytes_out.get()) else { return };
        let rate = after.saturating_sub(before) as f64 * 8.0 / elapsed.as_secs_f64();
        let known = self.load.map_or(rate, |reading| reading.load.as_f64());
        // The step of a first-order low-pass filter sampled after `elapsed`.
        let share = elapsed.as_secs_f64() / (elapsed + smoothing).as_secs_f64();
        let load = BitsPerSec((known + share * (rate - known)).round() as u64);
        self.load = Some(LoadReading { load, at: new.at });
    }
}

impl Counter {
    fn get(self) -> Option<u64> {
        (self.0 != u64::MAX).then_some(self.0)
    }
}

impl From<Option<u64>> for Counter {
    fn from(counter: Option<u64>) -> Self {
        Self(counter.unwrap_or(u64::MAX))
    }
}

impl Reading {
    fn new(at: Time, counters: &PortCounters) -> Self {
        Self {
            at,
            counting: counters.counting,
            bytes_out: counters.bytes_out.into(),
            packets_out: counters.packets_out.into(),
            packets_in: counters.packets_in.into(),
            dropped_in: counters.dropped_in.into(),
            dropped_out: counters.dropped_out.into(),
            errors: counters.errors.into(),
        }
    }

    /// Whether the counters have not restarted or wrapped since: those go backwards.
    fn continues(&self, old: &Self) -> bool {
        let grows = |counter: fn(&Self) -> Counter| counter(old).get() <= counter(self).get();
        old.counting <= self.counting
            && grows(|counters| counters.bytes_out)
            && grows(|counters| counters.packets_out)
            && grows(|counters| counters.packets_in)
    }
}

impl Totals {
    fn add(&mut self, old: &Reading, new: &Reading) {
        let grow = |total: &mut u64, counter: fn(&Reading) -> Counter| {
            let grown = counter(new).get().zip(counter(old).get()).map(|(new, old)| new.saturating_sub(old));
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
    fn push(&mut self, counts: Counts) {
        let is_old = |old: &Counts| counts.at.since(old.at) > HISTORY_TIME;
        while self.0.len() >= MAX_HISTORY || self.0.len() >= MIN_HISTORY && self.0.front().is_some_and(is_old)
        {
            self.0.pop_front();
        }
        self.0.push_back(counts);
    }
}

impl Direction<'_> {
    /// The packets between the first and the last count.
    pub(super) fn packets(self) -> u64 {
        self.span().map_or(0, |(first, last)| last.packets.saturating_sub(first.packets))
    }

    /// The first and the last count.
    pub(super) fn span(self) -> Option<(Count, Count)> {
        Some((self.count(0)?, self.count(self.counts.len().checked_sub(1)?)?))
    }

    /// The packets between the first count and a time in the span, interpolated linearly.
    pub(super) fn since_first(self, at: Time) -> Option<f64> {
        let (first, (before, after)) = (self.count(0)?, self.around(at)?);
        let grown = |count: Count| count.packets.saturating_sub(first.packets) as f64;
        let span = after.at.since(before.at).as_secs_f64();
        let part = if span > 0.0 { at.since(before.at).as_secs_f64() / span } else { 0.0 };
        Some(grown(before) + part * (grown(after) - grown(before)))
    }

    /// Packets a second between the counts around this time.
    pub(super) fn rate_at(self, at: Time) -> Option<f64> {
        let (before, after) = self.around(at)?;
        let span = after.at.since(before.at).as_secs_f64();
        (span > 0.0).then(|| after.packets.saturating_sub(before.packets) as f64 / span)
    }

    /// The last count before a time, and the first one after it.
    fn around(self, at: Time) -> Option<(Count, Count)> {
        let after = self.counts.iter().position(|counts| counts.at >= at)?;
        Some((self.count(after.saturating_sub(1))?, self.count(after)?))
    }

    fn count(self, index: usize) -> Option<Count> {
        let counts = self.counts.get(index)?;
        Some(Count { at: counts.at, packets: (self.of)(counts).get()? })
    }
}

/// The time between two readings by the switch's clock, which excludes delays of replies. If that differs too
/// much from the controller's clock, the time by the latter.
fn elapsed(old: &Reading, new: &Reading) -> Option<Duration> {
    let ours = new.at.since(old.at);
    let theirs = new.counting.saturating_sub(old.counting);
    let agree = theirs >= ours / 2 && theirs <= ours * 2;
    Some(if agree { theirs } else { ours }).filter(|elapsed| *elapsed >= MIN_COUNTER_INTERVAL)
}
