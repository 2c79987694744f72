//! The reordering window of RACK, and the undo of spurious recoveries. RFC 8985.

use super::sender::{Heard, Phase, Sender, State};
use crate::engine::{Picos, Stamp};

/// So many segments beyond a gap say that it is a loss, as long as no segment was seen to overtake another.
const DUPLICATES: u32 = 3;
/// After so many recoveries that were none too soon the window is what it was at first.
const PERSIST: u8 = 16;

/// How far packets overtake each other, as far as it is known. RFC 8985 §6.2 step 4, `tcp_rack_reo_wnd`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// Whether a segment came after one that had been sent later.
    seen: bool,
    /// Quarters of the least round-trip time.
    steps: u8,
    persist: u8,
    /// No other step before this segment is acknowledged.
    settled: u32,
}

/// What a recovery began with, for when it proves to be for nothing. `tcp_try_undo_recovery`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    cwnd: u32,
    ssthresh: u32,
    /// When the first segment was sent again, and how many were and have not come twice.
    since: Option<Stamp>,
    resent: u32,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { seen: false, steps: 1, persist: 0, settled: 0 }
    }
}

impl Undo {
    pub(super) fn note_retransmission(&mut self, now: Picos) {
        self.since.get_or_insert(Stamp::of(now));
        self.resent += 1;
    }
}

impl Sender {
    /// How long beyond a round trip a segment may be on its way.
    fn patience(&self) -> Picos {
        let Reordering { seen, steps, .. } = self.reordering;
        if !seen && (self.phase != Phase::Open || self.sacked >= DUPLICATES) {
            return Picos::ZERO;
        }
        Picos(self.rtt.least().0 / 4 * u64::from(steps)).min(self.rtt.smoothed())
    }

    /// Gives up the transmissions that were under way for longer than one that left later, and waits for those that may come
    /// yet; whether there are any.
    pub(super) fn find_losses(&mut self, now: Picos) -> bool {
        let mut found = false;
        while self.first_order + 1 < self.newest {
            let Some(first) = self.transmissions.front() else { break };
            let order = self.first_order;
            let is_flying = self
                .segment(first.seq)
                .is_some_and(|segment| segment.order == order && segment.state == State::Flying);
            if is_flying {
                let (limit, age) = (self.newest_rtt + self.patience(), first.sent.age(now));
                if age < limit {
                    self.wait_for(now + (limit - age));
                    break;
                }
                self.give_up(first.seq);
                found = true;
            }
            self.transmissions.pop();
            self.first_order += 1;
        }
        found
    }

    fn give_up(&mut self, seq: u32) {
        if let Some(segment) = self.segment(seq) {
            segment.state = State::Lost;
            self.flight -= 1;
            self.lost.push(seq);
        }
    }

    /// The newest transmission that arrived was under way for so long.
    pub(super) fn measure_newest(&mut self, now: Picos) {
        let place = (self.newest - 1).checked_sub(self.first_order);
        if let Some(newest) = place.and_then(|place| self.transmissions.get(place as usize)) {
            self.newest_rtt = newest.sent.age(now);
        }
    }

    /// Whether no answer to a transmission can have come yet: then it is one to an earlier transmission of the segment.
    pub(super) fn is_too_soon(&self, now: Picos, order: u32) -> bool {
        let place = order.checked_sub(self.first_order);
        let sent = place.and_then(|place| self.transmissions.get(place as usize));
        sent.is_some_and(|it| it.sent.age(now) < self.rtt.least())
    }

    /// Notes whether a segment that was sent once comes after one that was sent later.
    pub(super) fn note_order(&mut self, cause: u32) {
        let newest = self.newest;
        let is_late = |order: u32| order + 1 < newest;
        if !self.reordering.seen
            && self
                .segment(cause)
                .is_some_and(|it| it.state != State::Arrived && !it.resent && is_late(it.order))
        {
            self.reordering.seen = true;
        }
    }

    /// A segment that came twice was sent again too soon: more patience, once in a round trip.
    pub(super) fn note_duplicate(&mut self, heard: Heard) {
        if !heard.is_duplicate() {
            return;
        }
        if let Some(undo) = &mut self.undo {
            undo.resent = undo.resent.saturating_sub(1);
        }
        if heard.next >= self.reordering.settled {
            let settled = self.highest();
            let it = &mut self.reordering;
            (it.steps, it.persist, it.settled) = (it.steps.saturating_add(1), PERSIST, settled);
        }
    }

    /// Takes a recovery back if the first gap was filled by what was sent before it, or all that was sent again came twice.
    pub(super) fn undo_if_spurious(&mut self, now: Picos, heard: Heard, advanced: bool) {
        let Some(undo) = self.undo else { return };
        if !matches!(self.phase, Phase::Recovery { .. }) {
            return;
        }
        let is_older = |since: Stamp| heard.stamp.age(now) > since.age(now);
        let by_first = advanced && undo.since.is_none_or(is_older);
        if by_first || (undo.since.is_some() && undo.resent == 0) {
            self.reordering.seen = true;
            self.take_back(now, undo);
        }
    }

    fn take_back(&mut self, now: Picos, undo: Undo) {
        (self.cwnd, self.ssthresh) = (self.cwnd.max(undo.cwnd), undo.ssthresh);
        (self.phase, self.undo) = (Phase::Open, None);
        // As if they had left now: if they do not come, they are lost again.
        while let Some(seq) = self.lost.pop() {
            let order = self.next_transmission();
            let lost = self.segment(seq).filter(|segment| segment.state == State::Lost);
            if let Some(segment) = lost {
                (segment.state, segment.order) = (State::Flying, order);
                self.note_transmission(now, seq);
            }
        }
    }

    /// Recovery begins: what it would have to be taken back to.
    pub(super) fn remember(&mut self) {
        self.undo = Some(Undo { cwnd: self.cwnd, ssthresh: self.ssthresh, since: None, resent: 0 });
    }

    /// Recovery is over, and was not for nothing.
    pub(super) fn settle(&mut self) {
        self.undo = None;
        let it = &mut self.reordering;
        it.persist = it.persist.saturating_sub(1);
        if it.persist == 0 {
            it.steps = 1;
        }
    }
}
