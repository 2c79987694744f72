//! The receiving end of a subflow: delayed and selective acknowledgements. RFC 5681, RFC 2018.

use crate::engine::{Arrivals, Picos, Stamp};

/// An acknowledgement waits so long for a second segment: Linux's least.
const DELAY: Picos = Picos::from_millis(40);
/// So many segments at the start are acknowledged each by itself, so that slow start is not slowed: Linux's quick
/// acknowledgements.
const QUICK: u8 = 16;

/// The receiving end of a subflow: what has come, and what to say about it. RFC 5681 §4.2, RFC 2018.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    arrivals: Arrivals,
    unanswered: u8,
    quick: u8,
    stamp: Stamp,
    /// When the acknowledgement must leave that waits.
    pub(crate) deadline: Option<Picos>,
}

/// What an acknowledgement says of the subflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub(crate) next: u32,
    pub(crate) cause: u32,
    pub(crate) below: u8,
    pub(crate) above: u8,
    pub(crate) stamp: Stamp,
}

impl Receiver {
    /// A segment came; the answer, unless it waits.
    pub(crate) fn receive(&mut self, now: Picos, seq: u32, stamp: Stamp) -> Option<Answer> {
        let before = self.arrivals.next();
        let in_order = seq == before && !self.arrivals.has_gap();
        let is_new = self.arrivals.insert(seq);
        if self.arrivals.next() > before && self.unanswered == 0 {
            self.stamp = stamp;
        }
        self.unanswered += 1;
        let quick = self.quick < QUICK;
        self.quick = self.quick.saturating_add(1);
        if in_order && !quick && self.unanswered < 2 {
            self.deadline = Some(now + DELAY);
            return None;
        }
        Some(self.answer(seq, !is_new))
    }

    /// The answer that waited, if it is due.
    pub(crate) fn timeout(&mut self, now: Picos) -> Option<Answer> {
        self.deadline.filter(|deadline| *deadline <= now)?;
        Some(self.answer(self.arrivals.next().saturating_sub(1), false))
    }

    /// A neighbour below reports a segment that arrived twice and in order (a duplicate SACK, RFC 2883).
    fn answer(&mut self, cause: u32, is_duplicate: bool) -> Answer {
        self.unanswered = 0;
        self.deadline = None;
        let next = self.arrivals.next();
        let (below, above) =
            if cause < next { (is_duplicate.into(), 0) } else { self.arrivals.run_around(cause, u8::MAX) };
        Answer { next, cause, below, above, stamp: self.stamp }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_quick_ones() -> Receiver {
        let mut receiver = Receiver::default();
        for seq in 0..u32::from(QUICK) {
            assert_eq!(receive(&mut receiver, seq).map(|answer| answer.next), Some(seq + 1));
        }
        receiver
    }

    fn receive(receiver: &mut Receiver, seq: u32) -> Option<Answer> {
        receiver.receive(Picos::ZERO, seq, Stamp::default())
    }

    #[test]
    fn every_second_segment_is_acknowledged_or_the_first_in_time() {
        let mut receiver = after_quick_ones();
        assert_eq!(receive(&mut receiver, 16), None);
        assert_eq!(receive(&mut receiver, 17).map(|answer| answer.next), Some(18));
        assert_eq!(receive(&mut receiver, 18), None);
        assert_eq!(receiver.timeout(Picos::from_millis(39)), None);
        assert_eq!(receiver.timeout(Picos::from_millis(40)).map(|answer| answer.next), Some(19));
        assert_eq!(receiver.timeout(Picos::from_millis(90)), None);
    }

    #[test]
    fn what_comes_after_a_gap_is_told_at_once_with_its_neighbours() {
        let mut receiver = after_quick_ones();
        let mut told = |seq| receive(&mut receiver, seq).map(|it| (it.next, it.cause, it.below, it.above));
        assert_eq!(told(18), Some((16, 18, 0, 0)));
        assert_eq!(told(20), Some((16, 20, 0, 0)));
        assert_eq!(told(19), Some((16, 19, 1, 1)));
        assert_eq!(told(16), Some((17, 16, 0, 0)));
        assert_eq!(told(17), Some((21, 17, 0, 0)));
        assert_eq!(told(21), None);
    }

    #[test]
    fn segment_that_came_before_is_answered_at_once() {
        let mut receiver = after_quick_ones();
        assert_eq!(receive(&mut receiver, 3).map(|answer| answer.next), Some(16));
    }
}
