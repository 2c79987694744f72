//! Hosts: learned from their packets, installed as deliver rules, and resolved by proxy ARP and ND.

mod conflicts;
mod filters;
mod lookups;
mod neighbors;

use std::collections::{BTreeSet, VecDeque};
use std::net::IpAddr;

use braid_packet::{Ip, Transport};
use braid_topology::{Change, Host};
use braid_types::{DatapathId, MacAddr, SwitchPort, Time};

use crate::admission::Admission;
use crate::command::HeldPacket;
use crate::context::Context;
use crate::discovery::Discovery;
use crate::notice::Notice;
use crate::pipeline::Rule;
use crate::role::Role;
use crate::threat::Threat;
use conflicts::Conflicts;
use filters::SourceFilters;
use lookups::Lookups;
use neighbors::Advertised;

pub(crate) use neighbors::NeighborPacket;

/// The UDP port of DHCP clients. RFC 2131 §4.1.
pub(crate) const DHCP_CLIENT: u16 = 68;

/// Address conflicts, filters and lookups. Hosts themselves are in the topology.
///
/// What it shows beside the methods here: `look_up` in `lookups`; `handle_arp`, `handle_nd` and `relay` in `neighbors`.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    conflicts: Conflicts,
    filters: SourceFilters,
    lookups: Lookups,
    advertised: Advertised,
    /// Hosts that only another controller has named, so far.
    recalled: BTreeSet<MacAddr>,
    events: VecDeque<HostsEvent>,
}

/// A report to the machines above.
#[derive(Debug)]
pub(crate) enum HostsEvent {
    /// Hosts or addresses were added, moved or removed.
    Changed(Vec<Change>),
    /// The destination of a held packet is known. The packet continues as if it had just arrived.
    Found(HeldPacket),
    /// A packet is for all hosts, except at the port where it entered.
    ForAll {
        /// The port.
        from: SwitchPort,
        /// The packet.
        frame: Vec<u8>,
    },
}

/// A MAC and an IP address that a sender at a port uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Binding {
    pub(crate) mac: MacAddr,
    pub(crate) ip: IpAddr,
    pub(crate) at: SwitchPort,
}

/// The machines below, while an event is handled.
pub(crate) struct HostDeps<'a> {
    pub(crate) cx: Context<'a>,
    pub(crate) discovery: &'a Discovery,
    pub(crate) admission: &'a mut Admission,
}

impl HostDeps<'_> {
    fn is_host_port(&self, at: SwitchPort) -> bool {
        self.discovery.role(at) == Some(Role::Host)
    }
}

fn host_ports(discovery: &Discovery) -> impl Iterator<Item = SwitchPort> {
    discovery.ports_with(Role::Host)
}

impl Hosts {
    /// Learns a host's addresses and port. Returns whether they were accepted.
    pub(crate) fn learn(&mut self, deps: &mut HostDeps<'_>, host: Binding) -> bool {
        let Binding { mac, ip, at } = host;
        if !deps.is_host_port(at) || ip.is_unspecified() {
            return true;
        }
        // Most packets come from hosts that have not changed.
        if self.conflicts.is_empty() && deps.cx.topology.hear_host(mac, at, ip, deps.cx.now) {
            return true;
        }
        let is_known =
            deps.cx.topology.host(mac).is_some_and(|host| host.at == at && host.addresses.contains(&ip));
        self.is_accepted(deps, host)
            && (is_known || deps.admission.admit_address(&mut deps.cx, at))
            && self.learn_at(deps, mac, Some(ip), at)
    }

    /// Takes a host's position from an earlier controller's rules, and probes the host.
    pub(crate) fn restore(&mut self, deps: &mut HostDeps<'_>, host: Binding) {
        let Binding { mac, ip, at } = host;
        neighbors::ask_at(&mut deps.cx, at, ip);
        let is_firm = |host: &&Host| !self.is_recalled(host);
        let elsewhere = deps.cx.topology.host(mac).filter(is_firm).is_some_and(|host| host.at != at);
        let taken =
            deps.cx.topology.host_with_address(ip).filter(is_firm).is_some_and(|host| host.mac != mac);
        if !elsewhere && !taken && deps.is_host_port(at) {
            self.recalled.remove(&mac);
            self.place_unheard(deps, host);
        }
    }

    /// Takes the position of a host that no rule has named from what another controller knew, and probes the host.
    pub(crate) fn recall(&mut self, deps: &mut HostDeps<'_>, host: Binding) {
        let known = deps.cx.topology.host(host.mac).map(|known| known.at);
        let is_taken = deps.cx.topology.host_with_address(host.ip).is_some();
        if is_taken || known.is_some_and(|at| at != host.at) || !deps.is_host_port(host.at) {
            return;
        }
        neighbors::ask_at(&mut deps.cx, host.at, host.ip);
        if known.is_none() {
            self.recalled.insert(host.mac);
        }
        self.place_unheard(deps, host);
    }

    /// Whether nothing in the network has named a host.
    fn is_recalled(&self, host: &Host) -> bool {
        host.last_seen == Time::ZERO && self.recalled.contains(&host.mac)
    }

    /// Learns a host that this controller has not heard yet.
    fn place_unheard(&mut self, deps: &mut HostDeps<'_>, Binding { mac, ip, at }: Binding) {
        if let Ok(changes) = deps.cx.topology.learn_host(mac, at, Some(ip), Time::ZERO) {
            self.note_changes(deps, changes);
        }
    }

    /// Whether a packet may continue. Lookups of its destination are rate limited by port.
    pub(crate) fn admit_lookup(&self, deps: &mut HostDeps<'_>, at: SwitchPort, ip: &Ip<'_>) -> bool {
        let is_for_many = match &ip.transport {
            Transport::Icmpv6(_) => true,
            Transport::Udp(udp) => udp.dst_port == DHCP_CLIENT,
            _ => false,
        };
        is_for_many
            || deps.cx.topology.host_with_address(ip.dst).is_some()
            || self.lookups.is_pending(ip.dst)
            || deps.admission.admit_address(&mut deps.cx, at)
    }

    /// The topology has changed: deliver rules follow hosts.
    pub(crate) fn handle_change(&mut self, cx: &mut Context<'_>, change: &Change) {
        match change {
            Change::HostAdded { mac, at } => cx.out.notice(Notice::HostSeen { mac: *mac, at: *at }),
            Change::HostMoved { mac, from, to } => move_host(cx, *mac, *from, *to),
            Change::HostRemoved { host } => self.remove_host(cx, host),
            Change::AddressAdded { address, mac } => deliver(cx, *address, *mac),
            Change::AddressMoved { address, from, to } => {
                self.withdraw(cx, *address, *from);
                deliver(cx, *address, *to);
            }
            Change::AddressRemoved { address, mac } => self.withdraw(cx, *address, *mac),
            _ => {}
        }
    }

    /// A switch has left; its rules need no removal.
    pub(crate) fn handle_switch_down(&mut self, dpid: DatapathId) {
        self.filters.forget(dpid);
    }

    /// Settles conflicts, filters and lookups. Called once a tick.
    pub(crate) fn handle_timeout(&mut self, deps: &mut HostDeps<'_>) {
        self.settle_conflicts(deps);
        self.filters.expire(deps);
        self.lookups.expire(&deps.cx);
    }

    /// The next report, in order.
    pub(crate) fn poll_event(&mut self) -> Option<HostsEvent> {
        self.events.pop_front()
    }

    /// Learns a host's port if the topology has room for it; returns whether it has.
    fn learn_at(
        &mut self,
        deps: &mut HostDeps<'_>,
        mac: MacAddr,
        ip: Option<IpAddr>,
        at: SwitchPort,
    ) -> bool {
        match deps.cx.topology.learn_host(mac, at, ip, deps.cx.now) {
            Ok(changes) => self.note_changes(deps, changes),
            Err(error) => {
                let threat = Threat::NotBelieved { mac, why: error.to_string() };
                deps.admission.raise(&mut deps.cx, at, threat);
                return false;
            }
        }
        let found = ip.map(|ip| self.lookups.finish(ip)).unwrap_or_default();
        self.events.extend(found.into_iter().map(HostsEvent::Found));
        true
    }

    /// Writes the deliver rules of changes at once, as later ones build on them, and reports the changes.
    fn note_changes(&mut self, deps: &mut HostDeps<'_>, changes: Vec<Change>) {
        changes.iter().for_each(|change| self.handle_change(&mut deps.cx, change));
        self.events.push_back(HostsEvent::Changed(changes));
    }

    fn remove_host(&mut self, cx: &mut Context<'_>, host: &Host) {
        self.recalled.remove(&host.mac);
        for dst in host.addresses.iter().copied() {
            self.advertised.forget(dst);
            cx.delete(host.at.dpid, Rule::Deliver { dst, mac: host.mac, port: host.at.port });
        }
    }

    /// Removes the rule of an address that the host no longer has.
    fn withdraw(&mut self, cx: &mut Context<'_>, dst: IpAddr, mac: MacAddr) {
        self.advertised.forget(dst);
        if let Some(at) = cx.topology.host(mac).map(|host| host.at) {
            cx.delete(at.dpid, Rule::Deliver { dst, mac, port: at.port });
        }
    }
}

fn deliver(cx: &mut Context<'_>, dst: IpAddr, mac: MacAddr) {
    let Some(at) = cx.topology.host(mac).map(|host| host.at) else { return };
    cx.out.notice(Notice::AddressSeen { mac, ip: dst });
    cx.out.add(at.dpid, Rule::Deliver { dst, mac, port: at.port });
}

fn move_host(cx: &mut Context<'_>, mac: MacAddr, from: SwitchPort, to: SwitchPort) {
    cx.out.notice(Notice::HostMoved { mac, from, to });
    let addresses = cx.topology.host(mac).map(|host| host.addresses.clone());
    for dst in addresses.unwrap_or_default() {
        cx.out.add(to.dpid, Rule::Deliver { dst, mac, port: to.port });
        if from.dpid != to.dpid {
            cx.delete(from.dpid, Rule::Deliver { dst, mac, port: from.port });
        }
    }
}
