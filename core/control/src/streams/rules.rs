//! Rules of established TCP streams, and requests for their counters.

use std::collections::BTreeSet;

use braid_paths::Path;
use braid_steering::{Ended, Group, Opening, Route, Stream, StreamId, Transfers};
use braid_topology::Topology;
use braid_types::{DatapathId, FiveTuple, SwitchPair};

use super::{StreamDeps, StreamEvent, Streams};
use crate::command::Command;
use crate::cookie::{Cookie, Purpose};
use crate::fabric::{Fabric, LabelOwner, LeaseChange, LeasedLabels};
use crate::label::Label;
use crate::notice::Notice;
use crate::pipeline::{Hop, Rule};
use crate::spray::Spray;

/// The byte counts of rules.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counted<'a> {
    /// Of rules in use.
    Running(&'a [(Cookie, u64)]),
    /// The final count of a rule that its switch has removed: the stream has ended.
    Removed(&'a (Cookie, u64)),
}

impl Streams {
    /// Switches have counted the bytes of streams.
    pub(crate) fn handle_counters(&mut self, deps: &mut StreamDeps<'_>, counted: Counted<'_>) {
        let (rules, has_ended) = match counted {
            Counted::Running(rules) => (rules, false),
            Counted::Removed(rule) => (std::slice::from_ref(rule), true),
        };
        for (cookie, bytes) in rules {
            let Some(Purpose::Stream { id, reverse }) = cookie.purpose() else { continue };
            deps.transfers.set_bytes(deps.cx.now, id, reverse, *bytes);
            if has_ended {
                self.end(deps, id);
            }
        }
    }

    /// Ends a stream and removes its rules.
    pub(crate) fn end(&mut self, deps: &mut StreamDeps<'_>, id: StreamId) {
        self.remove_rules(deps, id);
        self.stop_watching(deps, id);
        self.events.push_back(StreamEvent::Ended(id));
        deps.placer.handle_ended(id);
        self.lease(deps, id, [None; 2]);
        let Some(Ended { stream, transfer_ended }) = deps.transfers.end(id) else { return };
        deps.reservations.handle_ended(&stream);
        deps.cx.out.notice(Notice::StreamEnded { id, bytes: stream.bytes.iter().sum() });
        if transfer_ended {
            deps.cx.out.notice(Notice::TransferEnded { id: stream.transfer });
        }
    }

    /// Sets the route of a stream and leases its labels. Labels of sprayed streams belong to their groups
    /// instead.
    pub(crate) fn set_route(&mut self, deps: &mut StreamDeps<'_>, id: StreamId, route: Option<Route>) {
        let single = route.as_ref().filter(|_| deps.spray.stream(id).is_none());
        let label = |path: &Path| deps.fabric.hop(path).map(|hop| hop.label);
        let labels = |route: &Route| [label(&route.forward), label(&route.reverse)];
        let lease = single.map(labels).unwrap_or_default();
        self.lease(deps, id, lease);
        deps.transfers.set_route(id, route);
    }

    /// Sets the route of a stream that enters it by these hops, forward first.
    pub(super) fn set_route_by(
        &mut self,
        deps: &mut StreamDeps<'_>,
        id: StreamId,
        route: Route,
        hops: [Hop; 2],
    ) {
        if deps.spray.stream(id).is_some() {
            return self.set_route(deps, id, Some(route));
        }
        self.lease(deps, id, hops.map(|hop| Some(hop.label)));
        deps.transfers.set_route(id, Some(route));
    }

    /// Replaces the labels that a stream leases.
    fn lease(&mut self, deps: &mut StreamDeps<'_>, id: StreamId, labels: [Option<Label>; 2]) {
        let before = match labels {
            [None, None] => self.leases.remove(id),
            _ => self.leases.insert(id, labels),
        };
        let [before, after] = [before.unwrap_or_default(), labels]
            .map(|both| both.into_iter().flatten().collect::<LeasedLabels>());
        let owner = LabelOwner::Streams;
        deps.fabric.handle_lease(LeaseChange::Labels { owner, before: &before, after: &after });
    }

    pub(super) fn remove_rules(&mut self, deps: &mut StreamDeps<'_>, id: StreamId) {
        self.unwritten.remove(&id);
        deps.spray.leave(&mut deps.cx, id);
        let Some((stream, route)) = deps.transfers.stream(id).and_then(|s| Some((s, s.route.as_ref()?)))
        else {
            return;
        };
        for (path, reverse) in [(&route.forward, false), (&route.reverse, true)] {
            let tuple = if reverse { stream.tuple.reversed() } else { stream.tuple };
            // A deletion ignores the hop, and its label may be removed already.
            let hop = Hop::ANY;
            deps.cx.delete(path.ingress(), Rule::Stream { id, reverse, tuple, hop });
        }
    }
}

/// Requests the counters of all switches with stream rules.
pub(super) fn read_counters(deps: &mut StreamDeps<'_>) {
    let routes = deps.transfers.streams().filter_map(|stream| stream.route.as_ref());
    let edges = routes.flat_map(|route| [route.forward.ingress(), route.reverse.ingress()]);
    let edges: BTreeSet<_> = edges.collect();
    for dpid in edges {
        deps.cx.out.push(Command::ReadStreams { dpid });
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

/// Whether one end of a stream sends these packets.
pub(super) fn is_known(streams: &Transfers, tuple: &FiveTuple) -> bool {
    streams.by_tuple(tuple).is_some() || streams.by_tuple(&tuple.reversed()).is_some()
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
