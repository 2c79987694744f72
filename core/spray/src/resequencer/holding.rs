//! Packets that are held, and the room for them.

use braid_types::Time;

use super::flow::Held;
use super::release::Cause;
use super::store::{Entry, charge};
use super::table::FlowId;
use super::{Arrival, Fate, Resequencer};

impl<P> Resequencer<P> {
    /// Whether one more packet may wait in send order.
    pub(super) fn can_wait(&mut self, id: FlowId, charge: u32) -> bool {
        let has_enough = self.table.get_mut(id).is_none_or(|flow| flow.is_order_full());
        self.store.has_room(charge) && !has_enough
    }

    pub(super) fn hold(&mut self, id: FlowId, came: &Arrival, packet: impl FnOnce() -> P) -> Fate {
        let charge = charge(came.size);
        if !self.store.has_room(charge) && !self.make_room(id, came, charge) {
            return self.overflow(id, came, packet);
        }
        let slot = self.keep(id, came, false, packet);
        self.wait(came.at, id, Held::new(&came.segment, slot, charge));
        Fate::Taken
    }

    /// Holds a packet.
    pub(super) fn keep(
        &mut self,
        id: FlowId,
        came: &Arrival,
        is_ordered: bool,
        packet: impl FnOnce() -> P,
    ) -> u32 {
        let (arrival, seq, charge) = (came.at, came.segment.seq, charge(came.size));
        let (path, probes) = (came.path, self.probes.count(came.path));
        let entry = Entry { arrival, flow: id, seq, path, probes, charge, is_ordered, packet: packet() };
        let slot = self.store.push(entry);
        self.counters.held = self.counters.held.saturating_add(1);
        self.counters.note_inside(self.gauge());
        slot
    }

    /// Lets a held packet wait for those before it.
    pub(super) fn wait(&mut self, now: Time, id: FlowId, held: Held) {
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
