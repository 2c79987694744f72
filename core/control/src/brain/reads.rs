//! Read access to the brain's state.
//!
//! Lists can be read from the start or from after any item, so a long list can be copied in pieces between
//! events. Items that follow a given item keep their order, whatever is added or removed meanwhile.

use std::net::IpAddr;
use std::sync::Arc;

use braid_assign::AssignmentId;
use braid_paths::{Path, Snapshot};
use braid_steering::{Changed, Policies, StreamId, TransferId};
use braid_topology::{Host, Port, Switch};
use braid_types::{DatapathId, MacAddr, SwitchPort, Time};

use super::{Brain, prefetch};
use crate::admission::{Alarm, AlarmKey};
use crate::counters::{Counters, Sizes};
use crate::facts::{FactChange, FactSources};
use crate::label::{Label, MEMBERS};
use crate::pipeline::Rule;
use crate::request::AssignmentView;
use crate::reservations::Sources;
use crate::routing::RouteKey;
use crate::settings::Settings;
use crate::streams::RuleSources;
use crate::view::{
    DegradedView, EdgeList, EdgeView, HostView, LinkView, PortView, RuleMeanings, RuleNumbers, SwitchView,
    TransferRecord, TransferView, link_view,
};

impl Brain {
    /// The brain's settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Counts since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The policies in force.
    pub fn policies(&self) -> &Arc<Policies> {
        &self.policies
    }

    /// The wanted rule of one direction of a stream; `None` if the stream does not exist or has no path.
    pub fn stream_rule(&self, id: StreamId, reverse: bool) -> Option<Rule> {
        let Self { transfers, fabric, spray, .. } = self;
        RuleSources { transfers, fabric, spray }.rule(id, reverse)
    }

    /// The wanted rule of a default path; `None` if there is none.
    pub fn route_rule(&self, dst: IpAddr, dpid: DatapathId) -> Option<Rule> {
        self.routing.rule(RouteKey { dst, dpid })
    }

    /// The numbers of switches, links, hosts, transfers, streams, labels and routes.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            switches: self.topology.switches().len() as u64,
            links: self.topology.links().len() as u64,
            hosts: self.topology.host_count() as u64,
            transfers: self.transfers.transfer_count() as u64,
            streams: self.transfers.len() as u64,
            labels: self.fabric.labels().len() as u64,
            routes: self.routing.len() as u64,
        }
    }

    /// The transfers in progress, oldest first. O(n log n).
    pub fn transfers(&self) -> Vec<TransferView> {
        self.transfers
            .transfers()
            .filter_map(|transfer| TransferRecord::new(&self.transfers, &self.spray, transfer))
            .map(|it| it.view())
            .collect()
    }

    /// Takes the changes that bring a copy of all transfers up to date. Read the listed transfers with
    /// [`copy_transfer`](Self::copy_transfer).
    ///
    /// Neither call influences the brain's decisions.
    pub fn take_transfer_changes(&mut self) -> Changed {
        self.transfers.take_changes()
    }

    /// The transfer's current state, if a stream of it is established. Later changes are listed again.
    pub fn copy_transfer(&mut self, id: TransferId) -> Option<TransferRecord> {
        self.transfers.visit(id)?;
        self.transfers
            .transfer(id)
            .and_then(|transfer| TransferRecord::new(&self.transfers, &self.spray, transfer))
    }

    fn sources(&self) -> Sources<'_> {
        Sources { settings: &self.settings, topology: &self.topology, streams: &self.transfers }
    }

    /// The edges with their spray groups and resequencers, by datapath id.
    pub fn edges(&self) -> Vec<EdgeView> {
        let mut list = EdgeList::default();
        while !self.list_edges(&mut list, usize::MAX) {}
        list.into_views()
    }

    /// Extends a list of edges by at most `count` spray groups; returns whether it is complete.
    pub fn list_edges(&self, list: &mut EdgeList, count: usize) -> bool {
        self.spray.list_edges(list, count)
    }

    /// The ports of edges that answer BFD.
    pub fn answering_bfd(&self) -> impl Iterator<Item = SwitchPort> {
        self.bfd.answering()
    }

    /// The switches, by datapath id.
    pub fn switches(&self) -> Vec<SwitchView> {
        self.switches_after(None).collect()
    }

    /// The switches after this one.
    pub fn switches_after(&self, dpid: Option<DatapathId>) -> impl Iterator<Item = SwitchView> {
        let switches = self.topology.switches_after(dpid);
        switches.map(|switch| SwitchView { dpid: switch.dpid(), ports: self.ports_of(switch) })
    }

    /// The links, by sending end.
    pub fn links(&self) -> Vec<LinkView> {
        self.links_after(None).collect()
    }

    /// The links after the one that leaves this port.
    pub fn links_after(&self, src: Option<SwitchPort>) -> impl Iterator<Item = LinkView> {
        let links = self.topology.links_after(src);
        links.map(|(link, state)| LinkView {
            degraded: self.health.degraded(&link).map(DegradedView::from),
            ..link_view(&link, state, &self.measurement.of(&link))
        })
    }

    /// Whether a link leaves this port.
    pub fn has_link(&self, src: SwitchPort) -> bool {
        self.topology.link_at(src).is_some()
    }

    /// A snapshot of the path sets and their graph, to be read elsewhere while the brain continues.
    pub fn path_sets(&self) -> Snapshot {
        self.paths.snapshot()
    }

    /// The port of the interface with this MAC address.
    pub fn place_of(&self, mac: MacAddr) -> Option<SwitchPort> {
        self.topology.host(mac).map(|host| host.at)
    }

    /// The port of the interface with this IP address.
    pub fn place_of_address(&self, address: IpAddr) -> Option<SwitchPort> {
        self.topology.host_with_address(address).map(|host| host.at)
    }

    /// What these numbers of rules mean. O(n log n), and O(links) where a bypass is among them.
    pub fn explain(&self, numbers: &RuleNumbers) -> RuleMeanings {
        let RuleNumbers { streams, labels, bypasses } = numbers;
        let transfer = |id: &StreamId| Some((*id, self.transfers.stream(*id)?.transfer));
        let path = |label: &Label| Some((*label, self.path_with(*label)?.switches().collect()));
        let paths = (!bypasses.is_empty()).then(|| self.fabric.bypasses().paths());
        let wanted = paths.into_iter().flatten().filter(|(label, _)| bypasses.contains(label));
        RuleMeanings {
            transfers: streams.iter().filter_map(transfer).collect(),
            paths: labels.iter().filter_map(path).collect(),
            bypasses: wanted.map(|(label, path)| (label, path.switches().collect())).collect(),
        }
    }

    /// The path of a label in use, or the first one of a group.
    fn path_with(&self, label: Label) -> Option<&Path> {
        if !label.is_group() {
            return self.fabric.labels().path(label);
        }
        (1..=MEMBERS).find_map(|number| self.fabric.labels().path(label.member(number)))
    }

    /// The hosts, by MAC address.
    pub fn hosts(&self) -> Vec<HostView> {
        self.hosts_after(None).collect()
    }

    /// The hosts after the one with this MAC address.
    pub fn hosts_after(&self, mac: Option<MacAddr>) -> impl Iterator<Item = HostView> {
        let view = |host: &Host| HostView {
            mac: host.mac,
            at: host.at,
            addresses: host.addresses.clone(),
            last_seen: host.last_seen,
        };
        self.topology.hosts_after(mac).map(view)
    }

    /// The assignments of applications, by name.
    pub fn assignments(&self) -> Vec<AssignmentView> {
        self.assignments_after(None).collect()
    }

    /// The alarms, by source and kind.
    pub fn alarms(&self) -> Vec<Alarm> {
        self.alarms_after(None).collect()
    }

    /// The alarms after this kind from this source.
    pub fn alarms_after(&self, alarm: Option<AlarmKey>) -> impl Iterator<Item = Alarm> {
        self.admission.alarms_after(alarm)
    }

    /// The assignments after this one.
    pub fn assignments_after(&self, id: Option<AssignmentId>) -> impl Iterator<Item = AssignmentView> {
        let on = self.sources();
        self.reservations.assignments().after(id).map(move |it| self.reservations.view(on, it))
    }

    /// Whether there is such an assignment.
    pub fn has_assignment(&self, id: AssignmentId) -> bool {
        self.reservations.assignments().get(id).is_some()
    }

    /// Begins to note what other controllers are to be told, and counts everything that is known as new; or ends it.
    pub fn publish_facts(&mut self, is_published: bool) {
        self.publisher.publish(&self.topology, is_published);
        self.transfers.publish(is_published);
    }

    /// Up to `count` changes of facts since they were taken last. O(count), and O(links) once a second.
    pub fn take_facts(&mut self, now: Time, count: usize) -> Vec<FactChange> {
        let Self { topology, measurement, health, transfers, publisher, .. } = self;
        publisher.take(FactSources { now, topology, measurement, health, transfers }, count)
    }

    fn ports_of(&self, switch: &Switch) -> Vec<PortView> {
        let view = |port: &Port| PortView {
            port: port.number,
            name: port.name.clone(),
            up: port.up,
            role: self.discovery.role(SwitchPort::new(switch.dpid(), port.number)),
        };
        switch.ports().map(view).collect()
    }

    /// Prefetches the memory that packets in a switch's messages will need. Changes nothing.
    pub fn prefetch(&self, messages: &[u8]) {
        prefetch::prefetch(&self.topology, &self.routing, messages);
    }
}
