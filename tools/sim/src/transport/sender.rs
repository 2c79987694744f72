use super::rtt::Rtt;
use crate::engine::{Picos, Ring};

/// RFC 6928.
const INITIAL_WINDOW: u32 = 10;
/// So many later transmissions must arrive before one is given up: RFC 9002 §6.1.1, and what RFC 6675 has of segments.
const PACKET_THRESHOLD: u32 = 3;

/// The sending end of a subflow: what is under way, what is lost, how much may be sent. RFC 5681, RFC 6675, RFC 6937.
///
/// Transmissions are numbered. One is lost when three later ones have arrived, whether it was a first one or was sent
/// again; on a path that keeps the order that is never wrong. Numbers are of segments and end with 2³², 6 TB.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    /// The first segment that is not acknowledged, and the next new one.
    una: u32,
    next: u32,
    /// From `una` to `next`.
    segments: Ring<Segment>,
    /// The segment of each transmission from `first_order` to `next_order`.
    transmissions: Ring<u32>,
    first_order: u32,
    next_order: u32,
    /// One more than the greatest number of a transmission that arrived.
    newest: u32,
    /// What to send again.
    lost: Ring<u32>,
    /// Transmissions that have neither arrived nor are given up.
    flight: u32,
    pub(super) cwnd: u32,
    pub(super) ssthresh: u32,
    pub(super) phase: Phase,
    /// Whether the window, and not the data, was what ended the last round of sending.
    limited: bool,
    pub(super) run: [u32; 2],
    pub(crate) rtt: Rtt,
    pub(crate) deadline: Option<Picos>,
    /// Transmissions of segments that had been sent before.
    pub(crate) retransmissions: u64,
    /// How often the time-out passed.
    pub(crate) timeouts: u32,
}

#[derive(Clone, Copy, Default, Debug)]
struct Segment {
    dsn: u32,
    order: u32,
    state: State,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum State {
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
            lost: Ring::new(),
            flight: 0,
            cwnd: INITIAL_WINDOW,
            ssthresh: u32::MAX,
            phase: Phase::Open,
            limited: false,
            run: [0; 2],
            rtt: Rtt::default(),
            deadline: None,
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

    pub(crate) const fn acknowledged(&self) -> u32 {
        self.una
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
    pub(crate) fn send_new(&mut self, dsn: u32) -> u32 {
        let seq = self.next;
        self.segments.push(Segment { dsn, order: self.next_order, state: State::Flying });
        self.next += 1;
        self.note_transmission(seq);
        seq
    }

    /// Sends a lost segment again, if there is one; its number and that of its data.
    pub(crate) fn send_again(&mut self) -> Option<(u32, u32)> {
        while let Some(seq) = self.lost.pop() {
            let order = self.next_order;
            let Some(segment) = self.segment(seq).filter(|segment| segment.state == State::Lost) else {
                continue;
            };
            (segment.state, segment.order) = (State::Flying, order);
            let dsn = segment.dsn;
            self.note_transmission(seq);
            self.retransmissions += 1;
            return Some((seq, dsn));
        }
        None
    }

    /// Takes in an acknowledgement: all below `next` have arrived, and `cause` with `below` and `above` neighbours.
    pub(crate) fn acknowledge(&mut self, next: u32, cause: u32, below: u8, above: u8) -> Progress {
        let mut progress = Progress { advanced: next > self.una, ..Progress::default() };
        for _ in self.una..next.min(self.next) {
            progress.arrived += u32::from(self.arrive(self.una));
            self.segments.pop();
            self.una += 1;
        }
        if cause >= next {
            progress.arrived += self.arrive_block(cause, below, above);
        }
        self.run[1] = self.run[1].saturating_add(progress.arrived);
        progress.congested = self.find_losses() && self.phase == Phase::Open;
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

    fn note_transmission(&mut self, seq: u32) {
        self.transmissions.push(seq);
        self.next_order += 1;
        self.flight += 1;
        if let Phase::Recovery { sent, .. } = &mut self.phase {
            *sent += 1;
        }
    }

    fn segment(&mut self, seq: u32) -> Option<&mut Segment> {
        let index = seq.checked_sub(self.una)?;
        self.segments.get_mut(index as usize)
    }

    /// Notes that a segment has arrived; whether that is new.
    fn arrive(&mut self, seq: u32) -> bool {
        let Some(segment) = self.segment(seq) else { return false };
        let (before, order) = (segment.state, segment.order);
        segment.state = State::Arrived;
        if before == State::Arrived {
            return false;
        }
        self.newest = self.newest.max(order + 1);
        self.flight -= u32::from(before == State::Flying);
        true
    }

    /// From the segment outwards to those that are known already: the others have been told before.
    fn arrive_block(&mut self, cause: u32, below: u8, above: u8) -> u32 {
        let lower = (1..=u32::from(below)).map_while(|step| cause.checked_sub(step));
        let upper = (1..=u32::from(above)).map_while(|step| cause.checked_add(step));
        let mut arrived = u32::from(self.arrive(cause));
        arrived += lower.take_while(|seq| self.arrive(*seq)).count() as u32;
        arrived + upper.take_while(|seq| self.arrive(*seq)).count() as u32
    }

    /// Gives up the transmissions that enough later ones have overtaken; whether there are any.
    fn find_losses(&mut self) -> bool {
        let mut found = false;
        while self.first_order + PACKET_THRESHOLD < self.newest {
            let Some(seq) = self.transmissions.pop() else { break };
            let order = self.first_order;
            self.first_order += 1;
            let flying = |it: &&mut Segment| it.order == order && it.state == State::Flying;
            if let Some(segment) = self.segment(seq).filter(flying) {
                segment.state = State::Lost;
                self.flight -= 1;
                self.lost.push(seq);
                found = true;
            }
        }
        found
    }
}
