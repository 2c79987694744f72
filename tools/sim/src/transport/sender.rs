//! The sending end of a subflow: segments in flight, losses and the congestion window.

use super::alarm::Alarm;
use super::reordering::{Reordering, Undo};
use super::rtt::Rtt;
use crate::engine::{Picos, Ring, Stamp};

/// RFC 6928.
const INITIAL_WINDOW: u32 = 10;

/// The sending end of a subflow: what is under way, what is lost, how much may be sent. RFC 5681, RFC 6937, RFC 8985.
///
/// Transmissions are numbered, whether they are first ones or not. Numbers are of segments and end with 2³², 6 TB.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// The first segment that is not acknowledged, and the next new one.
    una: u32,
    next: u32,
    /// From `una` to `next`.
    segments: Ring<Segment>,
    /// Those from `first_order` to `next_order`.
    pub(super) transmissions: Ring<Transmission>,
    pub(super) first_order: u32,
    next_order: u32,
    /// One more than the greatest number of a transmission that arrived, and the round trip of that.
    pub(super) newest: u32,
    pub(super) newest_rtt: Picos,
    /// Segments beyond `una` that have arrived.
    pub(super) sacked: u32,
    /// What to send again.
    pub(super) lost: Ring<u32>,
    /// Transmissions that have neither arrived nor are given up.
    pub(super) flight: u32,
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    pub(super) phase: Phase,
    /// Whether the window, and not the data, was what ended the last round of sending.
    limited: bool,
    pub(super) run: [u32; 2],
    pub(crate) rtt: Rtt,
    /// When something is to be done if nothing is heard, and what.
    pub(crate) deadline: Option<Picos>,
    pub(super) alarm: Alarm,
    pub(super) reordering: Reordering,
    pub(super) undo: Option<Undo>,
    /// One beyond the last segment when a probe was sent that is not answered, and whether that was an old segment.
    pub(super) probe: Option<(u32, bool)>,
    /// Transmissions of segments that had been sent before.
    pub(crate) retransmissions: u64,
    /// How often the time-out passed.
    pub(crate) timeouts: u32,
}

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Segment {
    pub(super) dsn: u32,
    pub(super) order: u32,
    pub(super) state: State,
    pub(super) resent: bool,
}

#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Transmission {
    pub(super) seq: u32,
    pub(super) sent: Stamp,
}

/// An acknowledgement.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Heard {
    /// All below have arrived.
    pub(crate) next: u32,
    /// What it answers, and how many neighbours came before; below `next`, `below` says that it came twice.
    pub(crate) cause: u32,
    pub(crate) below: u8,
    pub(crate) above: u8,
    /// When what it answers was sent.
    pub(crate) stamp: Stamp,
}

impl Heard {
    /// Whether what it answers had come before.
    pub(super) const fn is_duplicate(self) -> bool {
        self.cause < self.next && self.below > 0
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum State {
    #[default]
    Flying,
    Arrived,
    Lost,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Open,
    /// Fast recovery, by proportional rate reduction, until everything is acknowledged that was sent before it.
    Recovery {
        until: u32,
        prior: u32,
        arrived: u32,
        sent: u32,
    },
    /// After a time-out, until everything is acknowledged that was sent before it.
    Loss {
        until: u32,
    },
}

/// What an acknowledgement brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Progress {
    /// Segments that are now known to have arrived.
    pub(crate) arrived: u32,
    /// Whether the window must shrink: the first loss after a time without.
    pub(crate) congested: bool,
    /// Whether the first segment that was missing is acknowledged.
    pub(crate) advanced: bool,
    /// Whether a probe has filled the only gap: nothing is lost any more, but the window must shrink.
    pub(crate) repaired: bool,
}

impl Default for Sender {
    fn default() -> Self {
        Self {
            una: 0,
            next: 0,
            segments: Ring::new(),
            transmissions: Ring::new(),
            first_order: 0,
            next_order: 0,
            newest: 0,
            newest_rtt: Picos::ZERO,
            sacked: 0,
            lost: Ring::new(),
            flight: 0,
            cwnd: INITIAL_WINDOW,
            ssthresh: u32::MAX,
            phase: Phase::Open,
            limited: false,
            run: [0; 2],
            rtt: Rtt::default(),
            deadline: None,
            alarm: Alarm::TimeOut,
            reordering: Reordering::default(),
            undo: None,
            probe: None,
            retransmissions: 0,
            timeouts: 0,
        }
    }
}

impl Sender {
    pub(crate) const fn cwnd(&self) -> u32 {
        self.cwnd
    }

    pub(crate) const fn flight(&self) -> u32 {
        self.flight
    }

    /// Segments that have been sent and are not acknowledged in order.
    pub(crate) const fn held(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Bytes a second: the window in a round trip and a fifth more, or in slow start twice that (`tcp_update_pacing_rate`).
    pub(crate) fn pace(&self, payload: u16) -> u64 {
        let percent = if self.cwnd < self.ssthresh / 2 { 200 } else { 120 };
        let bytes = u64::from(self.cwnd.max(self.flight)) * u64::from(payload) * percent / 100;
        (u128::from(bytes) * 1_000_000_000_000 / u128::from(self.rtt.smoothed().0.max(1))) as u64
    }

    pub(crate) const fn acknowledged(&self) -> u32 {
        self.una
    }

    pub(super) const fn next_transmission(&self) -> u32 {
        self.next_order
    }

    pub(crate) const fn is_idle(&self) -> bool {
        self.segments.is_empty()
    }

    pub(crate) const fn has_room(&self) -> bool {
        self.flight < self.cwnd
    }

    pub(crate) const fn set_limited(&mut self, limited: bool) {
        self.limited = limited;
    }

    /// Bytes of memory besides its own.
    pub(crate) const fn memory(&self) -> usize {
        self.segments.memory() + self.transmissions.memory() + self.lost.memory()
    }

    /// Sends a new segment, which carries the connection's `dsn`; its number.
    pub(crate) fn send_new(&mut self, now: Picos, dsn: u32) -> u32 {
        let seq = self.next;
        self.segments.push(Segment { dsn, order: self.next_order, state: State::Flying, resent: false });
        self.next += 1;
        self.note_transmission(now, seq);
        seq
    }

    /// Sends a lost segment again, if there is one; its number and that of its data.
    pub(crate) fn send_again(&mut self, now: Picos) -> Option<(u32, u32)> {
        while let Some(seq) = self.lost.pop() {
            if self.segment(seq).is_some_and(|segment| segment.state == State::Lost) {
                return self.send_segment_again(now, seq).map(|dsn| (seq, dsn));
            }
        }
        None
    }

    /// Sends a segment once more; the number of its data.
    pub(super) fn send_segment_again(&mut self, now: Picos, seq: u32) -> Option<u32> {
        let order = self.next_order;
        let segment = self.segment(seq)?;
        let was_flying = segment.state == State::Flying;
        *segment = Segment { state: State::Flying, order, resent: true, ..*segment };
        let dsn = segment.dsn;
        self.flight -= u32::from(was_flying);
        self.note_transmission(now, seq);
        self.retransmissions += 1;
        if let Some(undo) = &mut self.undo {
            undo.note_retransmission(now);
        }
        Some(dsn)
    }

    /// Takes in an acknowledgement.
    pub(crate) fn acknowledge(&mut self, now: Picos, heard: Heard) -> Progress {
        let Heard { next, cause, .. } = heard;
        let mut progress = Progress { advanced: next > self.una, ..Progress::default() };
        let before = self.newest;
        self.note_order(cause);
        for _ in self.una..next.min(self.next) {
            let is_new = self.arrive(now, self.una);
            progress.arrived += u32::from(is_new);
            self.sacked -= u32::from(!is_new);
            self.segments.pop();
            self.una += 1;
        }
        if cause >= next {
            let beyond = self.arrive_block(now, heard);
            self.sacked += beyond;
            progress.arrived += beyond;
        }
        if self.newest > before {
            self.measure_newest(now);
        }
        self.run[1] = self.run[1].saturating_add(progress.arrived);
        self.note_duplicate(heard);
        self.undo_if_spurious(now, heard, progress.advanced);
        progress.congested = self.find_losses(now) && self.phase == Phase::Open;
        progress.repaired = self.answer_probe(heard, progress.arrived > 0);
        self.leave_recovery();
        progress
    }

    /// Everything that has not arrived is lost.
    pub(crate) fn lose_all(&mut self) {
        self.lost.clear();
        self.transmissions.clear();
        self.first_order = self.next_order;
        for index in 0..self.segments.len() {
            let Some(segment) = self.segments.get_mut(index) else { continue };
            if segment.state != State::Arrived {
                segment.state = State::Lost;
                self.lost.push(self.una + index as u32);
            }
        }
        self.flight = 0;
        (self.undo, self.probe) = (None, None);
    }

    /// The data of segments that are lost and have not been sent again.
    pub(crate) fn lost_data(&self) -> impl Iterator<Item = u32> {
        let segments = (0..self.segments.len()).filter_map(|index| self.segments.get(index));
        segments.filter(|segment| segment.state == State::Lost).map(|segment| segment.dsn)
    }

    pub(super) const fn highest(&self) -> u32 {
        self.next
    }

    pub(crate) const fn may_grow(&self) -> bool {
        self.limited && !matches!(self.phase, Phase::Recovery { .. })
    }

    pub(super) fn note_transmission(&mut self, now: Picos, seq: u32) {
        self.transmissions.push(Transmission { seq, sent: Stamp::of(now) });
        self.next_order += 1;
        self.flight += 1;
        if let Phase::Recovery { sent, .. } = &mut self.phase {
            *sent += 1;
        }
    }

    pub(super) fn segment(&mut self, seq: u32) -> Option<&mut Segment> {
        let index = seq.checked_sub(self.una)?;
        self.segments.get_mut(index as usize)
    }

    /// Notes that a segment has arrived; whether that is new.
    fn arrive(&mut self, now: Picos, seq: u32) -> bool {
        let Some(segment) = self.segment(seq) else { return false };
        let Segment { state: before, order, resent, .. } = *segment;
        segment.state = State::Arrived;
        if before == State::Arrived {
            return false;
        }
        if !(resent && self.is_too_soon(now, order)) {
            self.newest = self.newest.max(order + 1);
        }
        self.flight -= u32::from(before == State::Flying);
        true
    }

    /// From the segment outwards to those already known: the others were reported before.
    fn arrive_block(&mut self, now: Picos, Heard { cause, below, above, .. }: Heard) -> u32 {
        let lower = (1..=u32::from(below)).map_while(|step| cause.checked_sub(step));
        let upper = (1..=u32::from(above)).map_while(|step| cause.checked_add(step));
        let mut arrived = u32::from(self.arrive(now, cause));
        arrived += lower.take_while(|seq| self.arrive(now, *seq)).count() as u32;
        arrived + upper.take_while(|seq| self.arrive(now, *seq)).count() as u32
    }
}
