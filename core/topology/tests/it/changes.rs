//! Random histories: a copy that applies the reported changes equals the topology.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use braid_topology::{Change, HostLimits, Link, LinkState, Switch, Topology};
use braid_types::{BitsPerSec, DatapathId, MacAddr, SwitchPort, Time};
use proptest::prelude::*;

use crate::network::{end, mac, port};

#[derive(Debug, Clone)]
enum Operation {
    AddSwitch(u64, Vec<(u32, bool)>),
    RemoveSwitch(u64),
    SetPort(u64, u32, bool),
    RemovePort(SwitchPort),
    AddLink(Link, LinkState),
    RemoveLink(SwitchPort),
    LearnHost(MacAddr, SwitchPort, Option<IpAddr>, u64),
    RemoveHost(MacAddr),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let place = || (1..4_u64, 1..4_u32).prop_map(|(switch, port)| end(switch, port));
    let interface = || (1..6_u64).prop_map(mac);
    let address = prop::option::of((1..8_u8).prop_map(|last| Ipv4Addr::new(10, 0, 0, last).into()));
    let ports = prop::collection::vec((1..4_u32, prop::bool::weighted(0.9)), 0..4);
    let link = (place(), place(), 1..3_u64);
    let operation = prop_oneof![
        4 => (1..4_u64, ports).prop_map(|(dpid, ports)| Operation::AddSwitch(dpid, ports)),
        1 => (1..4_u64).prop_map(Operation::RemoveSwitch),
        4 => (1..4_u64, 1..4_u32, any::<bool>()).prop_map(|(dpid, port, up)| Operation::SetPort(dpid, port, up)),
        1 => place().prop_map(Operation::RemovePort),
        8 => link.prop_map(|(src, dst, rate)| Operation::AddLink(Link { src, dst }, LinkState::of_capacity(BitsPerSec(rate)))),
        1 => place().prop_map(Operation::RemoveLink),
        8 => (interface(), place(), address, 0..9_u64)
            .prop_map(|(mac, at, address, time)| Operation::LearnHost(mac, at, address, time)),
        1 => interface().prop_map(Operation::RemoveHost),
    ];
    prop::collection::vec(operation, 0..60)
}

/// What was asked is refused or done; a refusal changes nothing.
fn apply(topology: &mut Topology, operation: Operation) -> Vec<Change> {
    match operation {
        Operation::AddSwitch(dpid, ports) => {
            topology.add_switch(DatapathId(dpid), ports.into_iter().map(|(number, up)| port(number, up)))
        }
        Operation::RemoveSwitch(dpid) => topology.remove_switch(DatapathId(dpid)),
        Operation::SetPort(dpid, number, up) => {
            topology.set_port(DatapathId(dpid), port(number, up)).unwrap_or_default()
        }
        Operation::RemovePort(at) => topology.remove_port(at),
        Operation::AddLink(link, state) => topology.add_link(link, state).unwrap_or_default(),
        Operation::RemoveLink(src) => topology.remove_link(src).into_iter().collect(),
        Operation::LearnHost(mac, at, address, time) => {
            topology.learn_host(mac, at, address, Time::from_millis(time)).unwrap_or_default()
        }
        Operation::RemoveHost(mac) => topology.remove_host(mac).into_iter().collect(),
    }
}

/// A network that knows only the reported changes, and insists that each makes sense.
#[derive(Debug, Default, PartialEq)]
struct Mirror {
    switches: BTreeSet<DatapathId>,
    ports: BTreeSet<SwitchPort>,
    links: BTreeMap<Link, LinkState>,
    hosts: BTreeMap<MacAddr, SwitchPort>,
    addresses: BTreeMap<IpAddr, MacAddr>,
}

impl Mirror {
    fn of(topology: &Topology) -> Self {
        let ports =
            topology.switches().flat_map(|switch| switch.ports().map(|port| (switch.dpid(), port.number)));
        let addresses =
            topology.hosts().flat_map(|host| host.addresses.iter().map(|address| (*address, host.mac)));
        Self {
            switches: topology.switches().map(Switch::dpid).collect(),
            ports: ports.map(|(dpid, number)| SwitchPort::new(dpid, number)).collect(),
            links: topology.links().collect(),
            hosts: topology.hosts().map(|host| (host.mac, host.at)).collect(),
            addresses: addresses.collect(),
        }
    }

    fn follow(&mut self, change: &Change) -> bool {
        match change {
            Change::SwitchAdded { dpid } => self.switches.insert(*dpid),
            Change::SwitchRemoved { dpid } => self.switches.remove(dpid),
            Change::PortAdded { at } => self.ports.insert(*at),
            Change::PortChanged { at } => self.ports.contains(at),
            Change::PortRemoved { at } => self.ports.remove(at),
            Change::LinkAdded { link, state } => self.links.insert(*link, *state).is_none(),
            Change::LinkChanged { link, state } => {
                self.links.insert(*link, *state).is_some_and(|old| old != *state)
            }
            Change::LinkRemoved { link } => self.links.remove(link).is_some(),
            Change::HostAdded { mac, at } => self.hosts.insert(*mac, *at).is_none(),
            Change::HostMoved { mac, from, to } => self.hosts.insert(*mac, *to) == Some(*from),
            Change::HostRemoved { host } => {
                let known =
                    host.addresses.iter().all(|address| self.addresses.remove(address) == Some(host.mac));
                known && self.hosts.remove(&host.mac) == Some(host.at)
            }
            Change::AddressAdded { address, mac } => self.addresses.insert(*address, *mac).is_none(),
            Change::AddressMoved { address, from, to } => self.addresses.insert(*address, *to) == Some(*from),
            Change::AddressRemoved { address, mac } => self.addresses.remove(address) == Some(*mac),
        }
    }
}

fn changes_graph(change: &Change) -> bool {
    use Change::{LinkAdded, LinkChanged, LinkRemoved, SwitchAdded, SwitchRemoved};
    matches!(
        change,
        SwitchAdded { .. }
            | SwitchRemoved { .. }
            | LinkAdded { .. }
            | LinkChanged { .. }
            | LinkRemoved { .. }
    )
}

fn holds_invariants(topology: &Topology) -> bool {
    let up = |at| topology.port(at).is_some_and(|port| port.up);
    let links = topology.links().all(|(link, _)| up(link.src) && up(link.dst) && link.src != link.dst);
    let hosts = topology.hosts().all(|host| {
        let mut addresses = host.addresses.iter();
        let found = addresses.all(|address| topology.host_with_address(*address) == Some(host));
        let ends = topology.links().any(|(link, _)| link.touches(host.at));
        found
            && !ends
            && topology.port(host.at).is_some()
            && topology.hosts_at(host.at).any(|known| known == host)
    });
    links && hosts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn changes_tell_the_whole_history(operations in operations()) {
        let mut topology = Topology::with_limits(HostLimits { hosts: 4, hosts_per_port: 2, addresses_per_host: 2 });
        let mut mirror = Mirror::default();
        for operation in operations {
            let (before, graph) = (topology.version(), topology.graph());
            let changes = apply(&mut topology, operation.clone());
            for change in &changes {
                prop_assert!(mirror.follow(change), "{operation:?}: {change:?}");
            }
            prop_assert_eq!(&mirror, &Mirror::of(&topology), "{:?}", operation);
            prop_assert!(holds_invariants(&topology), "{operation:?}");
            prop_assert_eq!(topology.version() > before, changes.iter().any(changes_graph));
            prop_assert_eq!(topology.graph() == graph, topology.version() == before);
        }
    }
}
