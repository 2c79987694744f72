//! Names of what is listed, and which interfaces belong to one host.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use braid_control::view::HostView;
use braid_types::{MacAddr, SwitchPort};

use super::Table;
use crate::names::Names;

/// Addresses that agents have reported as those of their hosts; of more, the first ones count.
const MAX_REPORTED: usize = 16_384;

/// The names of everything that is listed.
#[derive(Default, Debug)]
pub(in crate::http) struct Naming {
    pub(in crate::http) names: Names,
    /// Interfaces whose host has a name, or has others.
    interfaces: BTreeMap<MacAddr, HostName>,
    /// The hosts with names, by address.
    by_address: BTreeMap<IpAddr, String>,
    /// The least of the addresses that an agent has reported together with this one.
    reported: BTreeMap<IpAddr, IpAddr>,
}

/// The host of an interface.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::http) struct HostName {
    /// Its name, if it has one.
    pub(in crate::http) name: Option<String>,
    /// Its name, or else an address, the same for all its interfaces.
    pub(in crate::http) host: String,
}

impl Naming {
    /// Takes over the names of a copy; whether they are others.
    pub(super) fn take(&mut self, names: Names) -> bool {
        let is_new = !self.names.is(&names);
        self.names = names;
        is_new
    }

    /// Learns which addresses an agent's host has; whether that is new.
    pub(super) fn report(&mut self, addresses: &[IpAddr]) -> bool {
        let Some(least) = addresses.iter().min().filter(|_| addresses.len() > 1) else { return false };
        let mut is_new = false;
        for address in addresses {
            if self.reported.len() < MAX_REPORTED || self.reported.contains_key(address) {
                is_new |= self.reported.insert(*address, *least) != Some(*least);
            }
        }
        is_new
    }

    /// Whether the name of an interface depends on others.
    pub(super) fn needs_hosts(&self) -> bool {
        self.names.has_hosts() || !self.reported.is_empty()
    }

    /// Finds out which interfaces belong together; whether that has changed.
    pub(super) fn group(&mut self, hosts: &Table<HostView>) -> bool {
        if !self.needs_hosts() && self.interfaces.is_empty() {
            return false;
        }
        let grouped = Grouping::of(self, hosts);
        let interfaces: BTreeMap<_, _> =
            hosts.items().filter_map(|it| Some((it.value.mac, grouped.host(&it.value)?))).collect();
        let is_new = interfaces != self.interfaces;
        let named = hosts.items().filter_map(|it| Some((it, interfaces.get(&it.value.mac)?.name.as_ref()?)));
        let addresses = named.flat_map(|(it, name)| it.value.addresses.iter().map(|ip| (*ip, name.clone())));
        let by_address = addresses.collect();
        let is_new = is_new || by_address != self.by_address;
        (self.interfaces, self.by_address) = (interfaces, by_address);
        is_new
    }

    /// The host of an interface.
    pub(in crate::http) fn host(&self, interface: &HostView) -> HostName {
        let alone = || HostName { name: None, host: own_label(interface) };
        self.interfaces.get(&interface.mac).cloned().unwrap_or_else(alone)
    }

    /// The name of the host with an address.
    pub(in crate::http) fn host_with(&self, address: IpAddr) -> Option<String> {
        self.by_address.get(&address).cloned().or_else(|| self.names.host_with(address).map(str::to_owned))
    }

    /// The labels of ports.
    pub(in crate::http) fn ports(&self, ports: &[SwitchPort]) -> Vec<String> {
        ports.iter().map(|at| self.names.port_label(*at)).collect()
    }

    fn group_of(&self, interface: &HostView) -> Option<IpAddr> {
        interface.addresses.iter().find_map(|address| self.reported.get(address)).copied()
    }
}

/// What the interfaces of hosts have in common.
struct Grouping<'a> {
    naming: &'a Naming,
    /// Ports with several interfaces, which do not tell which of these is the named host's.
    shared: BTreeSet<SwitchPort>,
    /// The names of groups of interfaces that agents have reported.
    names: BTreeMap<IpAddr, String>,
}

impl<'a> Grouping<'a> {
    fn of(naming: &'a Naming, hosts: &Table<HostView>) -> Self {
        let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
        for item in hosts.items().filter(|it| !seen.insert(it.value.at)) {
            shared.insert(item.value.at);
        }
        let mut grouping = Self { naming, shared, names: BTreeMap::new() };
        for item in hosts.items() {
            if let (Some(group), Some(name)) = (naming.group_of(&item.value), grouping.own_name(&item.value))
            {
                grouping.names.entry(group).or_insert(name);
            }
        }
        grouping
    }

    fn own_name(&self, interface: &HostView) -> Option<String> {
        let names = &self.naming.names;
        let by_address = interface.addresses.iter().find_map(|address| names.host_with(*address));
        let by_port = || names.host_at(interface.at).filter(|_| !self.shared.contains(&interface.at));
        by_address.or_else(by_port).map(str::to_owned)
    }

    /// The host of an interface, if it has a name or may have several interfaces.
    fn host(&self, interface: &HostView) -> Option<HostName> {
        let group = self.naming.group_of(interface);
        let of_group = || group.and_then(|group| self.names.get(&group).cloned());
        let name = self.own_name(interface).or_else(of_group);
        let host = name.clone().or_else(|| group.map(|group| group.to_string()))?;
        Some(HostName { name, host })
    }
}

/// The least address of an interface: an IPv4 one, if there is one.
fn own_label(interface: &HostView) -> String {
    interface.addresses.iter().min().map_or_else(|| interface.mac.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use braid_types::{DatapathId, PortNo, Time};
    use tokio::time::Instant;

    use super::*;
    use crate::http::replica::coverage::Span;
    use crate::switch_metadata::{HostMetadata, SwitchMetadataMap};

    const fn at(port: u32) -> SwitchPort {
        SwitchPort::new(DatapathId(1), PortNo(port))
    }

    /// An interface at the port of its number, with these addresses in 10.0.0.0/24.
    fn interface(number: u64, addresses: &[u8]) -> HostView {
        let addresses = addresses.iter().map(|last| ip(*last)).collect();
        let at = at(u32::try_from(number).expect("a small number"));
        HostView { mac: MacAddr::from_u64(number), at, addresses, last_seen: Time::ZERO }
    }

    fn ip(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    fn table(hosts: Vec<HostView>) -> Table<HostView> {
        let mut table = Table::default();
        table.replace(Span::whole(Time::ZERO, Instant::now()), hosts);
        table
    }

    fn naming(by_port: &[(u32, &str)], by_address: &[(u8, &str)]) -> Naming {
        let by_port = by_port.iter().map(|(port, name)| (at(*port), (*name).to_owned())).collect();
        let by_address = by_address.iter().map(|(last, name)| (ip(*last), (*name).to_owned())).collect();
        let names = Names::new(SwitchMetadataMap::new(), HostMetadata { by_port, by_address });
        Naming { names, ..Naming::default() }
    }

    fn hosts(naming: &Naming, table: &Table<HostView>) -> Vec<String> {
        table.items().map(|it| naming.host(&it.value).host).collect()
    }

    #[test]
    fn interfaces_at_ports_of_one_name_are_one_host() {
        let mut naming = naming(&[(1, "dtn"), (2, "dtn")], &[(9, "login")]);
        let table =
            table(vec![interface(1, &[1]), interface(2, &[2]), interface(3, &[4, 3]), interface(4, &[9])]);
        assert!(naming.group(&table) && !naming.group(&table));
        assert_eq!(hosts(&naming, &table), ["dtn", "dtn", "10.0.0.3", "login"]);
        assert_eq!(naming.host_with(ip(2)).as_deref(), Some("dtn"));
        assert_eq!(naming.host_with(ip(3)), None);
    }

    #[test]
    fn the_addresses_that_an_agent_reports_are_those_of_one_host() {
        let mut naming = naming(&[(2, "dtn")], &[]);
        assert!(naming.report(&[ip(2), ip(1)]) && !naming.report(&[ip(1), ip(2)]));
        assert!(naming.report(&[ip(4), ip(3)]) && !naming.report(&[ip(5)]));
        let table =
            table(vec![interface(1, &[1]), interface(2, &[2]), interface(3, &[3]), interface(4, &[4])]);
        naming.group(&table);
        assert_eq!(hosts(&naming, &table), ["dtn", "dtn", "10.0.0.3", "10.0.0.3"]);
        assert_eq!(naming.host(&interface(3, &[3])).name, None);
    }

    #[test]
    fn a_port_with_several_interfaces_names_none_of_them() {
        let mut naming = naming(&[(1, "dtn")], &[]);
        let other = HostView { mac: MacAddr::from_u64(9), ..interface(1, &[2]) };
        let table = table(vec![interface(1, &[1]), other]);
        naming.group(&table);
        assert_eq!(hosts(&naming, &table), ["10.0.0.1", "10.0.0.2"]);
    }

    #[test]
    fn reported_addresses_are_bounded() {
        let mut naming = Naming::default();
        for number in 0..=MAX_REPORTED as u32 {
            naming.report(&[
                IpAddr::from((number * 2).to_be_bytes()),
                IpAddr::from((number * 2 + 1).to_be_bytes()),
            ]);
        }
        assert_eq!(naming.reported.len(), MAX_REPORTED);
    }
}
