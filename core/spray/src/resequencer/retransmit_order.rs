//! Retransmit order: during a burst of retransmissions, packets pass in the order in which they were sent.
//!
//! By its sequence number alone, a retransmission could pass at once. But if it overtakes another by a faster path, the
//! sender takes that one for lost too (RFC 8985 §6.2) and sends it once more, into queues that are already full.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

use super::flow::{Flow, Held, Place};
use super::store::charge;
use super::table::FlowId;
use super::{Arrival, Fate, PathId, Resequencer};
use crate::segment::{Segment, SeqNo};

/// More retransmissions than one lost packet causes, each within this time after the one before.
const MIN_RETRANSMISSIONS: u8 = 3;
const BURST_GAP: Duration = Duration::from_millis(250);
/// A lost segment is sent again within this time. Later repetitions, such as tail probes, are no recovery.
const RECOVERY_TIME: Duration = Duration::from_secs(2);
/// The greatest number of held packets of a flow.
const MAX_HELD: usize = 4_096;
/// A path keeps its order. A packet that seems older than the path's last arrival was sent in the same tick, or is
/// forged.
const MAX_TICKS_BEFORE: u32 = 64;

/// The send time of a segment: its timestamp, and its number among those of one tick.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SendTime {
    tick: u32,
    seq: SeqNo,
}

/// A packet that is held in send order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ordered {
    pub(super) send_time: SendTime,
    pub(super) slot: u32,
    pub(super) came: Arrival,
}

/// The packets of a flow that are held in send order.
#[derive(Clone, Debug, Default)]
pub(super) struct RetransmitOrder {
    // In the order of their send times. Forged timestamps may have no order; each packet is held for the hold time at most.
    waiting: VecDeque<Ordered>,
    repeated: u8,
    last: Option<Time>,
}

impl SendTime {
    /// The send time of a segment with data and a timestamp.
    pub(super) const fn of(segment: &Segment) -> Option<Self> {
        match segment.timestamp {
            Some(tick) if !segment.is_empty() && !segment.syn => Some(Self { tick, seq: segment.seq }),
            _ => None,
        }
    }

    /// The later of this and the last arrival by the same path.
    pub(super) fn not_before(self, last: Option<Self>) -> Self {
        let is_like =
            |last: &Self| last.is_after(self) && last.tick.wrapping_sub(self.tick) <= MAX_TICKS_BEFORE;
        last.filter(is_like).unwrap_or(self)
    }

    pub(super) const fn is_after(self, other: Self) -> bool {
        match self.tick.wrapping_sub(other.tick).cast_signed() {
            0 => self.seq.ahead_of(other.seq) > 0,
            later => later > 0,
        }
    }
}

impl RetransmitOrder {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= MAX_HELD
    }

    /// Whether send order is kept now; `lost` is when the last gap that was given up was opened.
    pub(super) fn is_active(&self, now: Time, lost: Option<Time>) -> bool {
        let lasts = self.last.is_some_and(|last| now.since(last) < BURST_GAP);
        let is_recovery = lost.is_some_and(|lost| now.since(lost) < RECOVERY_TIME);
        !self.is_empty() || self.repeated >= MIN_RETRANSMISSIONS && lasts && is_recovery
    }

    /// Discards the progress of paths, as these are numbered anew.
    pub(super) fn forget_paths(&mut self) {
        self.waiting.iter_mut().for_each(|ordered| ordered.came.path = PathId(u8::MAX));
    }

    /// Notes a retransmission.
    pub(super) fn note_repeated(&mut self, now: Time) {
        let goes_on = self.last.is_some_and(|last| now.since(last) < BURST_GAP);
        self.repeated = if goes_on { self.repeated.saturating_add(1) } else { 1 };
        self.last = Some(now);
    }

    pub(super) fn wait(&mut self, ordered: Ordered) {
        let place = self.waiting.partition_point(|other| !other.send_time.is_after(ordered.send_time));
        self.waiting.insert(place, ordered);
    }

    pub(super) fn first(&self) -> Option<&Ordered> {
        self.waiting.front()
    }

    pub(super) fn take_first(&mut self) -> Option<Ordered> {
        let first = self.waiting.pop_front();
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
        first
    }
}

impl<P> Resequencer<P> {
    /// Holds an arrival in send order, and releases packets that are next.
    pub(super) fn hold_in_order(
        &mut self,
        id: FlowId,
        came: &Arrival,
        send_time: SendTime,
        packet: impl FnOnce() -> P,
    ) -> Fate {
        let slot = self.keep(id, came, true, packet);
        if let Some(flow) = self.table.get_mut(id) {
            flow.hold_in_order(Ordered { send_time, slot, came: *came });
        }
        self.release_ordered(came.at, id);
        Fate::Taken
    }

    /// Releases the packets that are next in send order.
    fn release_ordered(&mut self, now: Time, id: FlowId) {
        while let Some(ordered) = self.table.get_mut(id).and_then(Flow::take_ordered) {
            self.come(now, id, &ordered);
        }
    }

    /// Releases the packet held longest, if it is held in send order, and those sent before it; whether it was.
    pub(super) fn release_oldest_ordered(&mut self, now: Time) -> bool {
        let Some((entry, slot)) = self.store.oldest().zip(self.store.oldest_slot()) else { return false };
        let (id, is_ordered) = (entry.flow, entry.is_ordered);
        while is_ordered && let Some(ordered) = self.table.get_mut(id).and_then(Flow::take_first_ordered) {
            self.come(now, id, &ordered);
            if ordered.slot == slot {
                self.table.get_mut(id).into_iter().for_each(|flow| flow.stop_waiting(ordered.send_time));
                self.release_ordered(now, id);
                break;
            }
        }
        if self.store.entry(slot).is_some_and(|entry| entry.is_ordered) {
            debug_assert!(false, "what takes turns is known to its flow");
            self.release_at(now, slot, self.ready.len());
        }
        is_ordered
    }

    /// Releases all packets of a flow that are held in send order; whether there were some.
    pub(super) fn release_all_ordered(&mut self, now: Time, id: FlowId) -> bool {
        let mut any = false;
        while let Some(ordered) = self.table.get_mut(id).and_then(Flow::take_first_ordered) {
            self.come(now, id, &ordered);
            any = true;
        }
        any
    }

    /// Releases a packet that is next in send order, before those held for it; or holds it for missing segments before it.
    pub(super) fn come(&mut self, now: Time, id: FlowId, ordered: &Ordered) {
        let (slot, place) = (ordered.slot, self.ready.len());
        self.store.entry_mut(slot).into_iter().for_each(|entry| entry.is_ordered = false);
        match self.place(now, id, &ordered.came) {
            Place::Ahead => {
                self.wait(now, id, Held::new(&ordered.came.segment, slot, charge(ordered.came.size)));
            }
            _ => self.release_at(now, slot, place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_compared_over_the_wraps() {
        let send_time = |tick, seq| SendTime { tick, seq: SeqNo(seq) };
        assert!(send_time(1, 0).is_after(send_time(u32::MAX, 9)));
        assert!(send_time(7, 5).is_after(send_time(7, u32::MAX)));
        assert!(!send_time(7, 5).is_after(send_time(7, 5)));
        assert!(!send_time(6, 9).is_after(send_time(7, 5)));
        let (early, late, far) = (send_time(7, 5), send_time(7, 9), send_time(7 + MAX_TICKS_BEFORE + 1, 5));
        assert_eq!((early.not_before(Some(late)), late.not_before(Some(early))), (late, late));
        assert_eq!((early.not_before(Some(far)), early.not_before(None)), (early, early));
    }
}
