//! TCP streams that are there: their rules, what these have counted, and how they end.

use std::collections::BTreeSet;

use braid_steering::{Ended, Group, Opening, Route, Stream, StreamId};
use braid_types::{DatapathId, FiveTuple, Time};

use super::Brain;
use crate::command::{Command, Commands};
use crate::cookie::{Cookie, Purpose};
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};

impl Brain {
    pub(super) fn on_flow_removed(&mut self, now: Time, cookie: Cookie, bytes: u64, out: &mut Commands) {
        if let Some(Purpose::Stream { id, reverse }) = cookie.purpose() {
            self.streams.set_bytes(now, id, reverse, bytes);
            self.end_stream(id, out);
        }
    }

    pub(super) fn on_counters(&mut self, now: Time, rules: &[(Cookie, u64)]) {
        for (cookie, bytes) in rules {
            if let Some(Purpose::Stream { id, reverse }) = cookie.purpose() {
                self.streams.set_bytes(now, id, reverse, *bytes);
            }
        }
    }

    /// Asks the switches with stream rules for their counters.
    pub(super) fn read_counters(&mut self, out: &mut Commands) {
        let routes = self.streams.streams().filter_map(|stream| stream.route.as_ref());
        let edges = routes.flat_map(|route| [route.forward.ingress(), route.reverse.ingress()]);
        let edges: BTreeSet<_> = edges.collect();
        for dpid in edges {
            out.push(Command::ReadStreams { dpid });
        }
    }

    pub(super) fn switches_of(&self, tuple: &FiveTuple) -> Option<(DatapathId, DatapathId)> {
        let at = |ip| self.topology.host_with_address(ip).map(|host| host.at.dpid);
        Some((at(tuple.src)?, at(tuple.dst)?))
    }

    pub(super) fn hops_of(&self, route: &Route) -> Option<[Hop; 2]> {
        Some([self.fabric.hop(&route.forward)?, self.fabric.hop(&route.reverse)?])
    }

    /// Where a direction of a stream enters its path, and how.
    pub(super) fn stream_hop(&self, id: StreamId, reverse: bool) -> Option<(DatapathId, Hop)> {
        if self.spray.has(id) {
            return self.spray.hop(id, reverse);
        }
        let route = self.streams.stream(id)?.route.as_ref()?;
        let [forward, back] = self.hops_of(route)?;
        Some(if reverse { (route.reverse.ingress(), back) } else { (route.forward.ingress(), forward) })
    }

    /// The rule of one direction of a stream as it is wanted now; `None` if there is no such stream or it has no path.
    pub fn stream_rule(&self, id: StreamId, reverse: bool) -> Option<Rule> {
        let (_, hop) = self.stream_hop(id, reverse)?;
        let stream = self.streams.stream(id)?;
        let tuple = if reverse { stream.tuple.reversed() } else { stream.tuple };
        Some(Rule::Stream { id, reverse, tuple, hop })
    }

    pub(super) fn end_stream(&mut self, id: StreamId, out: &mut Commands) {
        self.remove_rules(id, out);
        self.stop_expecting(id, out);
        self.stop_watching(id, out);
        self.stop_confirming(id, out);
        self.placements.values_mut().for_each(|placement| placement.ended(id));
        self.fabric.set_lease(id, [None; 2]);
        let Some(Ended { stream, transfer_ended }) = self.streams.end(id) else { return };
        self.reservations.handle_ended(&stream);
        out.notice(Notice::StreamEnded { id, bytes: stream.bytes.iter().sum() });
        if transfer_ended {
            out.notice(Notice::TransferEnded { id: stream.transfer });
        }
    }

    /// Notes the way of a stream, and that it uses its labels; those of sprayed streams are used by their groups.
    pub(super) fn set_route(&mut self, id: StreamId, route: Option<Route>) {
        let single = route.as_ref().filter(|_| !self.spray.has(id));
        let labels = |route: &Route| [&route.forward, &route.reverse].map(|path| self.fabric.label_of(path));
        let lease = single.map(labels).unwrap_or_default();
        self.fabric.set_lease(id, lease);
        self.streams.set_route(id, route);
    }

    pub(super) fn remove_rules(&mut self, id: StreamId, out: &mut Commands) {
        self.spray.leave(&self.topology, id, out);
        let Some((stream, route)) = self.streams.stream(id).and_then(|s| Some((s, s.route.as_ref()?))) else {
            return;
        };
        for (path, reverse) in [(&route.forward, false), (&route.reverse, true)] {
            let tuple = if reverse { stream.tuple.reversed() } else { stream.tuple };
            // The hop does not count in a deletion, and its label may be gone already.
            let hop = Hop::NOWHERE;
            self.delete(path.ingress(), Rule::Stream { id, reverse, tuple, hop }, out);
        }
    }
}

/// Whether a stream was known before its first packet.
pub(super) const fn is_announced(stream: &Stream) -> bool {
    matches!(stream.opening, Opening::Parallel(Group::Announced(_)))
}
