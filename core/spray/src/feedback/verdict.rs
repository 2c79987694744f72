//! The decision, from recent losses and queues, whether a path keeps its share, gets less, or is left.

use std::time::Duration;

use braid_types::Time;

use super::NOISE;
use super::path::PathState;
use super::recent::Carried;

/// Probes that are compared, one after the other: over two intervals, and up to so many.
const SHORTEST: usize = 2;
const WINDOWS: usize = 11;
/// So many lost segments, and so small a part of what another path delivers, which is most, are more than chance or a queue that TCP has
/// overfilled.
const MANY: u32 = 4;
pub(super) const HALF: f64 = 0.5;
const WELL: f64 = 0.7;
/// So many are, if the other path has room besides.
const MOST: u32 = 8;
const PART: f64 = 0.9;
const CLEAN: f64 = 0.98;
/// Of less than this nobody's own sending is the cause: slow start doubles, so that half of what it overfills a queue with comes.
const LITTLE_COMES: f64 = 0.35;
/// A path with a greater share is given less, but not left.
const MOST_LEFT: f64 = 0.8;
const MOST_LEFT_FOR_ROOM: f64 = 0.67;
/// A queue that is so much longer than the other path's, in seconds, and loses some, is full.
const FULL: f64 = 0.02;
const SOME: u32 = 2;
/// A queue that is there for so long, after so long with next to nothing sent, is not the flow's.
pub(super) const IDLE: Duration = Duration::from_millis(200);
/// So many segments say how a path is.
const FEW: u32 = 4;

/// What is to be done about a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// It is left: of what is sent by it, so much comes.
    Leave { kept: f64 },
    /// It is left, since others fill it.
    Taken,
    /// It is given less.
    Less,
}

impl Verdict {
    pub(super) fn is_urgent(self) -> bool {
        matches!(self, Self::Leave { kept } if kept < LITTLE_COMES)
    }
}

/// Whether what `path` has lost beside the `others` that carry, and was sent after `since`, is a reason to give it less than its `share`.
pub(super) fn of(path: &PathState, share: f64, others: &[&PathState], since: Time) -> Option<Verdict> {
    let other = others.iter().min_by(|one, other| one.measure().total_cmp(&other.measure()))?;
    let to = path.recent.confirmed()?.min(other.recent.confirmed()?);
    let earlier = path.recent.times().filter(|it| *it < to).skip(SHORTEST - 1);
    let mut windows = earlier.take_while(|it| *it >= since).take(WINDOWS);
    let losses = windows.find_map(|from| {
        let beside = Beside {
            path,
            other,
            mine: path.recent.between(from, to)?,
            theirs: other.recent.within(from, to)?,
        };
        beside.verdict(share)
    });
    if losses.is_none_or(|it| !it.is_urgent()) && is_taken(path, other, to) {
        return Some(Verdict::Taken);
    }
    losses
}

/// Whether others fill a path: its queue stays long, though next to nothing is sent into it.
fn is_taken(path: &PathState, other: &PathState, to: Time) -> bool {
    let sent = path.recent.within(to - IDLE, to).map(|it| it.sent);
    path.queue > FULL + other.queue * 2.0 && path.slope > -HALF && sent.is_some_and(|sent| sent <= FEW)
}

/// What a path and the best of the others carried in the same time.
struct Beside<'a> {
    path: &'a PathState,
    other: &'a PathState,
    mine: Carried,
    theirs: Carried,
}

impl Beside<'_> {
    fn verdict(&self, share: f64) -> Option<Verdict> {
        if self.mine.lost() < SOME || self.theirs.sent < FEW && self.other.queue >= NOISE {
            return None;
        }
        let kept = self.mine.kept();
        // A sender that waits for time-outs hardly sends: the queue shows then that it is not by chance.
        let many = if self.is_full() { SOME } else { MANY };
        let delivers = self.theirs.kept();
        let heavily = self.mine.lost() >= many && kept < HALF * delivers && delivers >= WELL;
        let clearly =
            self.mine.lost() >= MOST && kept < PART && self.theirs.kept() >= CLEAN && self.has_room();
        // What carries most of all is not left for the sake of what may carry next to nothing.
        if heavily && share <= MOST_LEFT || clearly && share <= MOST_LEFT_FOR_ROOM {
            return Some(Verdict::Leave { kept });
        }
        (self.is_full() && self.theirs.kept() >= CLEAN && kept < CLEAN).then_some(Verdict::Less)
    }

    fn has_room(&self) -> bool {
        self.other.queue < NOISE.max(self.path.queue * 0.75)
    }

    fn is_full(&self) -> bool {
        self.path.queue > FULL + self.other.queue * 2.0
    }
}
