//! The decision, from recent losses and queues, whether a path keeps its share, gets less, or is suspended.

use std::time::Duration;

use braid_types::Time;

use super::QUEUE_NOISE;
use super::history::Carried;
use super::path::PathState;

/// The probes that are compared, one after the other: from two intervals up to this many.
const MIN_WINDOW: usize = 2;
const MAX_WINDOWS: usize = 11;
/// More lost segments than chance or a queue overfilled by TCP explains, if the path delivers less than `HALF` and
/// another more than `DELIVERS_WELL`.
const MANY_LOST: u32 = 4;
pub(super) const HALF: f64 = 0.5;
const DELIVERS_WELL: f64 = 0.7;
/// The same, if the other path has room besides.
const MANY_LOST_WITH_ROOM: u32 = 8;
const LOSSY: f64 = 0.9;
const LOSSLESS: f64 = 0.98;
/// A lower delivery than this is not caused by the sender alone: slow start doubles, so half of its excess is delivered.
const URGENT_BELOW: f64 = 0.35;
/// A path with a greater share is reduced, but not suspended.
const MAX_SHARE: f64 = 0.8;
const MAX_SHARE_WITH_ROOM: f64 = 0.67;
/// A queue that is longer than the other path's by this, in seconds, and loses packets, is full.
pub(super) const FULL_QUEUE: f64 = 0.02;
const FEW_LOST: u32 = 2;
/// A queue that lasts this long, after this time with almost no traffic, is not the flow's.
pub(super) const CROSS_TRAFFIC_TIME: Duration = Duration::from_millis(200);
/// The least number of segments that says how a path does.
const MIN_SENT: u32 = 4;

/// The decision about a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Verdict {
    /// It is suspended: only the part `kept` of its packets arrives.
    Suspend { kept: f64 },
    /// It is suspended, since cross traffic fills it.
    CrossTraffic,
    /// Its share is reduced.
    Reduce,
}

impl Verdict {
    /// The verdict with the losses of a round trip. In less, a burst that overfills a queue looks as if hardly anything arrived.
    fn over(self, round: Option<Carried>) -> Self {
        match self {
            Self::Suspend { kept } => Self::Suspend { kept: round.map_or(kept, Carried::kept) },
            other => other,
        }
    }

    pub(super) fn is_urgent(self) -> bool {
        matches!(self, Self::Suspend { kept } if kept < URGENT_BELOW)
    }
}

/// The verdict on the losses of `path` since `since`, compared with the active `others`; `None` if it keeps its `share`.
pub(super) fn of(path: &PathState, share: f64, others: &[&PathState], since: Time) -> Option<Verdict> {
    let other = others.iter().min_by(|one, other| one.measure().total_cmp(&other.measure()))?;
    let to = path.history.confirmed()?.min(other.history.confirmed()?);
    let earlier = path.history.times().filter(|it| *it < to).skip(MIN_WINDOW - 1);
    let mut windows = earlier.take_while(|it| *it >= since).take(MAX_WINDOWS);
    let losses = windows.find_map(|from| {
        let beside = Beside {
            path,
            other,
            mine: path.history.between(from, to)?,
            theirs: other.history.within(from, to)?,
        };
        let from = from.min(since.max(to - path.round_trip()));
        Some(beside.verdict(share)?.over(path.history.within(from, to)))
    });
    if losses.is_none_or(|it| !it.is_urgent()) && is_filled_by_others(path, other, to) {
        return Some(Verdict::CrossTraffic);
    }
    losses
}

/// Whether cross traffic fills a path: its queue stays long with almost no traffic of ours.
fn is_filled_by_others(path: &PathState, other: &PathState, to: Time) -> bool {
    let sent = path.history.within(to - CROSS_TRAFFIC_TIME, to).map(|it| it.sent);
    path.queue > FULL_QUEUE + other.queue * 2.0
        && path.slope > -HALF
        && sent.is_some_and(|sent| sent <= MIN_SENT)
}

/// The segments that a path and the best of the others carried in the same time.
struct Beside<'a> {
    path: &'a PathState,
    other: &'a PathState,
    mine: Carried,
    theirs: Carried,
}

impl Beside<'_> {
    fn verdict(&self, share: f64) -> Option<Verdict> {
        if self.mine.lost() < FEW_LOST || self.theirs.sent < MIN_SENT && self.other.queue >= QUEUE_NOISE {
            return None;
        }
        let kept = self.mine.kept();
        // A sender that waits for time-outs hardly sends. The queue then shows that the loss is no accident.
        let many = if self.is_full() { FEW_LOST } else { MANY_LOST };
        let delivers = self.theirs.kept();
        let heavily = self.mine.lost() >= many && kept < HALF * delivers && delivers >= DELIVERS_WELL;
        let clearly = self.mine.lost() >= MANY_LOST_WITH_ROOM
            && kept < LOSSY
            && self.theirs.kept() >= LOSSLESS
            && self.has_room();
        // The path with the most traffic is not suspended in favour of one that may have almost no capacity.
        if heavily && share <= MAX_SHARE || clearly && share <= MAX_SHARE_WITH_ROOM {
            return Some(Verdict::Suspend { kept });
        }
        (self.is_full() && self.theirs.kept() >= LOSSLESS && kept < LOSSLESS).then_some(Verdict::Reduce)
    }

    fn has_room(&self) -> bool {
        self.other.queue < QUEUE_NOISE.max(self.path.queue * 0.75)
    }

    fn is_full(&self) -> bool {
        self.path.queue > FULL_QUEUE + self.other.queue * 2.0
    }
}
