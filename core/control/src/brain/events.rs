//! Effects of time, of network changes, and of the events that machines report.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_topology::Change;
use braid_types::{DatapathId, SwitchPort};

use super::dispatch::{Dispatch, context, host_deps, reconciliation, request_deps, stream_deps};
use crate::barrier::Barrier;
use crate::command::HeldPacket;
use crate::discovery::DiscoveryEvent;
use crate::fabric::{FabricChange, FabricEvent, Owner, RuleAnswer, Withdrawal};
use crate::health::HealthEvent;
use crate::hosts::{Binding, HostsEvent};
use crate::notice::{LinkLoss, Notice};
use crate::pipeline::Rule;
use crate::reservations::ReservationDeps;
use crate::routing::{RouteKey, RoutingChange};
use crate::streams::NetworkChange;
use crate::threat::Threat;

impl Dispatch<'_> {
    pub(super) fn tick(&mut self) {
        // Reconciliation compares rules with the present links.
        if self.brain.installed.is_settling() && self.brain.follow_at().is_some() {
            self.follow_now();
        }
        reconciliation!(self).handle_timeout();
        if self.brain.memory.expire(self.now) {
            self.brain.transfers.remember([]);
        }
        let probed = self.tick_discovery();
        self.brain.hosts.handle_timeout(&mut host_deps!(self));
        self.drain_hosts();
        self.brain.admission.handle_timeout(&mut context!(self));
        self.brain.fabric.handle_timeout(&mut context!(self));
        self.drain_fabric();
        let below = ReservationDeps { fabric: &mut self.brain.fabric, streams: &self.brain.transfers };
        self.brain.reservations.handle_timeout(&mut context!(self), below);
        self.brain.broadcast.handle_timeout(&mut context!(self), &self.brain.discovery);
        self.brain.measurement.handle_timeout(&mut context!(self), &probed);
        self.brain.health.handle_timeout(&mut context!(self), &mut self.brain.measurement);
        self.brain.streams.handle_timeout(&mut stream_deps!(self));
        self.brain.requests.handle_timeout(&mut request_deps!(self));
        self.drain_streams();
        if self.now.since(self.brain.labels_reviewed_at) >= self.brain.settings.counters_interval {
            self.brain.labels_reviewed_at = self.now;
            self.review_labels();
        }
    }

    /// Brings paths, labels, routes and streams in line with the graph if it has changed. In large networks,
    /// changes are collected for a while.
    ///
    /// New measurements move no path in use. Only default paths follow them, where the path weight is
    /// measured.
    pub(super) fn follow_graph(&mut self) {
        if self.brain.follow_at().is_none_or(|at| at > self.now) {
            return;
        }
        self.follow_now();
    }

    pub(super) fn follow_now(&mut self) {
        let links = self.brain.topology.links().len();
        self.brain.counters.graph_updates += 1;
        if std::mem::take(&mut self.brain.has_losses) {
            self.brain.losses.note_done(self.now, links);
        }
        self.brain.growth.note_done(self.now, links);
        let has_degraded = std::mem::take(&mut self.brain.has_degraded);
        let has_growth = std::mem::take(&mut self.brain.has_growth);
        self.brain.paths.set_graph(self.brain.topology.graph());
        let structure = self.brain.topology.structure();
        if std::mem::replace(&mut self.brain.followed, structure) != structure {
            self.brain.broadcast.handle_change();
            reconciliation!(self).handle_graph();
            self.brain.streams.handle_change(&mut stream_deps!(self), NetworkChange::Links);
            self.brain.fabric.handle_change(&mut context!(self), FabricChange::Links);
            self.drain_fabric();
            self.follow_routes(self.graph_change(has_growth || has_degraded));
            self.brain.streams.handle_change(&mut stream_deps!(self), NetworkChange::Settled);
        } else if has_degraded || self.brain.settings.weight.is_measured() {
            self.follow_routes(RoutingChange::Graph);
        }
        if has_degraded {
            self.brain.broadcast.handle_change();
            self.brain.fabric.handle_change(&mut context!(self), FabricChange::Links);
            self.brain.streams.handle_change(&mut stream_deps!(self), NetworkChange::Degraded);
        }
    }

    /// Where links were only lost, default paths over other links stay.
    fn graph_change(&self, has_growth: bool) -> RoutingChange<'static> {
        let any =
            has_growth || self.brain.settings.weight.is_measured() || self.brain.installed.is_settling();
        if any { RoutingChange::Graph } else { RoutingChange::Losses }
    }

    pub(super) fn follow_routes(&mut self, change: RoutingChange<'_>) {
        self.brain.routing.handle_change(&mut context!(self), &mut self.brain.fabric, change);
    }

    /// A switch has refused a rule, perhaps because its table is full. Users of the rule continue without it.
    pub(super) fn on_refused(&mut self, dpid: DatapathId, rule: Option<Rule>, reason: &str) {
        self.out.notice(Notice::Refused { dpid, reason: reason.to_owned() });
        match rule {
            Some(Rule::Stream { id, .. }) => self.brain.streams.end(&mut stream_deps!(self), id),
            Some(rule @ (Rule::Route { dst, .. } | Rule::LocalRoute { dst })) => {
                self.follow_routes(RoutingChange::Refused(RouteKey { dst, dpid }, &rule));
            }
            Some(rule) => {
                let refused = RuleAnswer::Refused { dpid, rule: &rule };
                self.brain.fabric.handle_answer(&mut context!(self), refused);
                self.drain_fabric();
            }
            None => {}
        }
    }

    /// A switch has processed every message before a barrier.
    pub(super) fn on_barrier(&mut self, barrier: Barrier) {
        let answer = RuleAnswer::Barrier(barrier);
        if !self.brain.fabric.handle_answer(&mut context!(self), answer) {
            self.brain.requests.handle_barrier(&mut request_deps!(self), barrier);
        }
        self.drain_fabric();
    }

    /// Handles the fabric's reports about labels and transactions.
    pub(super) fn drain_fabric(&mut self) {
        while let Some(event) = self.brain.fabric.poll_event() {
            self.on_fabric(event);
        }
    }

    fn on_fabric(&mut self, event: FabricEvent) {
        match event {
            FabricEvent::Ready(Owner::Routing, batch) => {
                let cx = &mut context!(self);
                self.brain.routing.commit(cx, &mut self.brain.fabric, batch);
            }
            FabricEvent::Ready(Owner::Spray, batch) => {
                self.brain.spray.commit(&mut context!(self), batch);
            }
            FabricEvent::Ready(Owner::Streams, batch) => {
                self.brain.streams.commit(&mut stream_deps!(self), batch);
            }
            FabricEvent::Stranded(HeldPacket { dpid, frame }) => {
                if self.brain.topology.switch(dpid).is_some() {
                    self.resume(dpid, &frame);
                }
            }
            FabricEvent::Withdrawn(withdrawal) => self.withdraw(&withdrawal),
            FabricEvent::Bypassed { labels, paths } => {
                self.follow_routes(RoutingChange::Bypassed(labels));
                self.brain.streams.handle_change(&mut stream_deps!(self), NetworkChange::Bypassed(&paths));
            }
        }
    }

    /// Moves users of withdrawn labels to other labels, or to none. O(streams + routes).
    fn withdraw(&mut self, withdrawal: &Withdrawal) {
        let gone = NetworkChange::Withdrawn(&withdrawal.paths);
        self.brain.streams.handle_change(&mut stream_deps!(self), gone);
        let cx = &mut context!(self);
        self.brain.routing.withdraw(cx, &mut self.brain.fabric, &withdrawal.labels);
        self.brain.fabric.handle_change(cx, FabricChange::Vacated(withdrawal));
    }

    /// Handles the reports of `streams`.
    pub(super) fn drain_streams(&mut self) {
        while let Some(event) = self.brain.streams.poll_event() {
            self.brain.requests.handle_stream(&mut request_deps!(self), event);
        }
    }

    /// Removes groups and labels that nothing uses. Called periodically.
    fn review_labels(&mut self) {
        self.follow_routes(RoutingChange::Reviewed);
        self.brain.fabric.handle_change(&mut context!(self), FabricChange::Reviewed);
        self.drain_fabric();
    }

    /// Learns a host's addresses and port. Returns whether they were accepted.
    pub(super) fn learn(&mut self, host: Binding) -> bool {
        let believed = self.brain.hosts.learn(&mut host_deps!(self), host);
        self.drain_hosts();
        believed
    }

    /// Holds a packet that entered at `dpid` until `target` is found.
    pub(super) fn look_up(&mut self, dpid: DatapathId, target: IpAddr, frame: &[u8]) {
        self.brain.hosts.look_up(&mut host_deps!(self), dpid, target, frame);
    }

    /// Handles the reports of `hosts`.
    pub(super) fn drain_hosts(&mut self) {
        while let Some(event) = self.brain.hosts.poll_event() {
            match event {
                HostsEvent::Changed(changes) => self.follow(&changes, LinkLoss::Port),
                HostsEvent::Found(HeldPacket { dpid, frame }) => self.resume(dpid, &frame),
                HostsEvent::ForAll { from, frame } => {
                    self.brain.broadcast.flood(&mut context!(self), &self.brain.discovery, from, &frame);
                }
            }
        }
    }

    /// Applies changes of the topology. `why` is the cause of the links lost among them.
    pub(super) fn follow(&mut self, changes: &[Change], why: LinkLoss) {
        for change in changes {
            self.brain.publisher.handle_change(&self.brain.topology, change);
            match change {
                Change::LinkAdded { link, .. } => {
                    self.brain.has_growth = true;
                    let known = self.brain.memory.take_link(link);
                    self.brain.measurement.recall(&mut context!(self), known);
                    self.brain.health.handle_link_up(&mut context!(self), *link, known);
                    self.drain_health();
                    self.brain.streams.handle_change(&mut stream_deps!(self), NetworkChange::LinkUp);
                    self.out.notice(Notice::LinkUp { src: link.src, dst: link.dst });
                }
                Change::LinkRemoved { link } => {
                    self.brain.has_losses = true;
                    self.brain.counters.links_lost += 1;
                    self.out.notice(Notice::LinkDown { src: link.src, dst: link.dst, why });
                }
                Change::HostAdded { at, .. } => self.brain.discovery.handle_host_seen(*at),
                Change::HostMoved { mac, from, to } => {
                    self.brain.discovery.handle_host_seen(*to);
                    let addresses = self.brain.topology.host(*mac).map(|host| host.addresses.clone());
                    self.move_addresses(&addresses.unwrap_or_default(), *from, *to);
                }
                Change::HostRemoved { host } => {
                    host.addresses.iter().for_each(|address| self.reroute_to(*address));
                }
                Change::AddressMoved { address, .. } => {
                    self.brain
                        .streams
                        .handle_change(&mut stream_deps!(self), NetworkChange::AddressMoved(*address));
                    self.reroute_to(*address);
                    self.brain.streams.handle_change(&mut stream_deps!(self), NetworkChange::Settled);
                }
                Change::AddressAdded { address, .. } | Change::AddressRemoved { address, .. } => {
                    self.reroute_to(*address);
                }
                Change::SwitchAdded { .. }
                | Change::SwitchRemoved { .. }
                | Change::PortAdded { .. }
                | Change::PortChanged { .. }
                | Change::PortRemoved { .. }
                | Change::LinkChanged { .. } => {}
            }
        }
    }

    fn reroute_to(&mut self, dst: IpAddr) {
        self.brain.routing.reroute_to(&mut context!(self), &mut self.brain.fabric, dst);
    }

    /// Reroutes traffic to a host that has moved.
    fn move_addresses(&mut self, addresses: &[IpAddr], from: SwitchPort, to: SwitchPort) {
        for dst in addresses {
            self.reroute_to(*dst);
            if from.dpid != to.dpid {
                self.brain.streams.handle_change(&mut stream_deps!(self), NetworkChange::AddressMoved(*dst));
            }
        }
        self.brain.streams.handle_change(&mut stream_deps!(self), NetworkChange::Settled);
    }

    /// Returns the switches to which one more frame costs no write.
    pub(super) fn tick_discovery(&mut self) -> BTreeSet<DatapathId> {
        let probed = self.brain.discovery.handle_timeout(&mut context!(self));
        self.drain_discovery();
        probed
    }

    /// Handles the reports of `health`. Paths follow with the graph.
    pub(super) fn drain_health(&mut self) {
        while let Some(event) = self.brain.health.poll_event() {
            self.brain.has_degraded = true;
            match event {
                HealthEvent::Degraded { link, evidence } => {
                    let threat = Threat::LossyLink { to: link.dst, evidence };
                    self.brain.admission.raise(&mut context!(self), link.src, threat);
                }
                HealthEvent::Recovered { link, evidence } => {
                    self.out.notice(Notice::LinkRecovered { src: link.src, dst: link.dst, evidence });
                }
            }
        }
    }

    /// Handles the reports of `discovery`.
    pub(super) fn drain_discovery(&mut self) {
        while let Some(event) = self.brain.discovery.poll_event() {
            match event {
                DiscoveryEvent::Changed { changes, why } => {
                    for change in &changes {
                        self.brain.hosts.handle_change(&mut context!(self), change);
                    }
                    self.follow(&changes, why);
                }
                DiscoveryEvent::RoleChanged { at, role } => self.on_role(at, role),
                DiscoveryEvent::Threat { at, threat } => {
                    self.brain.admission.raise(&mut context!(self), at, threat);
                }
            }
        }
    }
}
