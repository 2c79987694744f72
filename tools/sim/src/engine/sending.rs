//! Transmission of segments that the windows allow, on one subflow or on all of a connection.

use super::connection::Status;
use super::packet::Packet;
use super::timers::Side;
use super::{NewConnection, Picos, Simulation};

impl Simulation {
    /// Sends as the window of a subflow allows: lost segments first, then new ones.
    pub(super) fn send_on(&mut self, subflow: u32) {
        if self.subflows[subflow as usize].status != Status::Open {
            return;
        }
        let (mut limited, mut sent) = (true, false);
        while self.subflows[subflow as usize].sender.has_room() {
            if self.waits(subflow) || !self.send_one(subflow) {
                limited = false;
                break;
            }
            sent = true;
        }
        let it = &mut self.subflows[subflow as usize];
        it.sender.set_limited(limited);
        if sent {
            it.sender.arm_after_sending(self.now);
        }
        debug_assert!(it.sender.is_idle() || it.sender.deadline.is_some(), "nothing would wake the sender");
        self.watch(subflow, Side::Sender);
    }

    /// Whether the interface must drain first; then the end of that becomes a deadline.
    fn waits(&mut self, subflow: u32) -> bool {
        let it = &mut self.subflows[subflow as usize];
        let link = &self.links[self.routes[it.forward as usize] as usize];
        let resume = link.wait(self.now);
        if resume.is_some() {
            it.resume = resume;
            self.watch(subflow, Side::Interface);
        }
        resume.is_some()
    }

    /// Sends on all subflows of a connection: each segment on the one with the least round-trip time of those whose window has
    /// room.
    pub(super) fn send_on_all(&mut self, connection: u32) {
        let all = self.connections[connection as usize].subflows.clone();
        let mut order = [(Picos::NEVER, u32::MAX); NewConnection::MAX_SUBFLOWS];
        let mut count = 0;
        for subflow in all.filter(|it| self.subflows[*it as usize].status == Status::Open) {
            order[count] = (self.subflows[subflow as usize].sender.rtt.smoothed(), subflow);
            count += 1;
        }
        order[..count].sort_unstable();
        order[..count].iter().for_each(|(_, subflow)| self.send_on(*subflow));
    }

    /// Sends one segment; returns whether there was one.
    fn send_one(&mut self, subflow: u32) -> bool {
        let it = &mut self.subflows[subflow as usize];
        let connection = &mut self.connections[it.connection as usize];
        let now = self.now;
        let again = it.sender.send_again(now);
        let new = || {
            let dsn = if connection.buffers.is_some() { it.queue.take() } else { connection.take_next() };
            dsn.map(|dsn| (it.sender.send_new(now, dsn), dsn))
        };
        let Some((seq, dsn)) = again.or_else(new) else { return false };
        self.put_segment(subflow, seq, dsn);
        true
    }

    /// Sends a probe after two silent round trips, regardless of the window.
    pub(super) fn send_probe(&mut self, subflow: u32) {
        let it = &mut self.subflows[subflow as usize];
        let connection = &mut self.connections[it.connection as usize];
        let next = || if connection.buffers.is_some() { it.queue.take() } else { connection.take_next() };
        if let Some((seq, dsn)) = it.sender.send_probe(self.now, next) {
            self.put_segment(subflow, seq, dsn);
        }
    }

    fn put_segment(&mut self, subflow: u32, seq: u32, dsn: u32) {
        let it = &self.subflows[subflow as usize];
        let frame = self.connections[it.connection as usize].frame(dsn);
        let packet = Packet { seq, dsn, ..Packet::new(it.forward, frame, self.now) };
        self.put_on(self.routes[packet.at as usize], packet);
    }
}
