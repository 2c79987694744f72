//! While a sender repeats what was lost, packets pass in the order in which they were sent.
//!
//! A retransmission may pass at once as far as its number goes. But if it overtakes another by a faster path, the sender
//! takes that one for lost too (RFC 8985 §6.2) and sends it once more, into queues that are full already.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

use super::flow::{Flow, Held, Place};
use super::store::charge;
use super::table::FlowId;
use super::{Arrival, Fate, PathId, Resequencer};
use crate::segment::{Segment, SeqNo};

/// So many retransmissions, none so long after the one before, are more than one lost packet.
const SEVERAL: u8 = 3;
const LINGERS: Duration = Duration::from_millis(250);
/// What was lost is sent again within so long: what comes again later, as when the end of an answer is probed for, was not.
const RECOVERY: Duration = Duration::from_secs(2);
/// So many of a flow wait at most.
const MOST: usize = 4_096;
/// A path keeps its order, so that what seems to have been sent before what came there last was sent in the same tick, or is forged.
const TICKS: u32 = 64;

/// When a segment left its sender: by the timestamp in it, and by its number among those of one tick.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Moment {
    tick: u32,
    seq: SeqNo,
}

/// A packet that waits for its turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) moment: Moment,
    pub(super) slot: u32,
    pub(super) came: Arrival,
}

/// The packets of a flow that wait for theirs.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    // In the order of their moments. Where forged timestamps have none, each still waits no longer than the time-out.
    waiting: VecDeque<Turn>,
    repeated: u8,
    last: Option<Time>,
}

impl Moment {
    /// Of a segment that has data and a timestamp.
    pub(super) const fn of(segment: &Segment) -> Option<Self> {
        match segment.timestamp {
            Some(tick) if !segment.is_empty() && !segment.syn => Some(Self { tick, seq: segment.seq }),
            _ => None,
        }
    }

    /// The later of this and what came last by the same path.
    pub(super) fn not_before(self, last: Option<Self>) -> Self {
        let is_like = |last: &Self| last.is_after(self) && last.tick.wrapping_sub(self.tick) <= TICKS;
        last.filter(is_like).unwrap_or(self)
    }

    pub(super) const fn is_after(self, other: Self) -> bool {
        match self.tick.wrapping_sub(other.tick).cast_signed() {
            0 => self.seq.ahead_of(other.seq) > 0,
            later => later > 0,
        }
    }
}

impl Turns {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= MOST
    }

    /// Whether order counts now, if the last gap that was given up was opened at `lost`.
    pub(super) fn are_taken(&self, now: Time, lost: Option<Time>) -> bool {
        let lasts = self.last.is_some_and(|last| now.since(last) < LINGERS);
        let is_recovery = lost.is_some_and(|lost| now.since(lost) < RECOVERY);
        !self.is_empty() || self.repeated >= SEVERAL && lasts && is_recovery
    }

    /// Paths have other numbers from now on.
    pub(super) fn forget_paths(&mut self) {
        self.waiting.iter_mut().for_each(|turn| turn.came.path = PathId(u8::MAX));
    }

    /// A retransmission has come.
    pub(super) fn note_repeated(&mut self, now: Time) {
        let goes_on = self.last.is_some_and(|last| now.since(last) < LINGERS);
        self.repeated = if goes_on { self.repeated.saturating_add(1) } else { 1 };
        self.last = Some(now);
    }

    pub(super) fn wait(&mut self, turn: Turn) {
        let place = self.waiting.partition_point(|other| !other.moment.is_after(turn.moment));
        self.waiting.insert(place, turn);
    }

    pub(super) fn first(&self) -> Option<&Turn> {
        self.waiting.front()
    }

    pub(super) fn take_first(&mut self) -> Option<Turn> {
        let first = self.waiting.pop_front();
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
        first
    }
}

impl<P> Resequencer<P> {
    /// What came has to wait for its turn, or others had to wait for it.
    pub(super) fn wait_for_turn(
        &mut self,
        id: FlowId,
        came: &Arrival,
        moment: Moment,
        packet: impl FnOnce() -> P,
    ) -> Fate {
        let slot = self.keep(id, came, true, packet);
        if let Some(flow) = self.table.get_mut(id) {
            flow.wait_for_turn(Turn { moment, slot, came: *came });
        }
        self.take_turns(came.at, id);
        Fate::Taken
    }

    /// Those come whose turn it is.
    fn take_turns(&mut self, now: Time, id: FlowId) {
        while let Some(turn) = self.table.get_mut(id).and_then(Flow::take_turn) {
            self.come(now, id, &turn);
        }
    }

    /// The packet that has waited longest, if it waits for its turn, waits no longer, nor do those whose turn is before; whether it did.
    pub(super) fn end_oldest_turn(&mut self, now: Time) -> bool {
        let Some((entry, slot)) = self.store.oldest().zip(self.store.oldest_slot()) else { return false };
        let (id, takes_turn) = (entry.flow, entry.takes_turn);
        while takes_turn && let Some(turn) = self.table.get_mut(id).and_then(Flow::take_first_turn) {
            self.come(now, id, &turn);
            if turn.slot == slot {
                self.table.get_mut(id).into_iter().for_each(|flow| flow.stop_waiting(turn.moment));
                self.take_turns(now, id);
                break;
            }
        }
        if self.store.entry(slot).is_some_and(|entry| entry.takes_turn) {
            debug_assert!(false, "what takes turns is known to its flow");
            self.release_at(now, slot, self.ready.len());
        }
        takes_turn
    }

    /// Nothing of the flow waits for its turn any more; whether something did.
    pub(super) fn end_turns(&mut self, now: Time, id: FlowId) -> bool {
        let mut any = false;
        while let Some(turn) = self.table.get_mut(id).and_then(Flow::take_first_turn) {
            self.come(now, id, &turn);
            any = true;
        }
        any
    }

    /// It is a packet's turn: it goes on, before what has waited for it, or waits for what is missing before it.
    fn come(&mut self, now: Time, id: FlowId, turn: &Turn) {
        let (slot, place) = (turn.slot, self.ready.len());
        self.store.entry_mut(slot).into_iter().for_each(|entry| entry.takes_turn = false);
        match self.place(now, id, &turn.came) {
            Place::Ahead => self.wait(now, id, Held::new(&turn.came.segment, slot, charge(turn.came.size))),
            _ => self.release_at(now, slot, place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_compared_over_the_wraps() {
        let moment = |tick, seq| Moment { tick, seq: SeqNo(seq) };
        assert!(moment(1, 0).is_after(moment(u32::MAX, 9)));
        assert!(moment(7, 5).is_after(moment(7, u32::MAX)));
        assert!(!moment(7, 5).is_after(moment(7, 5)));
        assert!(!moment(6, 9).is_after(moment(7, 5)));
        let (early, late, far) = (moment(7, 5), moment(7, 9), moment(7 + TICKS + 1, 5));
        assert_eq!((early.not_before(Some(late)), late.not_before(Some(early))), (late, late));
        assert_eq!((early.not_before(Some(far)), early.not_before(None)), (early, early));
    }
}
