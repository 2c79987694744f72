//! Timers of subflows, connections and edges, as few entries in the event queue.

use super::connection::Status;
use super::packet::Packet;
use super::{Picos, Simulation};
use crate::transport::{Alarm, Answer, Progress};

/// An entry of the event queue for a subflow, a connection, or a bundle of paths where one ends.
///
/// Deadlines move with every packet, so that the event queue does not hold them, but a time no later than each at which to
/// look whether it has come. Only for a deadline before that there is a second entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    subflow: u32,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Sender,
    Receiver,
    Interface,
    Edge,
    Connection,
}

impl Simulation {
    /// Sees to it that the deadline of one end of a subflow is looked at in time.
    pub(super) fn watch(&mut self, subflow: u32, side: Side) {
        let Some(deadline) = self.deadline(subflow, side) else { return };
        let look = self.look_at(subflow, side);
        if *look <= deadline {
            return;
        }
        *look = deadline;
        let timer = Timer { subflow, side };
        let place = match self.free_timers.pop() {
            Some(place) => {
                self.timers[place as usize] = timer;
                place
            }
            None => {
                self.timers.push(timer);
                self.event_queue.reserve(self.links.len() + self.timers.len());
                self.timers.len() as u32 - 1
            }
        };
        self.event_queue.push(self.links.len() as u32 + place, deadline);
    }

    pub(super) fn look(&mut self, place: u32) {
        let Timer { subflow, side } = self.timers[place as usize];
        self.free_timers.push(place);
        let now = self.now;
        let look = self.look_at(subflow, side);
        if *look <= now {
            *look = Picos::NEVER;
        }
        if self.deadline(subflow, side).is_some_and(|deadline| deadline <= self.now) {
            match side {
                Side::Sender => self.sender_timeout(subflow),
                Side::Receiver => self.receiver_timeout(subflow),
                Side::Interface => self.resume(subflow),
                Side::Edge => self.edge_timeout(subflow),
                Side::Connection => self.connection_timeout(subflow),
            }
        }
        self.watch(subflow, side);
    }

    fn deadline(&self, number: u32, side: Side) -> Option<Picos> {
        let subflow = || &self.subflows[number as usize];
        match side {
            Side::Sender => subflow().sender.deadline,
            Side::Receiver => subflow().receiver.deadline,
            Side::Interface => subflow().resume,
            Side::Edge => self.bundles[number as usize].deadline(),
            Side::Connection => self.connections[number as usize].buffers.as_ref()?.deadline,
        }
    }

    /// When the event queue looks next.
    fn look_at(&mut self, number: u32, side: Side) -> &mut Picos {
        match side {
            Side::Edge => &mut self.bundles[number as usize].look,
            Side::Connection => &mut self.connections[number as usize].look,
            _ => &mut self.subflows[number as usize].looks[side as usize],
        }
    }

    /// The interface for which the sender has waited has room.
    fn resume(&mut self, subflow: u32) {
        self.subflows[subflow as usize].resume = None;
        self.send_on(subflow);
    }

    fn receiver_timeout(&mut self, subflow: u32) {
        let answer = self.subflows[subflow as usize].receiver.timeout(self.now);
        if let Some(answer) = answer {
            self.answer(subflow, answer);
        }
    }

    fn sender_timeout(&mut self, subflow: u32) {
        match self.subflows[subflow as usize].status {
            Status::Waiting => self.send_syn(subflow),
            Status::Opening => {
                self.subflows[subflow as usize].sender.rtt.back_off();
                self.send_syn(subflow);
            }
            Status::Open => self.alarm(subflow),
            Status::Closed => {}
        }
    }

    fn alarm(&mut self, subflow: u32) {
        let it = &mut self.subflows[subflow as usize];
        match it.sender.alarm() {
            Alarm::TimeOut => self.data_timeout(subflow),
            Alarm::Probe => self.send_probe(subflow),
            Alarm::Reordering => {
                let congested = it.sender.stop_waiting(self.now);
                if congested {
                    self.change_window(subflow, Progress { congested, ..Progress::default() });
                }
                self.send_on(subflow);
            }
        }
    }

    /// Nothing was heard for too long: the subflow starts again, and others carry what it had under way, unless it is Linux's.
    fn data_timeout(&mut self, subflow: u32) {
        let kin = self.kin_of(subflow);
        let Self { subflows, connections, .. } = self;
        let it = &mut subflows[subflow as usize];
        it.sender.collapse(&mut it.governor, &kin);
        it.sender.arm(self.now);
        let connection = &mut connections[it.connection as usize];
        let may_go_elsewhere = connection.subflows.len() > 1 && connection.buffers.is_none();
        if may_go_elsewhere {
            connection.send_elsewhere(it.sender.lost_data());
        }
        let connection = it.connection;
        self.give_back(kin);
        self.send_on(subflow);
        if may_go_elsewhere {
            self.send_on_all(connection);
        }
    }
}

// What an answer is made of stays in one place.
pub(super) fn acknowledgement(at: u32, size: u16, now: Picos, answer: Answer, dsn: u32) -> Packet {
    let Answer { next, cause, below, above, stamp } = answer;
    Packet { seq: next, dsn, cause, below, above, stamp, ..Packet::new(at, size, now) }
}
