//! The live topology: switches, ports, links and hosts, with its invariants and its version.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time, following};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::host::HostTable;
use crate::{Change, Graph, Host, HostLimits, Link, LinkState, Port, Switch, TopologyError};

/// The live network.
///
/// Invariants: a link joins two known ports that are up; at most one link leaves a port; a host is attached to a
/// known port at which no link begins or ends.
#[derive(Debug, Clone, Default)]
pub struct Topology {
    version: u64,
    structure: u64,
    revision: u64,
    switches: BTreeMap<DatapathId, Switch>,
    links: BTreeMap<SwitchPort, (Link, LinkState)>,
    arriving: BTreeSet<(SwitchPort, SwitchPort)>,
    hosts: HostTable,
    graph: OnceLock<Arc<Graph>>,
}

impl Topology {
    /// An empty network with these limits; `default()` has the default limits.
    pub fn with_limits(limits: HostLimits) -> Self {
        Self { hosts: HostTable::new(limits), ..Self::default() }
    }

    /// Increases whenever a switch or a link is added, changed or removed. Hosts do not count.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Increases whenever a switch or a link is added or removed, but not when only a link's state changes.
    pub const fn structure(&self) -> u64 {
        self.structure
    }

    /// Increases whenever a switch, port or link is added, changed or removed, but not when only a link's state changes.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// The current switches and links, built once for each version and shared. O(V + E log E) the first time.
    pub fn graph(&self) -> Arc<Graph> {
        let build = || Arc::new(Graph::new(self.version, self.switches.keys().copied(), self.links()));
        Arc::clone(self.graph.get_or_init(build))
    }

    /// All switches by identifier.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = &Switch> {
        self.switches.values()
    }

    /// The switches that follow `after` by identifier, without it; all of them after `None`.
    pub fn switches_after(&self, after: Option<DatapathId>) -> impl Iterator<Item = &Switch> {
        self.switches.range(following(after)).map(|(_, switch)| switch)
    }

    /// The switch with this identifier.
    pub fn switch(&self, dpid: DatapathId) -> Option<&Switch> {
        self.switches.get(&dpid)
    }

    /// The port at this place.
    pub fn port(&self, at: SwitchPort) -> Option<&Port> {
        self.switch(at.dpid).and_then(|switch| switch.port(at.port))
    }

    /// All directed links by the port that they leave, with their states.
    pub fn links(&self) -> impl ExactSizeIterator<Item = (Link, LinkState)> {
        self.links.values().copied()
    }

    /// The links that follow the one that leaves `after`, as [`links`](Self::links) has them; all of them after `None`.
    pub fn links_after(&self, after: Option<SwitchPort>) -> impl Iterator<Item = (Link, LinkState)> {
        self.links.range(following(after)).map(|(_, link)| *link)
    }

    /// The link that leaves this port.
    pub fn link_at(&self, src: SwitchPort) -> Option<Link> {
        self.links.get(&src).map(|(link, _)| *link)
    }

    /// The state of the link that leaves this port.
    pub fn state_at(&self, src: SwitchPort) -> Option<LinkState> {
        self.links.get(&src).map(|(_, state)| *state)
    }

    /// Whether no link begins or ends at this port, so that hosts may be behind it.
    pub fn is_edge(&self, at: SwitchPort) -> bool {
        !self.links.contains_key(&at) && self.sources_into(at).next().is_none()
    }

    /// All hosts by interface address.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter()
    }

    /// The hosts that follow `after` by interface address, without it; all of them after `None`.
    pub fn hosts_after(&self, after: Option<MacAddr>) -> impl Iterator<Item = &Host> {
        self.hosts.after(after)
    }

    /// The number of hosts.
    pub fn host_count(&self) -> usize {
        self.hosts.len()
    }

    /// The host with this interface address.
    pub fn host(&self, mac: MacAddr) -> Option<&Host> {
        self.hosts.get(mac)
    }

    /// The host that uses this IP address.
    pub fn host_with_address(&self, address: IpAddr) -> Option<&Host> {
        self.hosts.with_address(address)
    }

    /// The hosts with these addresses, in their order. Many addresses at once cost less than one after the
    /// other: memory serves their lookups in parallel.
    pub fn hosts_with_addresses(&self, addresses: &[IpAddr]) -> impl Iterator<Item = Option<&Host>> {
        self.hosts.with_addresses(addresses)
    }

    /// The hosts attached to this port.
    pub fn hosts_at(&self, at: SwitchPort) -> impl Iterator<Item = &Host> {
        self.hosts.at(at)
    }

    /// Adds a switch; one that is known already gets these ports instead of those it had.
    pub fn add_switch(&mut self, dpid: DatapathId, ports: impl IntoIterator<Item = Port>) -> Vec<Change> {
        let ports: BTreeMap<_, _> = ports.into_iter().map(|port| (port.number, port)).collect();
        let mut changes = Vec::new();
        if let Entry::Vacant(vacant) = self.switches.entry(dpid) {
            vacant.insert(Switch::new(dpid));
            self.touch();
            changes.push(Change::SwitchAdded { dpid });
        }
        for number in self.ports_missing_from(dpid, &ports) {
            changes.extend(self.remove_port(SwitchPort::new(dpid, number)));
        }
        for port in ports.into_values() {
            changes.extend(self.put_port(dpid, port));
        }
        changes
    }

    /// Removes a switch with its ports, the links at them and the hosts behind them.
    pub fn remove_switch(&mut self, dpid: DatapathId) -> Vec<Change> {
        let numbers: Vec<_> =
            self.switch(dpid).into_iter().flat_map(|switch| switch.ports.keys().copied()).collect();
        let mut changes: Vec<_> =
            numbers.into_iter().flat_map(|number| self.remove_port(SwitchPort::new(dpid, number))).collect();
        if self.switches.remove(&dpid).is_some() {
            self.touch();
            changes.push(Change::SwitchRemoved { dpid });
        }
        changes
    }

    /// Adds a port or describes it anew. A port that is down loses its links and keeps its hosts.
    ///
    /// # Errors
    /// [`TopologyError::UnknownSwitch`].
    pub fn set_port(&mut self, dpid: DatapathId, port: Port) -> Result<Vec<Change>, TopologyError> {
        let known = self.switches.contains_key(&dpid);
        known.then(|| self.put_port(dpid, port)).ok_or(TopologyError::UnknownSwitch(dpid))
    }

    /// Removes a port, the links at it and the hosts behind it.
    pub fn remove_port(&mut self, at: SwitchPort) -> Vec<Change> {
        let mut changes = self.remove_links_at(at);
        changes.extend(self.hosts.remove_at(at));
        let removed = self.switches.get_mut(&at.dpid).and_then(|switch| switch.ports.remove(&at.port));
        self.revision += 1;
        changes.extend(removed.map(|_| Change::PortRemoved { at }));
        changes
    }

    /// Adds a link, in place of the one that left the same port, or says what is known of it now. Hosts that seemed
    /// attached to its ends are forgotten: they are further away.
    ///
    /// # Errors
    /// [`TopologyError::UnknownPort`], [`TopologyError::PortDown`], [`TopologyError::SelfLink`].
    pub fn add_link(&mut self, link: Link, state: LinkState) -> Result<Vec<Change>, TopologyError> {
        self.check_link(&link)?;
        if self.link_at(link.src) == Some(link) {
            return Ok(self.set_link_state(link.src, state).into_iter().collect());
        }
        let mut changes: Vec<_> =
            self.remove_link(link.src).into_iter().chain([Change::LinkAdded { link, state }]).collect();
        self.links.insert(link.src, (link, state));
        self.arriving.insert((link.dst, link.src));
        self.touch();
        changes.extend(self.hosts.remove_at(link.src));
        changes.extend(self.hosts.remove_at(link.dst));
        Ok(changes)
    }

    /// Says what is known now of the link that leaves this port; `None` if there is no such link or that was known.
    pub fn set_link_state(&mut self, src: SwitchPort, state: LinkState) -> Option<Change> {
        let (link, known) = self.links.get_mut(&src).filter(|(_, known)| *known != state)?;
        *known = state;
        let link = *link;
        self.touch_graph();
        Some(Change::LinkChanged { link, state })
    }

    /// Removes the link that leaves this port, in this direction only.
    pub fn remove_link(&mut self, src: SwitchPort) -> Option<Change> {
        let (link, _) = self.links.remove(&src)?;
        self.arriving.remove(&(link.dst, src));
        self.touch();
        Some(Change::LinkRemoved { link })
    }

    /// Notes that the interface `mac` spoke again at this port from one of its addresses; says whether it is known there
    /// with this one. What [`learn_host`](Self::learn_host) would find out in more steps: nothing has changed.
    pub fn hear_host(&mut self, mac: MacAddr, at: SwitchPort, address: IpAddr, now: Time) -> bool {
        self.hosts.hear(mac, at, address, now)
    }

    /// Notes that the interface `mac` spoke at this port, from this IP address if there is one.
    ///
    /// Whether a move is believed is for the caller to decide before. An unspecified, multicast, broadcast or
    /// loopback address is ignored.
    ///
    /// # Errors
    /// [`TopologyError::NotUnicast`], [`TopologyError::UnknownPort`], [`TopologyError::NotAnEdge`], and
    /// [`TopologyError::TooManyHosts`] or [`TopologyError::TooManyHostsAtPort`] for one more than the limit.
    pub fn learn_host(
        &mut self,
        mac: MacAddr,
        at: SwitchPort,
        address: Option<IpAddr>,
        now: Time,
    ) -> Result<Vec<Change>, TopologyError> {
        if mac.is_multicast() || mac == MacAddr::ZERO {
            return Err(TopologyError::NotUnicast(mac));
        }
        self.port(at).ok_or(TopologyError::UnknownPort(at))?;
        if !self.is_edge(at) {
            return Err(TopologyError::NotAnEdge(at, mac));
        }
        self.hosts.learn(mac, at, address, now)
    }

    /// Forgets a host and its addresses.
    pub fn remove_host(&mut self, mac: MacAddr) -> Option<Change> {
        self.hosts.remove(mac)
    }

    fn touch(&mut self) {
        self.structure += 1;
        self.revision += 1;
        self.touch_graph();
    }

    fn touch_graph(&mut self) {
        self.version += 1;
        self.graph = OnceLock::new();
    }

    fn put_port(&mut self, dpid: DatapathId, port: Port) -> Vec<Change> {
        let at = SwitchPort::new(dpid, port.number);
        let mut changes = if port.up { Vec::new() } else { self.remove_links_at(at) };
        let Some(switch) = self.switches.get_mut(&dpid) else { return changes };
        let new = port.clone();
        self.revision += 1;
        match switch.ports.insert(port.number, port) {
            None => changes.push(Change::PortAdded { at }),
            Some(old) if old != new => changes.push(Change::PortChanged { at }),
            Some(_) => {}
        }
        changes
    }

    fn ports_missing_from(&self, dpid: DatapathId, ports: &BTreeMap<PortNo, Port>) -> Vec<PortNo> {
        let known = self.switch(dpid).into_iter().flat_map(|switch| switch.ports.keys());
        known.filter(|number| !ports.contains_key(number)).copied().collect()
    }

    fn check_link(&self, link: &Link) -> Result<(), TopologyError> {
        for at in [link.src, link.dst] {
            let port = self.port(at).ok_or(TopologyError::UnknownPort(at))?;
            if !port.up {
                return Err(TopologyError::PortDown(at));
            }
        }
        if link.src == link.dst { Err(TopologyError::SelfLink(link.src)) } else { Ok(()) }
    }

    /// The ports whose links arrive at this port, in order.
    pub fn sources_into(&self, dst: SwitchPort) -> impl Iterator<Item = SwitchPort> {
        let last = SwitchPort::new(DatapathId(u64::MAX), PortNo::ANY);
        let range = (dst, SwitchPort::new(DatapathId(0), PortNo(0)))..=(dst, last);
        self.arriving.range(range).map(|(_, src)| *src)
    }

    /// Removes the links that begin or end at this port.
    pub fn remove_links_at(&mut self, at: SwitchPort) -> Vec<Change> {
        let sources: Vec<_> = self.sources_into(at).chain([at]).collect();
        sources.into_iter().filter_map(|src| self.remove_link(src)).collect()
    }
}

/// A link and its state in one object.
#[derive(Serialize)]
struct ShownLink {
    #[serde(flatten)]
    link: Link,
    #[serde(flatten)]
    state: LinkState,
}

impl From<(Link, LinkState)> for ShownLink {
    fn from((link, state): (Link, LinkState)) -> Self {
        Self { link, state }
    }
}

impl Serialize for Topology {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Topology", 4)?;
        fields.serialize_field("version", &self.version)?;
        fields.serialize_field("switches", &self.switches().collect::<Vec<_>>())?;
        fields.serialize_field("links", &self.links().map(ShownLink::from).collect::<Vec<_>>())?;
        fields.serialize_field("hosts", &self.hosts().collect::<Vec<_>>())?;
        fields.end()
    }
}
