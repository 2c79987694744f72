//! Rules that pass the first packets of advised subflows without the controller.

use braid_paths::Path;
use braid_steering::{StreamId, SubflowEnds};

use super::super::confirmations::{Prepared, Waiter};
use super::super::{RequestDeps, Requests};
use crate::command::Commands;
use crate::pipeline::Rule;
use crate::request::Ticket;
use crate::streams::PlaceOn;

impl Requests {
    /// A stream has ended or was never opened: its rules stay for a while.
    pub(in crate::requests) fn stop_expecting(&mut self, on: &RequestDeps<'_>, id: StreamId) {
        if let Some(handshake) = self.advising.expected.remove(&id) {
            self.advising.lingering.push(on.deps.cx.now, handshake);
        }
    }

    /// Removes the rules of streams that ended a while ago, unless the host has opened the same ones again by itself.
    pub(in crate::requests) fn remove_lingering(&mut self, on: &mut RequestDeps<'_>) {
        while let Some(handshake) = self.advising.lingering.pop_due(on.deps.cx.now) {
            let [(_, opened), _] = handshake;
            let again = on.deps.transfers.by_tuple(&opened);
            if again.is_some_and(|stream| self.advising.expected.contains_key(&stream.id)) {
                continue;
            }
            self.advising.ports.remove(&(opened.src, opened.src_port));
            for (at, tuple) in handshake {
                on.deps.cx.delete(at.dpid, Rule::AdvisedHandshake { port: at.port, tuple });
            }
        }
    }

    /// Writes the rules of a stream that a host will open; the switches at both ends confirm them.
    ///
    /// `None` if there is no room for another stream.
    pub(in crate::requests) fn expect(
        &mut self,
        on: &mut RequestDeps<'_>,
        ticket: Ticket,
        ends: SubflowEnds,
        path: &Path,
    ) -> Option<StreamId> {
        let transfer = self.advising.waiting.get(&ticket)?.transfer;
        let tuple = ends.tuple();
        let at = |ip| on.deps.cx.topology.host_with_address(ip).map(|host| host.at);
        let rules = [(at(tuple.src)?, tuple), (at(tuple.dst)?, tuple.reversed())];
        let id = on.deps.transfers.expect(on.deps.cx.now, tuple, transfer).ok()?;
        let mut batch = Commands::default();
        let Some(hops) = on.streams.place(&mut on.deps, id, PlaceOn::Path(path), &mut batch) else {
            self.end_stream(on, id);
            return None;
        };
        self.advising.ports.insert((tuple.src, tuple.src_port));
        self.advising.expected.insert(id, rules);
        for (at, tuple) in rules {
            batch.add(at.dpid, Rule::AdvisedHandshake { port: at.port, tuple });
        }
        if let Some(waiting) = self.advising.waiting.get_mut(&ticket) {
            waiting.unconfirmed.insert(id);
        }
        self.write_and_confirm(on, Waiter::Question(ticket), id, Prepared { hops, batch });
        Some(id)
    }
}
