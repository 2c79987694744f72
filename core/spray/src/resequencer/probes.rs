//! The probes that arrived beside data: they show that a missing segment is lost although its path has delivered nothing later.
//!
//! A path keeps its order, and probes of all paths are sent in the order of their numbers. So a segment that is missing before
//! a held packet was sent before the next probe that arrived by that packet's path. Once every path has delivered a probe as
//! late as that one, the segment is on none of them.

use std::time::Duration;

use braid_types::Time;

use super::PathId;
use super::flow::MAX_PATHS;
use crate::segment_counts::SegmentCounts;

/// The probes by path whose numbers are known.
const RECENT: usize = 32;
/// How many came after the oldest of them.
const OLDEST: u32 = 31;
/// A path by which no probe has arrived for this long is not waited for.
const FRESH: Duration = Duration::from_secs(1);
/// A path on which a segment arrived after a later probe proves nothing for this long.
const DISORDER: Duration = Duration::from_secs(20);
/// Counts of probes that differ by this much are from before and after all were discarded.
const ANEW: u32 = 1 << 16;
/// Numbers further back than this are those of an edge that has restarted.
const FURTHEST_BACK: i32 = 1_024;

/// The probes of one spraying group.
#[derive(Clone, Debug, Default)]
pub(super) struct Probes {
    /// The count of a path by which none has arrived.
    base: u32,
    paths: [Option<Arrived>; MAX_PATHS],
}

/// The probes that arrived by a path.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// How many there were; wraps.
    count: u32,
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
            let count = self.base.wrapping_add(1);
            let numbers = [number; RECENT];
            *known = Some(Arrived { count, numbers, at: now, counts, disordered: None });
            return;
        };
        let ahead = number.wrapping_sub(arrived.last()).cast_signed();
        if ahead < -FURTHEST_BACK || counts.begins_anew_after(arrived.counts) {
            self.forget();
            return self.note(now, path, number, counts);
        }
        if ahead > 0 {
            arrived.note(now, number, counts);
        }
    }

    /// Discards all probes.
    pub(super) fn forget(&mut self) {
        *self = Self { base: self.base.wrapping_add(ANEW), ..Self::default() };
    }

    /// How many probes have arrived by a path.
    pub(super) fn count(&self, path: PathId) -> u32 {
        self.arrived(path).map_or(self.base, |arrived| arrived.count)
    }

    /// Whether nothing that was sent before a packet can still arrive by any of at least `paths` paths. The packet arrived by
    /// `path`, after `count` probes.
    pub(super) fn prove_lost_before(&self, now: Time, path: PathId, count: u32, paths: u8) -> bool {
        let Some(next) = self.arrived(path).and_then(|arrived| arrived.number_after(count)) else {
            return false;
        };
        let mut fresh =
            self.paths.iter().flatten().filter(|arrived| now.since(arrived.at) < FRESH).peekable();
        let known = fresh.clone().count() >= usize::from(paths);
        paths > 0 && known && fresh.all(|arrived| arrived.has_delivered(now, next))
    }

    fn arrived(&self, path: PathId) -> Option<&Arrived> {
        self.paths.get(usize::from(path.0))?.as_ref()
    }
}

impl Arrived {
    fn note(&mut self, now: Time, number: u32, counts: SegmentCounts) {
        if counts.missing_since(self.counts) < 0 {
            self.disordered = Some(now);
        }
        self.count = self.count.wrapping_add(1);
        (self.at, self.counts) = (now, counts);
        let place = self.count as usize % RECENT;
        self.numbers.get_mut(place).into_iter().for_each(|it| *it = number);
    }

    /// The number of the newest probe.
    fn last(&self) -> u32 {
        self.number(self.count)
    }

    fn number(&self, count: u32) -> u32 {
        self.numbers.get(count as usize % RECENT).copied().unwrap_or_default()
    }

    /// The number of the first probe after so many, or of the oldest one known; `None` if none has arrived since.
    fn number_after(&self, count: u32) -> Option<u32> {
        let since = self.count.wrapping_sub(count);
        let back = since.checked_sub(1).filter(|_| since < ANEW / 2)?.min(OLDEST);
        Some(self.number(self.count.wrapping_sub(back)))
    }

    /// Whether everything sent before the probe with this number has arrived.
    fn has_delivered(&self, now: Time, number: u32) -> bool {
        let in_order = self.disordered.is_none_or(|at| now.since(at) >= DISORDER);
        in_order && self.last().wrapping_sub(number).cast_signed() >= 0
    }
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

    #[test]
    fn a_segment_is_lost_once_all_paths_have_delivered_probes_sent_after_it() {
        let mut probes = probes(&[(A, 0, 0), (B, 30, 1)]);
        let proves = |probes: &Probes, count| probes.prove_lost_before(at(100), A, count, 2);
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
        assert!(!probes.prove_lost_before(at(100), A, 1, 2));
        probes.note(at(70), B, 5, counts(0, 0));
        assert!(probes.prove_lost_before(at(100), A, 1, 2));
    }

    #[test]
    fn too_few_paths_prove_nothing_and_old_ones_are_not_waited_for() {
        let probes = probes(&[(A, 0, 0), (B, 0, 1), (A, 2_000, 200), (A, 2_020, 202)]);
        assert!(!probes.prove_lost_before(at(2_100), A, 2, 2), "the other path may be dead");
        assert!(probes.prove_lost_before(at(2_100), A, 2, 1));
        assert!(!probes.prove_lost_before(at(2_100), A, 2, 0), "paths do not keep their order");
        assert!(!probes.prove_lost_before(at(2_100), PathId(200), 0, 1));
    }

    #[test]
    fn a_path_that_probes_pass_faster_than_data_proves_nothing() {
        let mut probes = Probes::default();
        probes.note(at(0), A, 0, counts(0, 0));
        probes.note(at(20), A, 1, counts(10, 4));
        probes.note(at(40), A, 2, counts(10, 9));
        assert!(!probes.prove_lost_before(at(50), A, 2, 1));
        probes.note(at(20_060), A, 1_003, counts(10, 9));
        assert!(probes.prove_lost_before(at(20_060), A, 2, 1));
    }

    #[test]
    fn numbers_and_counts_may_wrap_or_begin_anew() {
        let mut probes = Probes::default();
        for step in 0..200_u32 {
            let number = (u32::MAX - 100).wrapping_add(step);
            probes.note(at(u64::from(step) * 20), A, number, counts(u32::MAX.wrapping_add(step), step));
        }
        assert_eq!(probes.count(A), 200);
        assert!(
            probes.prove_lost_before(at(4_000), A, 1, 1) && !probes.prove_lost_before(at(4_000), A, 200, 1)
        );
        probes.note(at(4_000), A, 90, counts(198, 199));
        assert_eq!(probes.count(A), 200, "an older one, or the same again");
        probes.note(at(4_000), A, u32::MAX - 5_000, counts(198, 199));
        assert_eq!(probes.count(A), ANEW + 1, "the edge has restarted");
        assert!(!probes.prove_lost_before(at(4_000), A, 200, 1));
        assert!(probes.prove_lost_before(at(4_000), A, ANEW, 1));
    }
}
