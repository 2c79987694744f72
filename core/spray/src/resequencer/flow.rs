//! One flow of the resequencer: the expected sequence number, held segments, and progress by path.

use std::collections::VecDeque;
use std::time::Duration;

use braid_types::Time;

use super::retransmit_order::{Ordered, RetransmitOrder, SendTime};
use super::{Arrival, PathId};
use crate::segment::{Segment, SeqNo};

/// Paths from this number on are counted as one.
pub(super) const MAX_PATHS: usize = 8;
/// A path that was silent for this many packets of a flow, and for this long, is no longer counted as carrying it: the first packet of a
/// slow path may be on its way while a quick one delivers many.
const QUIET_PACKETS: u32 = 1_024;
const QUIET_TIME: Duration = Duration::from_millis(500);
/// A run of this many adjacent segments is trusted wherever it lies.
const CREDIBLE_RUN: u8 = 4;

/// The state of one direction of a connection.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// The next expected sequence number: everything before it has passed or been given up.
    next: SeqNo,
    // Invariant: sorted by `seq`; each begins ahead of `next`.
    held: VecDeque<Held>,
    held_bytes: u64,
    paths: [Option<PathState>; MAX_PATHS],
    packets: u32,
    /// When the first of them came.
    since: Option<Time>,
    /// By path, the send time of its last arrival; `None` for a path that is not waited for.
    sent: [Option<SendTime>; MAX_PATHS],
    order: Option<Box<RetransmitOrder>>,
    /// The start of the connection, if it was seen.
    began: Option<SeqNo>,
    /// The start of a new connection according to a SYN; trusted when a segment begins there.
    anew: Option<SeqNo>,
    stray: Option<Stray>,
    given_up: Option<Gap>,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) seq: SeqNo,
    pub(super) end: SeqNo,
    pub(super) slot: u32,
    pub(super) charge: u32,
}

impl Held {
    pub(super) const fn new(segment: &Segment, slot: u32, charge: u32) -> Self {
        Self { seq: segment.seq, end: segment.end(), slot, charge }
    }
}

#[derive(Clone, Copy, Debug)]
struct PathState {
    /// The furthest sequence number that the path delivered.
    furthest: SeqNo,
    /// The packet of the flow, by number, that delivered it.
    packet: u32,
    at: Time,
}

#[derive(Clone, Copy, Debug)]
struct Stray {
    end: SeqNo,
    count: u8,
}

/// The last gap that was given up: packets were released without it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    from: SeqNo,
    to: SeqNo,
    pub(super) opened: Time,
    /// Whether probes showed that nothing fills it.
    pub(super) is_overtaken: bool,
}

/// The position of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// All of it has passed or been given up.
    Old,
    /// It continues the flow.
    Next,
    /// Something before it is missing.
    Ahead,
    /// It is here already.
    Duplicate,
    /// Too far away to be trusted.
    Stray,
}

impl Flow {
    /// A flow first seen with `segment`.
    pub(super) fn met(segment: &Segment) -> Self {
        Self { began: segment.syn.then_some(segment.end()), ..Self::new(segment.end()) }
    }

    /// A flow that continues at `next`.
    pub(super) fn new(next: SeqNo) -> Self {
        Self {
            next,
            held: VecDeque::new(),
            held_bytes: 0,
            paths: [None; MAX_PATHS],
            packets: 0,
            since: None,
            sent: [None; MAX_PATHS],
            order: None,
            began: None,
            anew: None,
            stray: None,
            given_up: None,
        }
    }

    pub(super) fn holds_nothing(&self) -> bool {
        self.held.is_empty() && self.order.as_ref().is_none_or(|order| order.is_empty())
    }

    pub(super) const fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Whether something is missing before `segment`.
    pub(super) const fn is_before(&self, segment: &Segment) -> bool {
        segment.seq.ahead_of(self.next) > 0
    }

    pub(super) fn place(&self, segment: &Segment, horizon: u32) -> Place {
        let ahead = segment.seq.ahead_of(self.next);
        if ahead.unsigned_abs() > horizon {
            Place::Stray
        } else if segment.end().ahead_of(self.next) <= 0 {
            Place::Old
        } else if ahead <= 0 {
            Place::Next
        } else if self.covers(segment) {
            Place::Duplicate
        } else {
            Place::Ahead
        }
    }

    // Checks the last one that begins no later; only several others could cover it together.
    fn covers(&self, segment: &Segment) -> bool {
        let before = self.held.partition_point(|held| held.seq.ahead_of(segment.seq) <= 0);
        let last = before.checked_sub(1).and_then(|index| self.held.get(index));
        last.is_some_and(|held| held.end.ahead_of(segment.end()) >= 0)
    }

    /// Notes a SYN. Whether it begins a new connection is seen later.
    pub(super) fn note_syn(&mut self, segment: &Segment) {
        // A repeated SYN is no news.
        if self.began != Some(segment.end()) {
            self.anew = Some(segment.end());
        }
    }

    /// Whether `segment` begins a new connection.
    pub(super) fn is_anew(&self, segment: &Segment) -> bool {
        self.anew == Some(segment.seq)
    }

    /// Counts a segment of `path`; returns whether it is the latest there.
    pub(super) fn note_path(&mut self, at: Time, path: PathId, segment: &Segment) -> bool {
        self.packets = self.packets.wrapping_add(1);
        self.since.get_or_insert(at);
        let (end, packet) = (segment.end(), self.packets);
        let Some(state) = self.paths.get_mut(usize::from(path.0)) else { return false };
        let later = state.is_none_or(|state| segment.seq.ahead_of(state.furthest) >= 0);
        if later {
            *state = Some(PathState { furthest: end, packet, at });
        }
        later
    }

    /// Discards the progress of paths.
    pub(super) fn forget_paths(&mut self) {
        (self.paths, self.packets, self.sent) = ([None; MAX_PATHS], 0, [None; MAX_PATHS]);
        self.since = None;
        self.order.as_mut().into_iter().for_each(|order| order.forget_paths());
    }

    /// Counts an untrusted segment; returns whether it is trusted now.
    pub(super) fn note_stray(&mut self, segment: &Segment) -> bool {
        let goes_on = self.stray.filter(|stray| stray.end == segment.seq);
        let count = goes_on.map_or(1, |stray| stray.count.saturating_add(1));
        self.stray = Some(Stray { end: segment.end(), count });
        count >= CREDIBLE_RUN
    }

    /// Restarts after `segment`, with empty state.
    pub(super) fn restart(&mut self, segment: &Segment) {
        let (held, order) = (std::mem::take(&mut self.held), self.order.take());
        debug_assert!(held.is_empty(), "what is held has been taken out");
        let began = if self.is_anew(segment) { self.anew } else { None };
        *self = Self { held, order, sent: self.sent, began, ..Self::new(segment.end()) };
    }

    /// Notes an arrival; its send time, if segments sent before it may still arrive.
    pub(super) fn note_sent(&mut self, came: &Arrival, horizon: u32) -> Option<SendTime> {
        let is_believed = came.segment.seq.ahead_of(self.next).unsigned_abs() <= horizon;
        let send_time = SendTime::of(&came.segment).filter(|_| is_believed)?;
        let sent = self.sent.get_mut(usize::from(came.path.0))?;
        let send_time = send_time.not_before(*sent);
        *sent = Some(send_time);
        let lost = self.given_up.map(|gap| gap.opened);
        let order = self.order.as_ref().filter(|order| order.is_active(came.at, lost))?;
        let waits = !order.is_empty() || !self.is_next(send_time, came.path);
        waits.then_some(send_time)
    }

    /// Notes a retransmission.
    pub(super) fn note_repeated(&mut self, now: Time) {
        self.order.get_or_insert_default().note_repeated(now);
    }

    /// Whether all other paths have delivered something that was sent later.
    fn is_next(&self, send_time: SendTime, path: PathId) -> bool {
        self.is_next_among(send_time, path, |_| false)
    }

    /// The first packet waiting in send order.
    pub(super) fn first_ordered(&self) -> Option<Ordered> {
        self.order.as_ref()?.first().copied()
    }

    /// Whether each other path has delivered something that was sent later, or is `overtaken` by a later probe.
    pub(super) fn is_next_or(&self, ordered: &Ordered, overtaken: impl Fn(PathId) -> bool) -> bool {
        self.is_next_among(ordered.send_time, ordered.came.path, overtaken)
    }

    fn is_next_among(&self, send_time: SendTime, path: PathId, passed: impl Fn(PathId) -> bool) -> bool {
        let others = (0..).map(PathId).zip(&self.sent).filter(|(other, _)| *other != path);
        let mut sent = others.filter_map(|(other, sent)| Some((other, (*sent)?)));
        sent.all(|(other, sent)| !send_time.is_after(sent) || passed(other))
    }

    /// Stops waiting for paths that have delivered nothing as late, until they deliver something.
    pub(super) fn stop_waiting(&mut self, until: SendTime) {
        let behind = self.sent.iter_mut().filter(|sent| sent.is_some_and(|sent| until.is_after(sent)));
        behind.for_each(|sent| *sent = None);
    }

    /// Whether no further packet can wait in send order.
    pub(super) fn is_order_full(&self) -> bool {
        self.order.as_ref().is_some_and(|order| order.is_full())
    }

    pub(super) fn hold_in_order(&mut self, ordered: Ordered) {
        self.order.get_or_insert_default().wait(ordered);
    }

    /// Removes the first packet waiting in send order, if it is next.
    pub(super) fn take_ordered(&mut self) -> Option<Ordered> {
        let first = *self.order.as_ref()?.first()?;
        self.is_next(first.send_time, first.came.path).then(|| self.take_first_ordered())?
    }

    /// Removes the first packet waiting in send order.
    pub(super) fn take_first_ordered(&mut self) -> Option<Ordered> {
        self.order.as_mut()?.take_first()
    }

    pub(super) const fn advance(&mut self, end: SeqNo) {
        self.next = self.next.furthest(end);
    }

    /// Skips `packets` packets of the size of the last released one, whether or not they arrive.
    pub(super) const fn skip(&mut self, packets: u32, size: u32, most: u32) {
        let ahead = size.saturating_mul(packets);
        self.next = self.next.plus(if ahead < most { ahead } else { most });
    }

    pub(super) fn hold(&mut self, held: Held) {
        let place = self.held.partition_point(|other| other.seq.ahead_of(held.seq) <= 0);
        self.held_bytes = self.held_bytes.saturating_add(held.charge.into());
        self.held.insert(place, held);
    }

    pub(super) fn first(&self) -> Option<Held> {
        self.held.front().copied()
    }

    pub(super) fn last(&self) -> Option<Held> {
        self.held.back().copied()
    }

    /// Removes the first held packet, and continues after it.
    pub(super) fn take_first(&mut self) -> Option<Held> {
        let held = self.held.pop_front()?;
        self.held_bytes = self.held_bytes.saturating_sub(held.charge.into());
        self.advance(held.end);
        Some(held)
    }

    /// Removes the first held packet if nothing before it is missing.
    pub(super) fn take_next(&mut self) -> Option<Held> {
        self.first().filter(|held| held.seq.ahead_of(self.next) <= 0)?;
        self.take_first()
    }

    /// Whether each path that carries the flow has delivered something at or after `seq`, or is `overtaken` by a later probe.
    pub(super) fn all_passed_or(&self, now: Time, seq: SeqNo, overtaken: impl Fn(PathId) -> bool) -> bool {
        let paths = (0..).map(PathId).zip(&self.paths);
        let mut known = paths.filter_map(|(path, state)| Some((path, state.as_ref()?)));
        known.all(|(path, state)| {
            self.is_quiet(now, state) || state.furthest.ahead_of(seq) > 0 || overtaken(path)
        })
    }

    fn is_quiet(&self, now: Time, state: &PathState) -> bool {
        self.packets.wrapping_sub(state.packet) > QUIET_PACKETS && now.since(state.at) > QUIET_TIME
    }

    /// Whether a path that has delivered nothing so far is no longer waited for.
    fn knows_all(&self, now: Time) -> bool {
        self.packets > QUIET_PACKETS && self.since.is_some_and(|since| now.since(since) > QUIET_TIME)
    }

    /// Whether all of `paths` paths, as far as they carry the flow, have delivered something at or after `seq`.
    pub(super) fn all_passed(&self, now: Time, paths: u8, seq: SeqNo) -> bool {
        let states = || self.paths.iter().flatten();
        let known = states().count() >= usize::from(paths) || self.knows_all(now);
        paths > 0
            && known
            && states()
                .filter(|state| !self.is_quiet(now, state))
                .all(|state| state.furthest.ahead_of(seq) > 0)
    }

    /// Gives up the gap before the first held packet, which arrived at `opened`.
    pub(super) fn give_up_gap(&mut self, opened: Time, is_overtaken: bool) {
        if let Some(first) = self.first() {
            self.given_up = Some(Gap { from: self.next, to: first.seq, opened, is_overtaken });
        }
    }

    /// The gap around `segment`, if it was the last to be given up.
    pub(super) fn gap_of(&self, segment: &Segment) -> Option<Gap> {
        let inside = |gap: &Gap| segment.seq.ahead_of(gap.from) >= 0 && segment.seq.ahead_of(gap.to) < 0;
        self.given_up.filter(inside)
    }
}
