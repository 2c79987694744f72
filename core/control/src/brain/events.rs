//! What follows as time passes, as the network changes, and from what machines say.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_topology::Change;
use braid_types::{DatapathId, SwitchPort, Time};

use super::{Brain, below, context};
use crate::command::Commands;
use crate::discovery::DiscoveryEvent;
use crate::fabric::{FabricEvent, Owner, Replaces, Withdrawal};
use crate::hosts::{Binding, HostsEvent};
use crate::label::Label;
use crate::notice::{LinkLoss, Notice};
use crate::pipeline::Rule;
use crate::requests::lower;
use crate::restore::restoring;
use crate::streams::network;

impl Brain {
    pub(super) fn tick(&mut self, now: Time, out: &mut Commands) {
        restoring!(self, now, out).handle_timeout();
        self.tick_discovery(now, out);
        self.hosts.handle_timeout(&mut context!(self, now, out), &mut below!(self));
        self.drain_hosts(now, out);
        self.admission.handle_timeout(&mut context!(self, now, out));
        self.fabric.handle_timeout(&mut context!(self, now, out));
        self.drain_fabric(now, out);
        self.reservations.handle_timeout(&context!(self, now, out));
        self.streams.place_again(&mut network!(self, now, out), Replaces::Working);
        self.requests.handle_timeout(&mut lower!(self, now, out));
        self.streams.handle_timeout(&mut network!(self, now, out));
        self.drain_streams(now, out);
        self.broadcast.handle_timeout(&mut context!(self, now, out), &self.discovery);
        self.measurement.handle_timeout(&mut context!(self, now, out));
        if now.since(self.counters_read_at) >= self.settings.counters_interval {
            self.counters_read_at = now;
            self.streams.read_counters(&mut context!(self, now, out).out);
            self.streams.review_spray(&mut network!(self, now, out));
            self.review_labels(now, out);
            self.streams.review(&mut network!(self, now, out));
            self.reservations.learn(&mut context!(self, now, out), self.streams.table());
        }
    }

    /// Brings paths, labels, routes and streams in line with the graph if it has changed.
    ///
    /// What was measured changes no path that is in use, unless paths are chosen by it.
    pub(super) fn follow_graph(&mut self, now: Time, out: &mut Commands) {
        if self.topology.version() == self.paths.graph().version() {
            return;
        }
        self.paths.set_graph(self.topology.graph());
        let structure = self.topology.structure();
        if std::mem::replace(&mut self.followed, structure) != structure {
            self.broadcast.handle_change();
            restoring!(self, now, out).handle_graph();
            self.spray.handle_links(&mut context!(self, now, out), &mut self.fabric);
            self.streams.drain_spray(&mut network!(self, now, out));
            self.fabric.handle_links(&mut context!(self, now, out));
            self.drain_fabric(now, out);
            self.routing.handle_graph(&mut context!(self, now, out), &mut self.fabric);
            self.streams.place_again(&mut network!(self, now, out), Replaces::Nothing);
        } else if self.settings.weight.is_measured() {
            self.routing.handle_graph(&mut context!(self, now, out), &mut self.fabric);
        }
    }

    /// A switch does not take a rule, its table being full perhaps: what needs it does without.
    pub(super) fn on_refused(
        &mut self,
        now: Time,
        dpid: DatapathId,
        rule: Option<Rule>,
        reason: &str,
        out: &mut Commands,
    ) {
        out.notice(Notice::Refused { dpid, reason: reason.to_owned() });
        match rule {
            Some(Rule::Stream { id, .. }) => self.streams.end(&mut network!(self, now, out), id),
            Some(Rule::Route { dst, .. } | Rule::LocalRoute { dst }) => _ = self.routing.forget((dst, dpid)),
            Some(rule) => {
                self.fabric.handle_refused(&mut context!(self, now, out), dpid, &rule);
                self.drain_fabric(now, out);
            }
            None => {}
        }
    }

    /// A switch has done everything before a barrier.
    pub(super) fn on_barrier(&mut self, now: Time, dpid: DatapathId, token: u32, out: &mut Commands) {
        if !self.fabric.handle_barrier(&mut context!(self, now, out), dpid, token) {
            self.requests.handle_barrier(&mut lower!(self, now, out), dpid, token);
        }
        self.drain_fabric(now, out);
    }

    /// Does what follows from what has become of labels and transactions.
    pub(super) fn drain_fabric(&mut self, now: Time, out: &mut Commands) {
        while let Some(event) = self.fabric.poll_event() {
            match event {
                FabricEvent::Ready(Owner::Routing, batch) => {
                    let cx = &mut context!(self, now, out);
                    self.routing.commit(cx, &mut self.fabric, batch);
                }
                FabricEvent::Ready(Owner::Spray, batch) => {
                    self.spray.commit(&mut context!(self, now, out), batch);
                }
                FabricEvent::Ready(Owner::Streams, batch) => {
                    self.streams.commit(&mut network!(self, now, out), batch);
                }
                FabricEvent::Stranded((dpid, frame)) => {
                    if self.topology.switch(dpid).is_some() {
                        self.resume(now, dpid, &frame, out);
                    }
                }
                FabricEvent::Withdrawn(withdrawal) => self.withdraw(now, &withdrawal, out),
                FabricEvent::Bypassed(paths) => self.streams.vacate(&mut network!(self, now, out), &paths),
            }
        }
    }

    /// What takes labels that go takes others, or none. O(streams + routes).
    fn withdraw(&mut self, now: Time, withdrawal: &Withdrawal, out: &mut Commands) {
        self.streams.release(&mut network!(self, now, out), &withdrawal.paths);
        let cx = &mut context!(self, now, out);
        self.routing.withdraw(cx, &withdrawal.labels);
        self.fabric.complete(cx, withdrawal);
    }

    /// Tells those who wait for streams that have ended.
    pub(super) fn drain_streams(&mut self, now: Time, out: &mut Commands) {
        self.requests.drain_streams(&mut lower!(self, now, out));
    }

    /// Looks for labels that nothing uses, called now and then.
    pub(super) fn review_labels(&mut self, now: Time, out: &mut Commands) {
        let pinned = self.pinned_labels();
        self.fabric.review(&context!(self, now, out), pinned);
        self.drain_fabric(now, out);
    }

    /// The labels that something uses beside single streams.
    fn pinned_labels(&self) -> BTreeSet<Label> {
        let set_aside = self.reservations.paths().filter_map(|path| self.fabric.label_of(&path));
        set_aside.chain(self.routing.labels()).chain(self.spray.labels()).collect()
    }

    /// Notes that a host was heard; says whether what it says of itself is to be believed.
    pub(super) fn learn(&mut self, now: Time, host: Binding, out: &mut Commands) -> bool {
        let believed = self.hosts.learn(&mut context!(self, now, out), &mut below!(self), host);
        self.drain_hosts(now, out);
        believed
    }

    /// Holds a packet that entered at `dpid` until `target` is found.
    pub(super) fn look_up(
        &mut self,
        now: Time,
        dpid: DatapathId,
        target: IpAddr,
        frame: &[u8],
        out: &mut Commands,
    ) {
        self.hosts.look_up(&mut context!(self, now, out), &below!(self), (dpid, target), frame);
    }

    /// Does what follows from what was learned of hosts.
    pub(super) fn drain_hosts(&mut self, now: Time, out: &mut Commands) {
        while let Some(event) = self.hosts.poll_event() {
            match event {
                HostsEvent::Changed(changes) => self.follow(now, &changes, LinkLoss::Port, out),
                HostsEvent::Found { dpid, frame } => self.resume(now, dpid, &frame, out),
            }
        }
    }

    /// Draws the consequences of changes of the topology; `why` is for the links among them.
    pub(super) fn follow(&mut self, now: Time, changes: &[Change], why: LinkLoss, out: &mut Commands) {
        for change in changes {
            self.hosts.handle_change(&mut context!(self, now, out), change);
            match change {
                Change::LinkAdded { link, .. } => {
                    self.streams.handle_link_up();
                    out.notice(Notice::LinkUp { src: link.src, dst: link.dst });
                }
                Change::LinkRemoved { link } => {
                    out.notice(Notice::LinkDown { src: link.src, dst: link.dst, why });
                }
                Change::HostAdded { at, .. } => self.discovery.handle_host_seen(*at),
                Change::HostMoved { mac, from, to } => {
                    self.discovery.handle_host_seen(*to);
                    let addresses = self.topology.host(*mac).map(|host| host.addresses.clone());
                    self.move_addresses(now, &addresses.unwrap_or_default(), (*from, *to), out);
                }
                Change::HostRemoved { host } => {
                    host.addresses.iter().for_each(|address| self.reroute_to(now, *address, out));
                }
                Change::AddressMoved { address, .. } => {
                    self.streams.release_address(&mut network!(self, now, out), *address);
                    self.reroute_to(now, *address, out);
                    self.streams.place_again(&mut network!(self, now, out), Replaces::Nothing);
                }
                Change::AddressAdded { address, .. } | Change::AddressRemoved { address, .. } => {
                    self.reroute_to(now, *address, out);
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

    fn reroute_to(&mut self, now: Time, dst: IpAddr, out: &mut Commands) {
        self.routing.reroute_to(&mut context!(self, now, out), &mut self.fabric, dst);
    }

    /// What leads to a host that has moved leads there again.
    fn move_addresses(
        &mut self,
        now: Time,
        addresses: &[IpAddr],
        (from, to): (SwitchPort, SwitchPort),
        out: &mut Commands,
    ) {
        for dst in addresses {
            self.reroute_to(now, *dst, out);
            if from.dpid != to.dpid {
                self.streams.release_address(&mut network!(self, now, out), *dst);
            }
        }
        self.streams.place_again(&mut network!(self, now, out), Replaces::Nothing);
    }

    pub(super) fn tick_discovery(&mut self, now: Time, out: &mut Commands) {
        self.discovery.handle_timeout(&mut context!(self, now, out));
        self.drain_discovery(now, out);
    }

    /// Does what follows from what was discovered.
    pub(super) fn drain_discovery(&mut self, now: Time, out: &mut Commands) {
        while let Some(event) = self.discovery.poll_event() {
            match event {
                DiscoveryEvent::Changed { changes, why } => self.follow(now, &changes, why, out),
                DiscoveryEvent::RoleChanged { at, role } => self.on_role(now, at, role, out),
                DiscoveryEvent::Threat { at, threat } => {
                    self.admission.raise(&mut context!(self, now, out), at, threat);
                }
            }
        }
    }
}
