//! Packet counts at the last probes, for comparing the same interval on several paths.

use std::collections::VecDeque;

use braid_types::Time;

use crate::segment_counts::SegmentCounts;

/// Probes whose counts are kept.
const MAX_MARKS: usize = 16;
/// The number of probes, before and after one, that confirm how much was missing at it.
const AROUND: usize = 3;
/// The number of answers after a change until the known state of a path is all newer than the change.
const FRESH_ANSWERS: usize = 3;

/// The segments sent and received before each of the last probes, by the times at which those were sent.
///
/// The probes of all paths are sent at once, so that the traffic of different paths between two probes can be compared.
/// Probes may overtake segments, or be overtaken, while a machine on the path is busy: segments that are missing for a
/// moment are not lost.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeHistory {
    marks: VecDeque<(Time, SegmentCounts)>,
    /// The send times of the last answered probes, the last first.
    answered: [Time; FRESH_ANSWERS],
}

/// The segments sent by a path during an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Carried {
    pub(super) sent: u32,
    pub(super) received: u32,
}

impl ProbeHistory {
    /// Notes the answer to a probe sent at `sent`.
    pub(super) fn note(&mut self, sent: Time, counts: SegmentCounts) {
        if self.marks.back().is_some_and(|(_, last)| counts.begins_anew_after(*last)) {
            self.marks.clear();
        }
        self.answered.rotate_right(1);
        self.answered[0] = sent;
        let mut last = self.marks.iter().rev().take(2).map(|(_, counts)| *counts);
        if last.next() == Some(counts) && last.next() == Some(counts) {
            // No segment was sent by the path since: the earlier marks stay.
            self.marks.pop_back();
        } else if self.marks.len() >= MAX_MARKS {
            self.marks.pop_front();
        }
        self.marks.push_back((sent, counts));
    }

    /// Whether enough probes sent after `since` were answered.
    pub(super) fn is_fresh(&self, since: Time) -> bool {
        self.answered.iter().all(|sent| *sent > since)
    }

    /// The send time of the last probe whose missing segments another probe confirms.
    pub(super) fn confirmed(&self) -> Option<Time> {
        // A path without traffic has fewer marks than probes.
        (self.marks.len() > 1).then_some(self.answered[1])
    }

    /// The send times of answered probes, the last first.
    pub(super) fn times(&self) -> impl Iterator<Item = Time> {
        self.marks.iter().rev().map(|(sent, _)| *sent)
    }

    /// The segments sent between the first probe that is kept and the last confirmed one.
    pub(super) fn lately(&self) -> Option<Carried> {
        self.between(self.marks.front()?.0, self.confirmed()?)
    }

    /// As [`Self::between`], or as far back as counts are kept.
    pub(super) fn within(&self, from: Time, to: Time) -> Option<Carried> {
        let oldest = self.marks.front()?.0;
        if to < oldest { None } else { self.between(from.max(oldest), to) }
    }

    /// The segments sent between two probes; between those around them, if one of these was not answered.
    pub(super) fn between(&self, from: Time, to: Time) -> Option<Carried> {
        let first = self.marks.iter().rposition(|(sent, _)| *sent <= from)?;
        let last = self.marks.iter().position(|(sent, _)| *sent >= to)?;
        let (base, end) = (self.marks.get(first)?.1, self.marks.get(last)?.1);
        let sent = end.sent.wrapping_sub(base.sent);
        let missing = |(_, counts): &(Time, SegmentCounts)| counts.missing_since(base);
        let before = self.marks.range(first.saturating_sub(AROUND)..=first).map(missing).max()?;
        let after = self.marks.range(last..).take(AROUND + 1).map(missing).min()?;
        let lost = u32::try_from(after.saturating_sub(before)).unwrap_or(0);
        Some(Carried { sent, received: sent.saturating_sub(lost) })
    }
}

impl Carried {
    pub(super) const fn lost(self) -> u32 {
        self.sent.saturating_sub(self.received)
    }

    /// The part that was received; 1 if nothing was sent.
    pub(super) fn kept(self) -> f64 {
        if self.sent == 0 { 1.0 } else { f64::from(self.received) / f64::from(self.sent) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_between_probes_is_known_though_some_are_lost_and_counts_wrap() {
        let mut history = ProbeHistory::default();
        let at = |step: u32| Time::from_millis(u64::from(step) * 20);
        for step in (0..20_u32).filter(|step| *step != 15) {
            let sent = (step * 10).wrapping_sub(150);
            history.note(at(step), SegmentCounts { sent, received: (step * 9).wrapping_sub(150) });
        }
        assert_eq!(history.confirmed(), Some(at(18)));
        let carried = |from, to| history.between(at(from), at(to));
        assert_eq!(carried(10, 14), Some(Carried { sent: 40, received: 36 }));
        assert_eq!(carried(15, 17), Some(Carried { sent: 30, received: 27 }), "from the one before");
        assert_eq!((carried(2, 14), carried(14, 20)), (None, None), "no longer or not yet known");
        assert_eq!(carried(10, 14).map(|it| (it.lost(), it.kept())), Some((4, 0.9)));
        history.note(at(20), SegmentCounts { sent: 7, received: 0 });
        assert_eq!(history.between(at(19), at(20)), None, "counted anew");
    }

    #[test]
    fn what_comes_before_or_after_a_probe_that_was_sent_after_or_before_it_is_not_lost() {
        let mut history = ProbeHistory::default();
        let at = |step: usize| Time::from_millis(step as u64 * 20);
        for (step, received) in [0, 10, 33, 33, 40, 44, 60, 70, 80, 90, 95, 105].into_iter().enumerate() {
            history.note(at(step), SegmentCounts { sent: step as u32 * 10, received });
        }
        let lost = |from, to| history.between(at(from), at(to)).unwrap().lost();
        assert_eq!(
            (lost(2, 3), lost(2, 4), lost(1, 3)),
            (0, 0, 0),
            "13 were sent after the probe that they overtook"
        );
        assert_eq!((lost(4, 5), lost(3, 5)), (0, 0), "six received after a probe that was sent after them");
        assert_eq!((lost(9, 10), lost(9, 11), lost(0, 11)), (5, 5, 5), "these are lost");
    }
}
