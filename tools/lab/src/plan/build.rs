//! Construction of a plan from a scenario: names of namespaces and interfaces, addresses, port numbers.

use std::collections::BTreeSet;

use braid_types::{DatapathId, MacAddr, PortNo};

use super::{
    HostPlan, InterfacePlan, LinkBackend, LinkPlan, LinkPlanEnd, Plan, PortPlan, SwitchPlan, UplinkPlan,
    sites, tunnel,
};
use crate::names::{INTERFACE_NAME_MAX, LabName};
use crate::scenario::{End, Link, Scenario, Switch, Topology, Tunnel};

const DEFAULT_MTU: u16 = 1_500;

impl Plan {
    /// The plan of `scenario` as lab `lab`; `netem` returns whether the kernel has netem.
    pub(crate) fn new(scenario: &Scenario, lab: &LabName, netem: impl Fn() -> bool) -> Self {
        let topology = &scenario.topology;
        let mut plan = Self {
            lab: lab.clone(),
            scenario: scenario.name.clone(),
            fabric: lab.fabric_namespace(),
            hosts: (0..topology.hosts.len()).map(|index| host(index, topology, lab)).collect(),
            switches: topology.switches.iter().map(switch).collect(),
            links: Vec::new(),
            tunnels: Vec::new(),
            rewrite: topology.rewrite,
            sites: Vec::new(),
            mtu: topology
                .hosts
                .iter()
                .flat_map(|host| &host.interfaces)
                .map(|it| it.mtu)
                .max()
                .unwrap_or(DEFAULT_MTU),
        };
        plan.sites = sites::sites(topology, &plan.hosts);
        let mut devices = Devices::new(topology);
        for link in &topology.links {
            let backend = LinkBackend::of(link, &netem);
            plan.add_veth(topology, link, backend, &mut devices);
        }
        topology.tunnels.iter().for_each(|tunnel| plan.add_tunnel(topology, tunnel));
        plan
    }

    fn add_veth(&mut self, topology: &Topology, link: &Link, backend: LinkBackend, devices: &mut Devices) {
        let [a, b] = link.ends;
        let ends = [self.end(topology, a, b, devices), self.end(topology, b, a, devices)];
        let tunnel = link.tunnel.then(|| tunnel::underlays(self.links.len(), &self.lab));
        self.links.push(LinkPlan { ends, directions: link.directions, backend, tunnel });
    }

    /// Both ends of a tunnel are ports, in the places of their uplinks.
    fn add_tunnel(&mut self, topology: &Topology, tunnel: &Tunnel) {
        let [a, b] = tunnel.addresses;
        let ports = [(tunnel.links[0], [a, b]), (tunnel.links[1], [b, a])].map(|(link, ends)| {
            let addresses = topology.links[link].uplink.clone();
            let at = self.links[link].ends.iter().find_map(|end| end.port);
            if let Some(port) = at.and_then(|at| self.port_mut(at)) {
                port.uplink = Some(UplinkPlan { addresses, tunnel: Some(ends) });
            }
            at
        });
        if let [Some(a), Some(b)] = ports {
            self.tunnels.push([a, b]);
        }
    }

    fn port_mut(&mut self, (dpid, number): (DatapathId, PortNo)) -> Option<&mut PortPlan> {
        let switch = self.switches.iter_mut().find(|switch| switch.dpid == dpid)?;
        switch.ports.iter_mut().find(|port| port.number == number)
    }

    fn end(&mut self, topology: &Topology, end: End, peer: End, devices: &mut Devices) -> LinkPlanEnd {
        let name = topology.end_name(end);
        match end {
            End::Host { host, interface } => {
                let host = &self.hosts[host];
                let (namespace, device) = (host.namespace.clone(), host.interfaces[interface].name.clone());
                LinkPlanEnd { name, namespace, device, port: None }
            }
            End::Switch(index) => {
                let switch = &mut self.switches[index];
                let number = PortNo(switch.ports.len() as u32 + 1);
                let device = devices.name(index, &switch.name, number, &short_name(topology, peer));
                let peer = topology.end_name(peer);
                switch.ports.push(PortPlan { number, device: device.clone(), peer, uplink: None });
                LinkPlanEnd {
                    name,
                    namespace: self.fabric.clone(),
                    device,
                    port: Some((switch.dpid, number)),
                }
            }
        }
    }
}

fn host(index: usize, topology: &Topology, lab: &LabName) -> HostPlan {
    let host = &topology.hosts[index];
    let interfaces = host.interfaces.iter().enumerate().map(|(place, interface)| InterfacePlan {
        name: interface.name.clone(),
        mac: mac(index, place),
        mtu: interface.mtu,
        addresses: interface.addresses.clone(),
        offloads: sites::offloads(topology, index, place).iter().map(|it| (*it).to_owned()).collect(),
    });
    HostPlan {
        name: host.name.clone(),
        namespace: lab.host_namespace(&host.name),
        router: host.router,
        interfaces: interfaces.collect(),
        routes: sites::routes(topology, index),
        mptcp: host.mptcp.clone(),
        congestion_control: host.congestion_control.clone(),
        receive_buffer: host.receive_buffer,
    }
}

/// MAC addresses: 52:54 as in virtual machines, then the numbers of host and interface, so that captures are comparable.
fn mac(host: usize, interface: usize) -> MacAddr {
    let (host, interface) = (host as u64 + 1, interface as u64 + 1);
    MacAddr::from_u64(0x5254_0000_0000 | (host & 0xffff) << 8 | interface & 0xff)
}

fn switch(switch: &Switch) -> SwitchPlan {
    SwitchPlan { name: switch.name.clone(), dpid: switch.dpid, ports: Vec::new(), edge: switch.edge }
}

fn short_name(topology: &Topology, end: End) -> String {
    match end {
        End::Switch(index) => topology.switches[index].name.clone(),
        End::Host { host, .. } => topology.hosts[host].name.clone(),
    }
}

/// The used names of interfaces in the fabric's namespace.
struct Devices(BTreeSet<String>);

impl Devices {
    fn new(topology: &Topology) -> Self {
        Self(reserved_devices(topology.switches.iter().map(|switch| &switch.name)).collect())
    }

    fn name(&mut self, index: usize, switch: &str, port: PortNo, peer: &str) -> String {
        let name = device_name((index, switch), port, peer, &self.0);
        self.0.insert(name.clone());
        name
    }
}

/// Names that Open vSwitch and the kernel use there.
pub(super) fn reserved_devices<'a>(
    bridges: impl Iterator<Item = &'a String>,
) -> impl Iterator<Item = String> {
    bridges.cloned().chain(["lo", "ovs-netdev"].map(str::to_owned))
}

/// `SWITCH-PEER` where that fits and is free, else `s.SWITCH.PORT` in numbers: no switch has a full stop in its name.
pub(super) fn device_name(
    (index, switch): (usize, &str),
    port: PortNo,
    peer: &str,
    taken: &BTreeSet<String>,
) -> String {
    let readable = format!("{switch}-{peer}");
    let fits = readable.len() <= INTERFACE_NAME_MAX && !taken.contains(&readable);
    if fits { readable } else { format!("s.{}.{port}", index + 1) }
}
