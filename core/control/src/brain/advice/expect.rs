//! The first packets of streams that hosts were told to open pass without the controller.

use braid_paths::Path;
use braid_steering::{StreamId, SubflowEnds, TransferId};
use braid_types::Time;

use super::super::Brain;
use super::super::confirmations::Waiter;
use crate::command::Commands;
use crate::pipeline::Rule;
use crate::request::Ticket;
use crate::streams::network;

impl Brain {
    /// A stream has ended, or never came.
    pub(in super::super) fn stop_expecting(&mut self, id: StreamId, out: &mut Commands) {
        let Some(rules) = self.advising.expected.remove(&id) else { return };
        let [(_, tuple), _] = rules;
        self.advising.ports.remove(&(tuple.src, tuple.src_port));
        for (at, tuple) in rules {
            self.delete(at.dpid, Rule::Expected { port: at.port, tuple }, out);
        }
    }

    /// Writes the rules of a stream that a host is to open, and has the switches at both ends confirm them.
    ///
    /// `None` if there is no room for one more.
    pub(super) fn expect(
        &mut self,
        now: Time,
        (ticket, transfer): (Ticket, TransferId),
        ends: SubflowEnds,
        path: &Path,
        out: &mut Commands,
    ) -> Option<StreamId> {
        let tuple = ends.tuple();
        let at = |ip| self.topology.host_with_address(ip).map(|host| host.at);
        let rules = [(at(tuple.src)?, tuple), (at(tuple.dst)?, tuple.reversed())];
        let id = self.streams.table_mut().expect(now, tuple, transfer).ok()?;
        let mut batch = Commands::default();
        let Some(hops) = self.streams.assign(&mut network!(self, now, out), id, (path, 0), &mut batch) else {
            self.end_stream(now, id, out);
            return None;
        };
        self.advising.ports.insert((tuple.src, tuple.src_port));
        self.advising.expected.insert(id, rules);
        for (at, tuple) in rules {
            batch.add(at.dpid, Rule::Expected { port: at.port, tuple });
        }
        if let Some(waiting) = self.advising.waiting.get_mut(&ticket) {
            waiting.unconfirmed.insert(id);
        }
        self.write_and_confirm(now, Waiter::Question(ticket), id, (hops, batch), out);
        Some(id)
    }
}
