//! The resequencing buffer of the receiving edge: flows, their table, and the packets held.

mod counters;
mod flow;
mod hold_histogram;
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
use flow::{Flow, Held, MAX_PATHS, Place};
pub use hold_histogram::HoldHistogram;
use probes::Probes;
use release::Cause;
pub use settings::{HoldTime, Settings, SettingsError};
use skew::Skew;
use store::{Entry, Store, charge};
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

    /// Whether one more packet may wait in send order.
    fn can_wait(&mut self, id: FlowId, charge: u32) -> bool {
        let has_enough = self.table.get_mut(id).is_none_or(|flow| flow.is_order_full());
        self.store.has_room(charge) && !has_enough
    }

    /// Starts a flow at its first segment.
    fn meet(&mut self, now: Time, key: &FiveTuple, segment: &Segment, path: PathId) -> Fate {
        if !segment.is_empty() && !segment.rst {
            let mut flow = Flow::met(segment);
            flow.note_path(path, segment);
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

    /// Finds the position of a segment, and releases packets that waited for it.
    fn place(&mut self, now: Time, id: FlowId, came: &Arrival) -> Place {
        let (segment, horizon) = (&came.segment, self.settings.horizon);
        let Some(flow) = self.table.get_mut(id) else { return Place::Stray };
        if segment.syn {
            flow.note_syn(segment);
            return Place::Old;
        }
        if flow.is_anew(segment) {
            self.restart(now, id, came);
            return Place::Next;
        }
        if segment.is_empty() {
            return Place::Old;
        }
        let place = flow.place(segment, horizon);
        if place == Place::Stray {
            let believed = flow.note_stray(segment);
            self.counters.stray = self.counters.stray.saturating_add(1);
            if believed {
                self.restart(now, id, came);
            }
            return place;
        }
        let is_latest = flow.note_path(came.path, segment);
        match place {
            Place::Old => self.note_repeated(id, came, is_latest),
            Place::Duplicate => self.note_old(id, came, is_latest),
            Place::Next => self.go_on(now, id, came, is_latest),
            _ => {}
        }
        place
    }

    // Packets waiting in send order were sent later, and belong to the new connection.
    fn restart(&mut self, now: Time, id: FlowId, came: &Arrival) {
        self.give_up(now, id, Cause::Ended, |_| true);
        if let Some(flow) = self.table.get_mut(id) {
            flow.restart(&came.segment);
            flow.note_path(came.path, &came.segment);
        }
    }

    /// Notes a late or repeated segment of a gap that was given up.
    fn note_repeated(&mut self, id: FlowId, came: &Arrival, is_latest: bool) {
        self.note_old(id, came, is_latest);
        // Nothing is known of paths that do not keep their order.
        if let Some(flow) = self.table.get_mut(id).filter(|_| self.settings.paths > 0) {
            flow.note_repeated(came.at);
        }
    }

    /// Counts a retransmission. If its path has delivered nothing later, the gap was given up too soon instead.
    fn note_old(&mut self, id: FlowId, came: &Arrival, is_latest: bool) {
        self.counters.old = self.counters.old.saturating_add(1);
        let gap = self.table.get_mut(id).and_then(|flow| flow.gap_of(&came.segment));
        // What probes have shown to be lost is sent again.
        if let Some(gap) = gap.filter(|gap| is_latest && came.at >= gap.opened && !gap.is_overtaken) {
            self.counters.spurious = self.counters.spurious.saturating_add(1);
            self.skew.observe(came.at, came.at.since(gap.opened));
        }
    }

    fn go_on(&mut self, now: Time, id: FlowId, came: &Arrival, is_latest: bool) {
        let Some(flow) = self.table.get_mut(id) else { return };
        flow.advance(came.segment.end());
        let Some(first) = flow.first() else { return };
        let opened = self.store.entry(first.slot).map_or(came.at, |entry| entry.arrival);
        if self.release_next(now, id) {
            self.counters.gaps_filled = self.counters.gaps_filled.saturating_add(1);
        }
        if is_latest && came.at >= opened {
            let path = self.path_mut(came.path);
            path.late = path.late.saturating_add(1);
            self.skew.observe(came.at, came.at.since(opened));
        }
        self.release_passed(now, id);
    }

    fn hold(&mut self, id: FlowId, came: &Arrival, packet: impl FnOnce() -> P) -> Fate {
        let charge = charge(came.size);
        if !self.store.has_room(charge) && !self.make_room(id, came, charge) {
            return self.overflow(id, came, packet);
        }
        let slot = self.keep(id, came, false, packet);
        self.wait(came.at, id, Held::new(&came.segment, slot, charge));
        Fate::Taken
    }

    /// Holds a packet.
    fn keep(&mut self, id: FlowId, came: &Arrival, is_ordered: bool, packet: impl FnOnce() -> P) -> u32 {
        let (arrival, seq, charge) = (came.at, came.segment.seq, charge(came.size));
        let (path, probes) = (came.path, self.probes.count(came.path));
        let entry = Entry { arrival, flow: id, seq, path, probes, charge, is_ordered, packet: packet() };
        let slot = self.store.push(entry);
        self.counters.held = self.counters.held.saturating_add(1);
        self.counters.note_inside(self.gauge());
        slot
    }

    /// Lets a held packet wait for those before it.
    fn wait(&mut self, now: Time, id: FlowId, held: Held) {
        let Some(flow) = self.table.get_mut(id) else { return };
        flow.hold(held);
        if flow.held_bytes() > u64::from(self.settings.threshold) {
            self.exceed(now, id);
        } else {
            self.release_passed(now, id);
        }
    }

    /// Releases the first packet of the flow with the longest wait, so that the heaviest sender does not crowd out
    /// others; returns whether the segment fits now and is still ahead.
    fn make_room(&mut self, id: FlowId, came: &Arrival, charge: u32) -> bool {
        while !self.store.has_room(charge) {
            let Some(flow) = self.store.oldest().map(|oldest| oldest.flow) else { return false };
            if self.release_oldest_ordered(came.at) {
                continue;
            }
            let first = self.table.get_mut(flow).and_then(|flow| flow.first());
            self.give_up(came.at, flow, Cause::Overflow, |held| {
                first.is_some_and(|first| first.slot == held.slot)
            });
        }
        self.table.get_mut(id).is_some_and(|flow| flow.is_before(&came.segment))
    }

    /// Forwards the segment, which cannot be held, after the packets released for its sake.
    fn overflow(&mut self, id: FlowId, came: &Arrival, packet: impl FnOnce() -> P) -> Fate {
        self.counters.held = self.counters.held.saturating_add(1);
        self.ready.push_back(packet());
        if let Some(flow) = self.table.get_mut(id) {
            flow.advance(came.segment.end());
        }
        self.release_next(came.at, id);
        Fate::Taken
    }
}
