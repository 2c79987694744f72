//! Release of held packets, and its causes.

use braid_types::Time;

use super::Resequencer;
use super::counters::Counters;
use super::flow::{Flow, Held};
use super::table::FlowId;

/// Why packets are released before the missing ones arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    Passed,
    /// Probes have passed it on every path.
    Overtaken,
    TimedOut,
    Threshold,
    Overflow,
    Ended,
}

impl<P> Resequencer<P> {
    /// The flow holds more than its share: releases all of it, and skips the gaps of a burst of losses.
    pub(super) fn exceed(&mut self, now: Time, id: FlowId) {
        let last = self.table.get_mut(id).and_then(|flow| flow.last());
        self.give_up(now, id, Cause::Threshold, |_| true);
        if let Some((flow, last)) = self.table.get_mut(id).zip(last) {
            let size = last.end.ahead_of(last.seq).unsigned_abs();
            flow.skip(self.settings.loss_recovery, size, self.settings.horizon);
        }
    }

    /// Gives up gaps that nothing can fill any more, since no path reorders.
    pub(super) fn release_passed(&mut self, now: Time, id: FlowId) {
        let paths = self.settings.paths;
        while let Some(flow) = self.table.get_mut(id) {
            let Some(first) = flow.first().filter(|first| flow.all_passed(now, paths, first.seq)) else {
                return;
            };
            self.give_up(now, id, Cause::Passed, |other| other.seq == first.seq);
        }
    }

    /// Releases all packets of a flow.
    pub(super) fn empty(&mut self, now: Time, id: FlowId) {
        self.release_all_ordered(now, id);
        self.give_up(now, id, Cause::Ended, |_| true);
    }

    /// Releases packets from the first on, as long as they are `wanted` or nothing before them is missing.
    pub(super) fn give_up(&mut self, now: Time, id: FlowId, cause: Cause, wanted: impl Fn(&Held) -> bool) {
        while let Some(flow) = self.table.get_mut(id) {
            let Some(first) = flow.first().filter(|first| wanted(first)) else { return };
            let opened = self.store.entry(first.slot).map_or(now, |entry| entry.arrival);
            flow.give_up_gap(opened, cause == Cause::Overtaken);
            let gaps = self.counters.gaps(cause);
            *gaps = gaps.saturating_add(1);
            flow.take_first();
            self.release(now, first);
            self.release_next(now, id);
        }
    }

    /// Releases the packets before which nothing is missing; returns whether there were any.
    pub(super) fn release_next(&mut self, now: Time, id: FlowId) -> bool {
        let mut released = false;
        while let Some(held) = self.table.get_mut(id).and_then(Flow::take_next) {
            self.release(now, held);
            released = true;
        }
        released
    }

    fn release(&mut self, now: Time, held: Held) {
        self.release_at(now, held.slot, self.ready.len());
    }

    /// Releases a packet before those that are ready from `place` on.
    pub(super) fn release_at(&mut self, now: Time, slot: u32, place: usize) {
        let Some(entry) = self.store.remove(slot) else { return };
        let waited = now.since(entry.arrival);
        self.counters.note_released(waited);
        self.hold_times.note(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX));
        self.ready.insert(place, entry.packet);
    }
}

impl Counters {
    const fn gaps(&mut self, cause: Cause) -> &mut u64 {
        match cause {
            Cause::Passed | Cause::Overtaken => &mut self.gaps_passed,
            Cause::TimedOut => &mut self.gaps_timed_out,
            Cause::Threshold => &mut self.gaps_over_threshold,
            Cause::Overflow => &mut self.gaps_overflowed,
            Cause::Ended => &mut self.gaps_ended,
        }
    }
}
