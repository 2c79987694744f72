use super::connection::Status;
use super::packet::Packet;
use super::timers::Side;
use super::{NewConnection, Picos, Simulation};

impl Simulation {
    /// Sends what the window of a subflow allows: first what is lost, then what is new.
    pub(super) fn send_on(&mut self, subflow: u32) {
        if self.subflows[subflow as usize].status != Status::Open {
            return;
        }
        let mut limited = true;
        while self.subflows[subflow as usize].sender.has_room() {
            if self.waits(subflow) || !self.send_one(subflow) {
                limited = false;
                break;
            }
        }
        let it = &mut self.subflows[subflow as usize];
        it.sender.set_limited(limited);
        if it.sender.deadline.is_none() && !it.sender.is_idle() {
            it.sender.deadline = Some(self.now + it.sender.rtt.timeout());
        }
        self.watch(subflow, Side::Sender);
    }

    /// Whether the interface has to send what it has first; then it says when that is done.
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

    /// Sends on all subflows of a connection, as Linux does: each segment on the one with the least round-trip time of
    /// those whose window has room.
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

    /// Sends one segment; whether there was one.
    fn send_one(&mut self, subflow: u32) -> bool {
        let it = &mut self.subflows[subflow as usize];
        let connection = &mut self.connections[it.connection as usize];
        let again = it.sender.send_again();
        let new = || connection.take_next().map(|dsn| (it.sender.send_new(dsn), dsn));
        let Some((seq, dsn)) = again.or_else(new) else { return false };
        let packet = Packet { seq, dsn, ..Packet::new(it.forward, connection.frame(dsn), self.now) };
        self.put_on(self.routes[packet.at as usize], packet);
        true
    }
}
