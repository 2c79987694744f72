//! Teardown of recognised streams, whose end is known only from FIN or RST.

use std::collections::BTreeMap;

use braid_assign::AssignmentId;
use braid_packet::TcpFlags;
use braid_steering::{Group, Opening, StreamId};
use braid_types::{FiveTuple, SwitchPort};

use super::{StreamDeps, Streams};
use crate::command::Commands;
use crate::pipeline::Rule;

/// Streams whose FIN and RST packets are copied to the controller.
#[derive(Debug, Default)]
pub(crate) struct Teardowns {
    watched: BTreeMap<StreamId, Watched>,
}

/// Both directions of a stream, forward first.
#[derive(Debug)]
struct Watched {
    ends: [(SwitchPort, FiveTuple); 2],
    has_finished: [bool; 2],
}

impl Streams {
    /// Adds the rules that copy FIN and RST to `batch`, if the stream was recognised.
    pub(super) fn watch_teardown(&mut self, deps: &mut StreamDeps<'_>, id: StreamId, batch: &mut Commands) {
        let Some(stream) = deps.transfers.stream(id) else { return };
        let Opening::Parallel(Group::Announced(assignment)) = stream.opening else { return };
        if !deps.reservations.is_inferred(AssignmentId(assignment))
            || self.teardowns.watched.contains_key(&id)
        {
            return;
        }
        let tuple = stream.tuple;
        let at = |ip| deps.cx.topology.host_with_address(ip).map(|host| host.at);
        let Some(ends) = at(tuple.src).zip(at(tuple.dst)) else { return };
        let ends = [(ends.0, tuple), (ends.1, tuple.reversed())];
        for (at, rule) in ends.into_iter().flat_map(|(at, tuple)| rules(at, tuple)) {
            batch.add(at.dpid, rule);
        }
        self.teardowns.watched.insert(id, Watched { ends, has_finished: [false; 2] });
    }

    /// Removes those rules when a stream has ended for any reason.
    pub(super) fn stop_watching(&mut self, deps: &mut StreamDeps<'_>, id: StreamId) {
        let Some(Watched { ends, .. }) = self.teardowns.watched.remove(&id) else { return };
        for (at, rule) in ends.into_iter().flat_map(|(at, tuple)| rules(at, tuple)) {
            deps.cx.delete(at.dpid, rule);
        }
    }

    /// Handles a copy of a FIN or RST.
    pub(super) fn handle_teardown(&mut self, deps: &mut StreamDeps<'_>, tuple: &FiveTuple, flags: TcpFlags) {
        if flags.contains(TcpFlags::RST) {
            self.on_reset(deps, tuple);
        }
        let reverse = deps.transfers.by_tuple(tuple).is_none();
        let known =
            if reverse { deps.transfers.by_tuple(&tuple.reversed()) } else { deps.transfers.by_tuple(tuple) };
        let Some(id) = known.map(|stream| stream.id) else { return };
        let Some(watched) = self.teardowns.watched.get_mut(&id) else { return };
        watched.has_finished[usize::from(reverse)] = true;
        if flags.contains(TcpFlags::RST) || watched.has_finished == [true; 2] {
            self.end(deps, id);
        }
    }
}

/// Whether a packet from a host ends a stream or one direction of it.
pub(super) fn is_teardown(flags: TcpFlags) -> bool {
    let ends = flags.contains(TcpFlags::FIN) || flags.contains(TcpFlags::RST);
    ends && !flags.contains(TcpFlags::SYN)
}

fn rules(at: SwitchPort, tuple: FiveTuple) -> [(SwitchPort, Rule); 2] {
    [false, true].map(|reset| (at, Rule::TeardownCopy { port: at.port, tuple, reset }))
}
