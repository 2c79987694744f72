//! The probes that arrived beside data: they show that a missing segment is lost although its path has delivered nothing later.
//!
//! A path keeps its order, and probes of all paths are sent in the order of their numbers. So a segment that is missing before
//! a held packet was sent before the next probe that arrived by that packet's path. Once every path has delivered a probe as
//! late as that one, the segment is on none of them.

use std::time::Duration;

use braid_types::Time;

use super::flow::MAX_PATHS;
use super::release::Cause;
use super::{PathId, Resequencer};
use crate::segment_counts::SegmentCounts;

/// The probes by path whose numbers are known.
const RECENT: usize = 32;
/// How many came after the oldest of them.
const OLDEST: u64 = 31;
/// A path by which no probe has arrived for this long is not waited for.
const FRESH: Duration = Duration::from_secs(1);
/// A path on which a segment arrived after a later probe proves nothing for this long.
const DISORDER: Duration = Duration::from_secs(20);
/// Counts of probes that differ by this much are from before and after all were discarded.
const ANEW: u64 = 1 << 32;

/// The probes of one spraying group.
#[derive(Clone, Debug, Default)]
pub(super) struct Probes {
    /// The count of a path by which none has arrived.
    base: u64,
    paths: [Option<Arrived>; MAX_PATHS],
}

/// The probes that arrived by a path.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// How many there were.
    count: u64,
    /// The numbers of the last ones, by their places in the count.
    numbers: [u32; RECENT],
    at: Time,
    counts: SegmentCounts,
    disordered: Option<Time>,
}

impl Probes {
    /// A probe arrived by `path`, before which so many segments were sent and received.
    pub(super) fn note(&mut self, now: Time, path: PathId, number: u32, counts: SegmentCounts) {
        let Some(known) = self.paths.get_mut(usize::from(path.0)) else { return };
        let Some(arrived) = known else {
            let (count, numbers) = (self.base.saturating_add(1), [number; RECENT]);
            *known = Some(Arrived { count, numbers, at: now, counts, disordered: None });
            return;
        };
        if counts.begins_anew_after(arrived.counts) {
            self.forget();
            return self.note(now, path, number, counts);
        }
        if number.wrapping_sub(arrived.last()).cast_signed() > 0 {
            arrived.note(now, number, counts);
        }
    }

    /// Discards all probes.
    pub(super) fn forget(&mut self) {
        *self = Self { base: self.base.saturating_add(ANEW), ..Self::default() };
    }

    /// How many probes have arrived by a path.
    pub(super) fn count(&self, path: PathId) -> u64 {
        self.arrived(path).map_or(self.base, |arrived| arrived.count)
    }

    /// The number of the first known probe that arrived by a path after `count` of them; `None` if none has.
    pub(super) fn number_after(&self, path: PathId, count: u64) -> Option<u32> {
        self.arrived(path)?.number_after(count)
    }

    /// Whether all paths by which probes arrive, and at least `paths`, have delivered all that was sent before this one.
    pub(super) fn all_have_delivered(&self, now: Time, number: u32, paths: u8) -> bool {
        let mut fresh = self.paths.iter().flatten().filter(|arrived| now.since(arrived.at) < FRESH);
        let count = fresh.clone().count();
        paths > 0 && count >= usize::from(paths) && fresh.all(|arrived| arrived.has_delivered(now, number))
    }

    /// Whether a path has delivered all that was sent before the probe with this number.
    pub(super) fn has_delivered(&self, now: Time, path: PathId, number: u32) -> bool {
        self.arrived(path).is_some_and(|arrived| arrived.has_delivered(now, number))
    }

    fn arrived(&self, path: PathId) -> Option<&Arrived> {
        self.paths.get(usize::from(path.0))?.as_ref()
    }
}

impl<P> Resequencer<P> {
    /// Releases packets of the flow whose packet is held longest, if probes show that all that was sent before them has arrived or
    /// is lost.
    pub(super) fn release_overtaken(&mut self, now: Time) -> Option<()> {
        let id = self.store.oldest()?.flow;
        let first = self.table.get_mut(id)?.first_ordered();
        let slot = first.map_or(self.store.oldest_slot()?, |first| first.slot);
        let entry = self.store.entry(slot)?;
        let (seq, next) = (entry.seq, self.probes.number_after(entry.path, entry.probes)?);
        let flow = self
            .table
            .get_mut(id)
            .filter(|_| self.probes.all_have_delivered(now, next, self.settings.paths))?;
        let overtaken = |path| self.probes.has_delivered(now, path, next);
        // The packet that fills a gap may be here, waiting in send order.
        if let Some(first) = first {
            let ordered = flow.is_next_or(&first, overtaken).then(|| flow.take_first_ordered())??;
            self.come(now, id, &ordered);
        } else if flow.all_passed_or(now, seq, overtaken) {
            self.give_up(now, id, Cause::Overtaken, |first| first.seq.ahead_of(seq) <= 0);
        } else {
            return None;
        }
        Some(())
    }
}

impl Arrived {
    fn note(&mut self, now: Time, number: u32, counts: SegmentCounts) {
        if counts.missing_since(self.counts) < 0 {
            self.disordered = Some(now);
        }
        self.count = self.count.saturating_add(1);
        (self.at, self.counts) = (now, counts);
        let place = place(self.count);
        self.numbers.get_mut(place).into_iter().for_each(|it| *it = number);
    }

    /// The number of the newest probe.
    fn last(&self) -> u32 {
        self.number(self.count)
    }

    fn number(&self, count: u64) -> u32 {
        self.numbers.get(place(count)).copied().unwrap_or_default()
    }

    fn number_after(&self, count: u64) -> Option<u32> {
        let since = self.count.checked_sub(count)?;
        let back = since.checked_sub(1).filter(|_| since < ANEW / 2)?.min(OLDEST);
        Some(self.number(self.count.saturating_sub(back)))
    }

    /// Whether everything sent before the probe with this number has arrived.
    fn has_delivered(&self, now: Time, number: u32) -> bool {
        let in_order = self.disordered.is_none_or(|at| now.since(at) >= DISORDER);
        in_order && self.last().wrapping_sub(number).cast_signed() >= 0
    }
}

/// The place of the probe with this count.
const fn place(count: u64) -> usize {
    count as usize % RECENT
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PathId = PathId(0);
    const B: PathId = PathId(1);

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    fn counts(sent: u32, received: u32) -> SegmentCounts {
        SegmentCounts { sent, received }
    }

    /// Notes probes with these numbers at these times, in milliseconds.
    fn probes(arrivals: &[(PathId, u64, u32)]) -> Probes {
        let mut probes = Probes::default();
        arrivals
            .iter()
            .for_each(|(path, millis, number)| probes.note(at(*millis), *path, *number, counts(0, 0)));
        probes
    }

    /// Whether all of `paths` paths have delivered what was sent before a packet that arrived by A after `count` probes.
    fn prove(probes: &Probes, millis: u64, count: u64, paths: u8) -> bool {
        let next = probes.number_after(A, count);
        next.is_some_and(|next| probes.all_have_delivered(at(millis), next, paths))
    }

    #[test]
    fn a_segment_is_lost_once_all_paths_have_delivered_probes_sent_after_it() {
        let mut probes = probes(&[(A, 0, 0), (B, 30, 1)]);
        let proves = |probes: &Probes, count| prove(probes, 100, count, 2);
        assert!(!proves(&probes, 1), "no probe has arrived after it by its own path");
        probes.note(at(20), A, 2, counts(0, 0));
        assert!(!proves(&probes, 1), "the other path may still deliver what was sent before probe 2");
        probes.note(at(50), B, 3, counts(0, 0));
        assert!(proves(&probes, 1) && !proves(&probes, 2));
    }

    #[test]
    fn lost_probes_make_it_later_and_nothing_earlier() {
        // The packet may have been sent after probe 2, which is lost, and before probe 4.
        let mut probes = probes(&[(A, 0, 0), (B, 30, 1), (B, 50, 3), (A, 40, 4)]);
        assert!(!prove(&probes, 100, 1, 2));
        probes.note(at(70), B, 5, counts(0, 0));
        assert!(prove(&probes, 100, 1, 2));
    }

    #[test]
    fn too_few_paths_prove_nothing_and_old_ones_are_not_waited_for() {
        let probes = probes(&[(A, 0, 0), (B, 0, 1), (A, 2_000, 200), (A, 2_020, 202)]);
        assert!(!prove(&probes, 2_100, 2, 2), "the other path may be dead");
        assert!(prove(&probes, 2_100, 2, 1));
        assert!(!prove(&probes, 2_100, 2, 0), "paths do not keep their order");
        assert_eq!(
            (probes.number_after(PathId(200), 0), probes.has_delivered(at(0), PathId(200), 0)),
            (None, false)
        );
    }

    #[test]
    fn a_path_that_probes_pass_faster_than_data_proves_nothing() {
        let mut probes = Probes::default();
        probes.note(at(0), A, 0, counts(0, 0));
        probes.note(at(20), A, 1, counts(10, 4));
        probes.note(at(40), A, 2, counts(10, 9));
        assert!(!prove(&probes, 50, 2, 1));
        probes.note(at(20_060), A, 1_003, counts(10, 9));
        assert!(prove(&probes, 20_060, 2, 1));
    }

    #[test]
    fn numbers_and_counts_may_wrap_or_begin_anew() {
        let mut probes = Probes::default();
        for step in 0..200_u32 {
            let number = (u32::MAX - 100).wrapping_add(step);
            probes.note(at(u64::from(step) * 20), A, number, counts(u32::MAX.wrapping_add(step), step));
        }
        assert_eq!(probes.count(A), 200);
        assert!(prove(&probes, 4_000, 1, 1) && !prove(&probes, 4_000, 200, 1));
        probes.note(at(4_000), A, 90, counts(198, 199));
        assert_eq!(probes.count(A), 200, "an older one, or the same again");
        probes.forget();
        probes.note(at(4_000), A, 7, counts(198, 199));
        assert!(!prove(&probes, 4_000, 200, 1), "it was stamped before");
        assert!(prove(&probes, 4_000, ANEW, 1));
        probes.note(at(4_020), A, 8, counts(0, 0));
        assert!(!prove(&probes, 4_020, ANEW, 1) && prove(&probes, 4_020, 2 * ANEW, 1), "counted anew");
    }
}
