//! Rules of established TCP streams, and requests for their counters.

use std::collections::BTreeSet;

use braid_steering::{Ended, Group, Opening, Route, Stream, StreamId, Transfers};
use braid_topology::Topology;
use braid_types::{DatapathId, FiveTuple, SwitchPair};

use super::{Network, StreamEvent, Streams};
use crate::command::Command;
use crate::cookie::{Cookie, Purpose};
use crate::fabric::Fabric;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};
use crate::spray::Spray;

impl Streams {
    pub(crate) fn handle_flow_removed(&mut self, net: &mut Network<'_>, cookie: Cookie, bytes: u64) {
        if let Some(Purpose::Stream { id, reverse }) = cookie.purpose() {
            net.transfers.set_bytes(net.cx.now, id, reverse, bytes);
            self.end(net, id);
        }
    }

    pub(crate) fn handle_counters(&mut self, net: &mut Network<'_>, rules: &[(Cookie, u64)]) {
        for (cookie, bytes) in rules {
            if let Some(Purpose::Stream { id, reverse }) = cookie.purpose() {
                net.transfers.set_bytes(net.cx.now, id, reverse, *bytes);
            }
        }
    }

    pub(crate) fn end(&mut self, net: &mut Network<'_>, id: StreamId) {
        self.remove_rules(net, id);
        self.stop_watching(net, id);
        self.events.push_back(StreamEvent::Ended(id));
        self.placements.values_mut().for_each(|placement| placement.ended(id));
        net.fabric.set_lease(id, [None; 2]);
        let Some(Ended { stream, transfer_ended }) = net.transfers.end(id) else { return };
        net.reservations.handle_ended(&stream);
        net.cx.out.notice(Notice::StreamEnded { id, bytes: stream.bytes.iter().sum() });
        if transfer_ended {
            net.cx.out.notice(Notice::TransferEnded { id: stream.transfer });
        }
    }

    /// Sets the route of a stream and leases its labels. Labels of sprayed streams belong to their groups
    /// instead.
    pub(crate) fn set_route(&mut self, net: &mut Network<'_>, id: StreamId, route: Option<Route>) {
        let single = route.as_ref().filter(|_| net.spray.stream(id).is_none());
        let labels =
            |route: &Route| [&route.forward, &route.reverse].map(|path| net.fabric.labels().of(path));
        let lease = single.map(labels).unwrap_or_default();
        net.fabric.set_lease(id, lease);
        net.transfers.set_route(id, route);
    }

    pub(super) fn remove_rules(&mut self, net: &mut Network<'_>, id: StreamId) {
        net.spray.leave(&mut net.cx, id);
        let Some((stream, route)) = net.transfers.stream(id).and_then(|s| Some((s, s.route.as_ref()?)))
        else {
            return;
        };
        for (path, reverse) in [(&route.forward, false), (&route.reverse, true)] {
            let tuple = if reverse { stream.tuple.reversed() } else { stream.tuple };
            // A deletion ignores the hop, and its label may be removed already.
            let hop = Hop::NOWHERE;
            net.cx.delete(path.ingress(), Rule::Stream { id, reverse, tuple, hop });
        }
    }
}

/// Requests the counters of all switches with stream rules.
pub(super) fn read_counters(net: &mut Network<'_>) {
    let routes = net.transfers.streams().filter_map(|stream| stream.route.as_ref());
    let edges = routes.flat_map(|route| [route.forward.ingress(), route.reverse.ingress()]);
    let edges: BTreeSet<_> = edges.collect();
    for dpid in edges {
        net.cx.out.push(Command::ReadStreams { dpid });
    }
}

/// The tables and machines that determine the rules of streams.
#[derive(Clone, Copy)]
pub(crate) struct RuleSources<'a> {
    pub(crate) transfers: &'a Transfers,
    pub(crate) fabric: &'a Fabric,
    pub(crate) spray: &'a Spray,
}

impl RuleSources<'_> {
    /// The switch and hop where a direction of a stream enters its path.
    pub(super) fn hop(self, id: StreamId, reverse: bool) -> Option<(DatapathId, Hop)> {
        if let Some(bundles) = self.spray.stream(id) {
            return Some(bundles.hop(reverse));
        }
        let route = self.transfers.stream(id)?.route.as_ref()?;
        let [forward, back] = hops_of(self.fabric, route)?;
        Some(if reverse { (route.reverse.ingress(), back) } else { (route.forward.ingress(), forward) })
    }

    /// The wanted rule of one direction of a stream; `None` if the stream does not exist or has no path.
    pub(crate) fn rule(self, id: StreamId, reverse: bool) -> Option<Rule> {
        let (_, hop) = self.hop(id, reverse)?;
        let stream = self.transfers.stream(id)?;
        let tuple = if reverse { stream.tuple.reversed() } else { stream.tuple };
        Some(Rule::Stream { id, reverse, tuple, hop })
    }
}

/// The switches of a connection's hosts.
pub(crate) fn switches_of(topology: &Topology, tuple: &FiveTuple) -> Option<SwitchPair> {
    let at = |ip| topology.host_with_address(ip).map(|host| host.at.dpid);
    Some(SwitchPair::new(at(tuple.src)?, at(tuple.dst)?))
}

pub(super) fn hops_of(fabric: &Fabric, route: &Route) -> Option<[Hop; 2]> {
    Some([fabric.hop(&route.forward)?, fabric.hop(&route.reverse)?])
}

/// Whether a stream was announced before its first packet.
pub(super) const fn is_announced(stream: &Stream) -> bool {
    matches!(stream.opening, Opening::Parallel(Group::Announced(_)))
}
