//! Packets at the end of their route: handshakes, data and acknowledgements.

use super::connection::{Shape, Status};
use super::packet::{HANDSHAKE, Packet};
use super::timers::{Side, acknowledgement};
use super::{ConnectionId, Picos, Simulation};
use crate::transport::{Answer, Heard, Kin, Progress};

impl Simulation {
    /// Handles a packet at the end of its route.
    pub(super) fn take_in(&mut self, end: u32, packet: Packet) {
        let subflow = end >> 1;
        match (end & 1 == 0, packet.dsn == HANDSHAKE) {
            (true, true) => self.answer_syn(subflow, packet),
            (true, false) => self.take_data(subflow, packet),
            (false, true) => self.established(subflow, packet),
            (false, false) => self.acknowledged(subflow, packet),
        }
    }

    /// Begins the first subflow of a connection; the others follow when it is established.
    pub(super) fn begin(&mut self, subflow: u32, set_up: Picos) {
        let it = &mut self.subflows[subflow as usize];
        if it.status == Status::Waiting {
            it.sender.deadline = Some(self.now + set_up);
            self.watch(subflow, Side::Sender);
        }
    }

    pub(super) fn send_syn(&mut self, subflow: u32) {
        let it = &mut self.subflows[subflow as usize];
        it.status = Status::Opening;
        it.sender.deadline = Some(self.now + it.sender.rtt.timeout());
        let at = it.forward;
        let syn = Packet { dsn: HANDSHAKE, ..Packet::new(at, Shape::HANDSHAKE, self.now) };
        self.put_on(self.routes[at as usize], syn);
    }

    fn answer_syn(&mut self, subflow: u32, syn: Packet) {
        let at = self.subflows[subflow as usize].back;
        let answer =
            Packet { dsn: HANDSHAKE, stamp: syn.stamp, ..Packet::new(at, Shape::HANDSHAKE, self.now) };
        self.put_on(self.routes[at as usize], answer);
    }

    fn established(&mut self, subflow: u32, answer: Packet) {
        let it = &mut self.subflows[subflow as usize];
        if it.status != Status::Opening {
            return;
        }
        it.status = Status::Open;
        it.sender.deadline = None;
        it.sender.rtt.sample(answer.stamp.age(self.now));
        let owner = it.connection;
        let connection = &self.connections[owner as usize];
        let (all, set_up) = (connection.subflows.clone(), connection.set_up);
        if subflow == all.start {
            all.skip(1).for_each(|join| self.begin(join, set_up));
        }
        self.send_on(subflow);
        self.push(owner);
    }

    fn take_data(&mut self, subflow: u32, packet: Packet) {
        let it = &mut self.subflows[subflow as usize];
        let owner = it.connection;
        let connection = &mut self.connections[owner as usize];
        connection.arrivals.insert(packet.dsn);
        if connection.arrivals.next() == connection.total && connection.finished.is_none() {
            connection.finished = Some(self.now);
            self.finished.push(ConnectionId(owner));
        }
        match it.receiver.receive(self.now, packet.seq, packet.stamp) {
            Some(answer) => self.answer(subflow, answer),
            None => self.watch(subflow, Side::Receiver),
        }
        self.make_room(owner);
    }

    pub(super) fn answer(&mut self, subflow: u32, answer: Answer) {
        let it = &self.subflows[subflow as usize];
        let connection = &self.connections[it.connection as usize];
        let has_block = answer.cause >= answer.next;
        let size = connection.shape.acknowledgement + if has_block { Shape::SACK } else { 0 };
        let packet = acknowledgement(it.back, size, self.now, answer, connection.arrivals.next());
        self.put_on(self.routes[packet.at as usize], packet);
    }

    fn acknowledged(&mut self, subflow: u32, packet: Packet) {
        let Packet { seq, dsn, cause, below, above, stamp, .. } = packet;
        let now = self.now;
        let it = &mut self.subflows[subflow as usize];
        let progress = it.sender.acknowledge(now, Heard { next: seq, cause, below, above, stamp });
        if progress.advanced {
            it.sender.rtt.sample(stamp.age(now));
        }
        if it.status == Status::Open && (progress.advanced || progress.arrived > 0) {
            it.sender.arm(now);
        } else if it.status == Status::Closed {
            it.sender.deadline = None;
        }
        let owner = it.connection;
        if progress.arrived > 0 || progress.congested {
            self.change_window(subflow, progress);
        }
        let connection = &mut self.connections[owner as usize];
        let was_blocked = connection.is_blocked();
        let advanced = dsn > connection.una;
        connection.una = connection.una.max(dsn);
        let is_linux = connection.buffers.is_some();
        self.send_on(subflow);
        if is_linux {
            self.data_acknowledged(owner, subflow, advanced);
        } else if was_blocked {
            self.send_on_all(owner);
        }
    }

    pub(super) fn change_window(&mut self, subflow: u32, progress: Progress) {
        let Progress { arrived, congested, repaired, .. } = progress;
        let needs_kin = congested || repaired || self.subflows[subflow as usize].sender.may_grow();
        let kin = if needs_kin { self.kin_of(subflow) } else { Vec::new() };
        let it = &mut self.subflows[subflow as usize];
        if congested {
            it.sender.shrink(&mut it.governor, &kin);
        } else if repaired {
            it.sender.shrink_at_once(&mut it.governor, &kin);
        }
        it.sender.grow(self.now, arrived, &mut it.governor, &kin);
        self.give_back(kin);
    }

    /// The subflows beside this one, where windows are coupled; in memory that is to be given back.
    pub(super) fn kin_of(&mut self, subflow: u32) -> Vec<Kin> {
        let mut kin = std::mem::take(&mut self.kin);
        let it = &self.subflows[subflow as usize];
        if it.governor.is_coupled() {
            let all = self.connections[it.connection as usize].subflows.clone();
            let others = all.filter(|other| *other != subflow).map(|other| &self.subflows[other as usize]);
            kin.extend(others.filter(|it| it.status == Status::Open).map(|it| it.sender.as_kin()));
        }
        kin
    }

    pub(super) fn give_back(&mut self, mut kin: Vec<Kin>) {
        if kin.capacity() > 0 {
            kin.clear();
            self.kin = kin;
        }
    }
}
