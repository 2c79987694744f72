//! The MPTCP scheduler of Linux: data queued on subflows early, and sent again on others after time-outs.

use super::Picos;
use super::Simulation;
use super::connection::Status;
use super::timers::Side;

/// The bytes given to a subflow before another one is considered, and the size of a piece (`MPTCP_SEND_BURST_SIZE`,
/// and the size of a fragment of the application's data).
const BURST: u32 = 65_400;
const PIECE: u32 = 32_768;
/// `net.mptcp.stale_loss_cnt`.
const MAX_SILENT: u8 = 4;
const LEAST_TIMEOUT: Picos = Picos::from_millis(200);

/// MPTCP of Linux: data is given to the queues of subflows, long before it is sent, and stays there.
impl Simulation {
    /// Gives written data to subflows: a burst to the one that will finish soonest, until that has no room.
    pub(super) fn push(&mut self, connection: u32) {
        while self.may_push(connection) {
            let Some(subflow) = self.soonest(connection) else { break };
            if !self.give(connection, subflow) {
                break;
            }
            self.send_on(subflow);
        }
        self.watch(connection, Side::Connection);
    }

    /// Handles an acknowledgement of data.
    pub(super) fn data_acknowledged(&mut self, connection: u32, subflow: u32, advanced: bool) {
        let now = self.now;
        if let (true, Some(buffers)) = (advanced, &mut self.connections[connection as usize].buffers) {
            buffers.progress = now;
        }
        let it = &mut self.subflows[subflow as usize];
        it.queue.heard = now;
        if it.queue.is_empty() && it.sender.has_room() {
            it.queue.expand(it.sender.cwnd());
        }
        self.push(connection);
    }

    /// Handles arrived data; updates the receive window.
    pub(super) fn make_room(&mut self, connection: u32) {
        let Self { connections, subflows, now, .. } = self;
        let it = &mut connections[connection as usize];
        let Some(buffers) = &mut it.buffers else { return };
        let all = it.subflows.clone();
        let round_trip = || all.clone().map(|it| subflows[it as usize].sender.rtt.smoothed()).max();
        buffers.arrived(*now, it.arrivals.next(), it.arrivals.beyond(), || round_trip().unwrap_or_default());
    }

    /// Handles a time-out of the connection: an idle subflow sends the first missing segment again, and subflows
    /// without a sign of life are suspended.
    pub(super) fn connection_timeout(&mut self, connection: u32) {
        let all = self.connections[connection as usize].subflows.clone();
        let due = self.data_timeout_due(connection);
        let Some(buffers) = &mut self.connections[connection as usize].buffers else { return };
        if self.now < due {
            buffers.deadline = Some(due);
            return;
        }
        (buffers.progress, buffers.deadline) = (self.now, Some(self.now + LEAST_TIMEOUT));
        let mut idle = None;
        for number in all {
            let it = &mut self.subflows[number as usize];
            if it.status != Status::Open {
                continue;
            }
            if it.sender.is_idle() && it.queue.is_empty() {
                idle = idle.or(Some(number));
            } else if it.queue.is_silent(MAX_SILENT) && !it.queue.stale {
                it.queue.stale = true;
                self.send_all_again(connection);
            }
        }
        if let Some(idle) = idle {
            self.send_first_again(connection, idle);
        }
        self.push(connection);
    }

    /// Sends all data without an acknowledgement again, on subflows that are alive.
    pub(super) fn send_all_again(&mut self, connection: u32) {
        let it = &mut self.connections[connection as usize];
        it.next = it.una;
    }

    fn send_first_again(&mut self, connection: u32, subflow: u32) {
        let it = &self.connections[connection as usize];
        let piece = PIECE / u32::from(it.shape.payload);
        let first = it.una..it.next.min(it.una.saturating_add(piece.max(1)));
        if !first.is_empty() {
            self.subflows[subflow as usize].queue.give(first);
            self.send_on(subflow);
        }
    }

    /// When the longest of the subflows' time-outs has passed since the last progress.
    fn data_timeout_due(&self, connection: u32) -> Picos {
        let it = &self.connections[connection as usize];
        let all = it.subflows.clone().map(|number| &self.subflows[number as usize]);
        let counts = all.filter(|it| it.status == Status::Open && it.queue.silent.1 == 0);
        let longest = counts.map(|it| it.sender.rtt.timeout()).max().unwrap_or(LEAST_TIMEOUT);
        it.buffers.as_ref().map_or(Picos::NEVER, |it| it.progress + longest)
    }

    /// Whether there is data that fits into the receive window.
    fn may_push(&mut self, connection: u32) -> bool {
        let Self { connections, subflows, .. } = self;
        let it = &mut connections[connection as usize];
        let Some(buffers) = &mut it.buffers else { return false };
        it.next = it.next.max(it.una);
        if it.next >= buffers.written {
            let room: u32 = it.subflows.clone().map(|number| subflows[number as usize].queue.room()).sum();
            buffers.write(it.una, it.total, room / u32::from(it.shape.payload));
        }
        it.next < buffers.written.min(buffers.edge)
    }

    /// The open subflow that will finish soonest with its queue.
    fn soonest(&mut self, connection: u32) -> Option<u32> {
        let it = &self.connections[connection as usize];
        let mut best = (u64::MAX, None);
        for number in it.subflows.clone() {
            let it = &mut self.subflows[number as usize];
            if it.status == Status::Open && it.queue.is_active() {
                let linger = it.queue.linger(&it.sender);
                if linger < best.0 {
                    best = (linger, Some(number));
                }
            }
        }
        best.1
    }

    /// Gives a subflow a burst; returns whether it had room for any.
    fn give(&mut self, connection: u32, subflow: u32) -> bool {
        let Self { connections, subflows, now, .. } = self;
        let (connection, it) = (&mut connections[connection as usize], &mut subflows[subflow as usize]);
        let Some(buffers) = &mut connection.buffers else { return false };
        let end = buffers.written.min(buffers.edge);
        let burst = (BURST / u32::from(connection.shape.payload)).min(end - connection.next);
        let last = connection.next + burst;
        let first = connection.next;
        if it.queue.is_full(&it.sender) {
            return false;
        }
        it.queue.begin_burst(burst, &it.sender);
        while connection.next < last && !it.queue.is_full(&it.sender) {
            let piece = (PIECE / u32::from(connection.shape.payload)).max(1).min(end - connection.next);
            it.queue.give(connection.next..connection.next + piece);
            connection.next += piece;
        }
        if buffers.deadline.is_none() {
            (buffers.progress, buffers.deadline) = (*now, Some(*now + LEAST_TIMEOUT));
        }
        connection.next > first
    }
}
