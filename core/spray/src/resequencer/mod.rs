//! The resequencing buffer of the receiving edge: flows, their table, and the packets held.

mod counters;
mod flow;
mod hold_histogram;
mod holding;
mod placing;
mod probes;
mod release;
mod retransmit_order;
mod settings;
mod skew;
mod store;
mod table;

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::{FiveTuple, Time};

use crate::segment::Segment;
use crate::segment_counts::SegmentCounts;
pub use counters::{Counters, Gauge, PathCounters};
use flow::{Flow, MAX_PATHS, Place};
pub use hold_histogram::HoldHistogram;
use probes::Probes;
use release::Cause;
pub use settings::{HoldTime, Settings, SettingsError};
use skew::Skew;
use store::{Store, charge};
use table::{FlowId, Table};

/// The path by which a packet arrived. Paths from 8 on are counted as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PathId(pub u8);

/// The fate of a packet that was offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It continues now, before the packets of [`Resequencer::poll_packet`].
    Forward,
    /// It was taken, and [`Resequencer::poll_packet`] returns it, perhaps at once.
    Taken,
}

/// The arrival of an offered packet, without the packet itself.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    segment: Segment,
    path: PathId,
    size: u32,
}

/// Resequences the packets `P` of TCP flows. Performs no I/O.
///
/// ```text
///                     ┌─ old, next, empty, unknown ─────────────────▶ Forward
///  offer ── where? ───┤
///                     └─ ahead ──▶ held ── gap filled or given up ──▶ poll_packet
/// ```
///
/// After [`Self::offer`] and [`Self::handle_timeout`], drain [`Self::poll_packet`]; then ask [`Self::poll_timeout`]. Each
/// packet costs O(1), and O(log n) comparisons in the n that its flow holds if it has to wait.
///
/// Empty acknowledgements never wait. Retransmissions and duplicates wait for no missing segment. During a burst of
/// retransmissions from a sender with timestamps, they wait for each other, so that none overtakes an earlier one. The
/// first segment of a flow sets its start, SYN or not. A SYN in a known connection is trusted only when the connection
/// continues there, so that a forged one changes nothing.
#[derive(Clone, Debug)]
pub struct Resequencer<P> {
    settings: Settings,
    table: Table,
    store: Store<P>,
    ready: VecDeque<P>,
    skew: Skew,
    probes: Probes,
    counters: Counters,
    paths: [PathCounters; MAX_PATHS + 1],
    hold_times: HoldHistogram,
}

impl<P> Resequencer<P> {
    /// An empty resequencer; `seed` keeps strangers from choosing which flows share a set of the table.
    pub fn new(settings: Settings, seed: u64) -> Self {
        Self {
            settings,
            table: Table::new(settings.flows, seed),
            store: Store::new(settings.packets, settings.bytes),
            ready: VecDeque::new(),
            skew: Skew::default(),
            probes: Probes::default(),
            counters: Counters::default(),
            paths: [PathCounters::default(); MAX_PATHS + 1],
            hold_times: HoldHistogram::default(),
        }
    }

    /// Applies new settings, except for the number of flows; held packets keep waiting, by the new settings.
    pub fn change(&mut self, settings: Settings) {
        self.settings = Settings { flows: self.settings.flows, ..settings };
        self.store.resize(settings.packets, settings.bytes);
    }

    /// Discards counts and progress by path, as paths are numbered anew.
    pub fn forget_paths(&mut self) {
        self.paths = Default::default();
        self.probes.forget();
        self.table.flows_mut().for_each(Flow::forget_paths);
    }

    /// Decides about a packet of `flow`, of `size` bytes, that arrived by `path`; `packet` is called if it has to be
    /// held.
    pub fn offer(
        &mut self,
        now: Time,
        flow: &FiveTuple,
        segment: Segment,
        path: PathId,
        size: u32,
        packet: impl FnOnce() -> P,
    ) -> Fate {
        let came = self.path_mut(path);
        came.packets = came.packets.saturating_add(1);
        came.bytes = came.bytes.saturating_add(size.into());
        let Some(id) = self.table.find(now, flow) else { return self.meet(now, flow, &segment, path) };
        if segment.rst {
            return self.end(now, id, packet);
        }
        let came = Arrival { at: now, segment, path, size };
        let horizon = self.settings.horizon;
        if let Some(send_time) = self.table.get_mut(id).and_then(|flow| flow.note_sent(&came, horizon))
            && self.can_wait(id, charge(size))
        {
            return self.hold_in_order(id, &came, send_time, packet);
        }
        match self.place(now, id, &came) {
            Place::Ahead => self.hold(id, &came, packet),
            _ => self.forward(),
        }
    }

    /// Discards the probes that have arrived, as others are numbered anew.
    pub fn forget_probes(&mut self) {
        self.probes.forget();
    }

    /// Whether there are released packets.
    pub fn has_released(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The next released packet.
    pub fn poll_packet(&mut self) -> Option<P> {
        self.ready.pop_front()
    }

    /// The time to call [`Self::handle_timeout`]; `None` while no packet is held.
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.store.oldest()?.arrival + self.hold_time())
    }

    /// Releases packets that were held long enough, and those before them.
    pub fn handle_timeout(&mut self, now: Time) {
        let hold_time = self.hold_time();
        while let Some(oldest) = self.store.oldest().filter(|it| it.arrival + hold_time <= now) {
            let (id, seq) = (oldest.flow, oldest.seq);
            // The packet that fills the gap may be here, waiting in send order.
            if self.release_oldest_ordered(now) || self.release_all_ordered(now, id) {
                continue;
            }
            self.give_up(now, id, Cause::TimedOut, |first| first.seq.ahead_of(seq) <= 0);
        }
    }

    /// Notes a probe that arrived by `path`, with the counts of segments sent and received before it, and releases packets
    /// that wait for lost ones. All probes of the paths must be numbered in the order in which they were sent.
    pub fn note_probe(&mut self, now: Time, path: PathId, number: u32, counts: SegmentCounts) {
        self.probes.note(now, path, number, counts);
        while self.release_overtaken(now).is_some() {}
    }

    /// Releases all packets.
    pub fn flush(&mut self, now: Time) {
        while let Some(id) = self.store.oldest().map(|oldest| oldest.flow) {
            self.empty(now, id);
        }
    }

    /// The present limit of the hold time.
    pub fn hold_time(&self) -> Duration {
        self.skew.hold_time(self.settings.hold)
    }

    /// How it behaves.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The counters of all packets.
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// The hold times of released packets.
    pub const fn hold_times(&self) -> &HoldHistogram {
        &self.hold_times
    }

    /// The present content.
    pub const fn gauge(&self) -> Gauge {
        Gauge { flows: self.table.count(), packets: self.store.count(), bytes: self.store.bytes() }
    }

    /// The traffic of `path`; paths counted as one have one count.
    pub fn path(&self, path: PathId) -> PathCounters {
        self.paths.get(usize::from(path.0).min(MAX_PATHS)).copied().unwrap_or_default()
    }

    // Its array has one more for all paths beyond.
    #[cfg_attr(not(test), expect(clippy::indexing_slicing, reason = "the index is within the array"))]
    fn path_mut(&mut self, path: PathId) -> &mut PathCounters {
        &mut self.paths[usize::from(path.0).min(MAX_PATHS)]
    }

    const fn forward(&mut self) -> Fate {
        self.counters.forwarded = self.counters.forwarded.saturating_add(1);
        Fate::Forward
    }

    /// Starts a flow at its first segment.
    fn meet(&mut self, now: Time, key: &FiveTuple, segment: &Segment, path: PathId) -> Fate {
        if !segment.is_empty() && !segment.rst {
            let mut flow = Flow::met(segment);
            flow.note_path(now, path, segment);
            if self.table.insert(now, key, flow).is_none() {
                self.counters.unknown = self.counters.unknown.saturating_add(1);
            }
        }
        self.forward()
    }

    /// Ends the connection: held packets go before the segment that ends it.
    fn end(&mut self, now: Time, id: FlowId, packet: impl FnOnce() -> P) -> Fate {
        let waited = self.table.get_mut(id).is_some_and(|flow| !flow.holds_nothing());
        self.empty(now, id);
        self.table.remove(id);
        if !waited {
            return self.forward();
        }
        self.counters.held = self.counters.held.saturating_add(1);
        self.ready.push_back(packet());
        Fate::Taken
    }
}
