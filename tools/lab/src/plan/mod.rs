//! The plan of a lab: every name, number and setting, before anything is made.
//!
//! It is pure: `build` decides, `commands` writes commands for `ip`, `tc` and `ovs-vsctl`.

mod backend;
mod build;
mod commands;
mod growth;
mod shape;
mod sites;
mod tunnel;

use std::net::IpAddr;

use braid_link::LinkSetup;
use braid_link_model::Parameters;
use braid_types::{DatapathId, MacAddr, PortNo};
use serde::{Deserialize, Serialize};

use crate::names::LabName;
use crate::scenario::{Cidr, Mptcp, UplinkAddress};

pub use backend::LinkBackend;
use build::{device_name, reserved_devices};
pub(crate) use commands::{Commands, is_coupled, quiet_ipv6, shaper};
pub(crate) use sites::{RoutePlan, SitePlan};
pub(crate) use tunnel::Underlay;

/// The plan of a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub lab: LabName,
    pub scenario: String,
    /// The namespace of the switches.
    pub fabric: String,
    pub hosts: Vec<HostPlan>,
    pub switches: Vec<SwitchPlan>,
    pub links: Vec<LinkPlan>,
    /// The tunnel ports of edges, in pairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunnels: Vec<[(DatapathId, PortNo); 2]>,
    /// Whether TCP crosses them with their addresses instead of in GRE.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rewrite: bool,
    /// The sites whose boxes have tunnels: two, or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<SitePlan>,
    /// The MTU of every link and switch: the largest of the hosts.
    pub mtu: u16,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostPlan {
    pub name: String,
    pub namespace: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub router: bool,
    pub interfaces: Vec<InterfacePlan>,
    /// Routes to another site.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RoutePlan>,
    pub mptcp: Mptcp,
    pub congestion_control: Option<String>,
    pub receive_buffer: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct InterfacePlan {
    pub name: String,
    pub mac: MacAddr,
    pub mtu: u16,
    pub addresses: Vec<Cidr>,
    /// What `ethtool -K` is told of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offloads: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SwitchPlan {
    pub name: String,
    pub dpid: DatapathId,
    pub ports: Vec<PortPlan>,
    /// Whether it is an edge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edge: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PortPlan {
    pub number: PortNo,
    /// The interface in the fabric's namespace.
    pub device: String,
    /// The scenario's name of the link's other end.
    pub peer: String,
    /// The uplink of an edge; the port is then that of its tunnel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink: Option<UplinkPlan>,
}

/// An uplink of an edge at a router, and its tunnel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct UplinkPlan {
    pub addresses: Vec<UplinkAddress>,
    /// The addresses of this edge and of the other one.
    pub tunnel: Option<[IpAddr; 2]>,
}

/// A veth pair, or two pairs with a link in user space between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LinkPlan {
    pub ends: [LinkPlanEnd; 2],
    /// The direction from the first end to the second, and the reverse direction.
    pub directions: [Parameters; 2],
    pub backend: LinkBackend,
    /// What carries it, at each end, if it is a tunnel: rate and delay are those of the underlays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<[Underlay; 2]>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LinkPlanEnd {
    /// The name in the scenario: a switch, or a host and its interface.
    pub name: String,
    pub namespace: String,
    pub device: String,
    /// The datapath and port, or `None` at a host.
    pub port: Option<(DatapathId, PortNo)>,
}

impl Plan {
    /// All namespaces, the fabric's first.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = String> {
        let hosts = self.hosts.iter().map(|host| host.namespace.clone());
        let links = self.user_space().next().map(|_| self.lab.links_namespace());
        std::iter::once(self.fabric.clone()).chain(hosts).chain(links).chain(self.underlay_namespaces())
    }

    /// The links in user space, each with its number among them and its index in `links`.
    pub(crate) fn user_space(&self) -> impl Iterator<Item = (usize, usize, &LinkPlan)> {
        let links = self.links.iter().enumerate();
        let links = links.filter(|(_, link)| link.backend == LinkBackend::UserSpace);
        links.enumerate().map(|(number, (index, link))| (number, index, link))
    }

    /// The setup of the link process.
    pub(crate) fn link_setups(&self) -> Vec<LinkSetup> {
        let setup = |(number, _, link): (usize, usize, &LinkPlan)| LinkSetup {
            devices: user_space_devices(number),
            directions: link.directions,
        };
        self.user_space().map(setup).collect()
    }

    /// The switches that are bridges of Open vSwitch.
    pub(crate) fn bridges(&self) -> impl Iterator<Item = &SwitchPlan> {
        self.switches.iter().filter(|switch| !switch.edge)
    }

    /// The edges, each with its index among all switches.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (usize, &SwitchPlan)> {
        self.switches.iter().enumerate().filter(|(_, switch)| switch.edge)
    }

    pub(crate) fn host(&self, name: &str) -> Option<&HostPlan> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// The directed links between switches.
    pub(crate) fn switch_links(&self) -> impl Iterator<Item = [(DatapathId, PortNo); 2]> {
        let both = self.links.iter().filter_map(|link| Some([link.ends[0].port?, link.ends[1].port?]));
        both.chain(self.tunnels.iter().copied()).flat_map(|[a, b]| [[a, b], [b, a]])
    }
}

/// The names of the inner ends of link `number` in user space.
pub(crate) fn user_space_devices(number: usize) -> [String; 2] {
    ["a", "b"].map(|side| format!("{number}{side}"))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::Path;

    use super::*;
    use crate::scenario::Scenario;

    fn plan(scenario: &Scenario) -> Plan {
        Plan::new(scenario, &"lab".parse().unwrap(), || false)
    }

    #[test]
    fn the_commands_of_ams_gva_are_as_reviewed() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/ams-gva.yaml");
        let plan = plan(&Scenario::load(&path).unwrap());
        let commands = Commands(&plan);
        let mut text = commands.namespaces() + &commands.links() + &commands.fabric_links();
        let hosts = plan.hosts.iter().map(|host| commands.host(host));
        text.extend(hosts);
        text.extend(plan.namespaces().map(|name| commands.shapers(&name)));
        for words in [commands.bridges(), commands.controllers(&["tcp:127.0.0.1:6653".to_owned()])] {
            writeln!(text, "{}", words.join(" ").replace(" -- ", "\n-- ")).unwrap();
        }
        insta::assert_snapshot!(text);
    }

    /// Three links of a chain, each of which needs more than the one before.
    fn chain() -> Scenario {
        let text = "{scenario: t, topology: {hosts: [{name: h, interfaces: [{name: e0}]}], switches: [x, y, z], \
            links: [{between: [h.e0, x], rate: 10Mbit, delay: 1ms}, \
            {between: [x, y], rate: 10Mbit, delay: 20ms, loss: 1%, loss_burst: 4, queue: 50 packets, \
            reverse: {rate: 1Mbit, loss: 0%, loss_burst: 1, reorder: 2%}}, \
            {between: [y, z], rate: 10Mbit, delay: 20ms, jitter: 5ms}]}}";
        Scenario::parse(text, "t.yaml").unwrap()
    }

    #[test]
    fn links_with_delay_are_as_reviewed_where_the_kernel_has_netem_and_where_it_has_not() {
        let mut text = String::new();
        for netem in [true, false] {
            let plan = Plan::new(&chain(), &"lab".parse().unwrap(), || netem);
            let commands = Commands(&plan);
            text += &format!("netem: {netem}\n{}{}", commands.links(), commands.user_space_links());
            text.extend(plan.namespaces().map(|name| commands.shapers(&name)));
            text += &serde_json::to_string_pretty(&plan.link_setups()).unwrap();
            text += "\n";
        }
        insta::assert_snapshot!(text);
    }

    #[test]
    fn netem_is_looked_for_only_when_a_link_could_use_it() {
        let text =
            "{scenario: t, topology: {hosts: [], switches: [x, y], links: [{between: [x, y], rate: 1Mbit}]}}";
        let scenario = Scenario::parse(text, "t.yaml").unwrap();
        Plan::new(&scenario, &"lab".parse().unwrap(), || panic!("nothing needs it"));
    }

    #[test]
    fn interfaces_have_names_that_fit_and_differ() {
        let text = "{scenario: t, topology: {hosts: [{name: h, interfaces: [{name: e0}]}], \
            switches: [long-switch-a, long-switch-b, x, y, x-y], links: [\
            {between: [h.e0, x], rate: 1Mbit}, {between: [long-switch-a, long-switch-b], rate: 1Mbit}, \
            {between: [x, y], rate: 1Mbit}, {between: [x, y], rate: 1Mbit}]}}";
        let plan = plan(&Scenario::parse(text, "t.yaml").unwrap());
        let devices = plan.switches.iter().flat_map(|switch| &switch.ports).map(|port| port.device.as_str());
        let mut devices: Vec<_> = devices.collect();
        assert_eq!(devices, ["s.1.1", "s.2.1", "x-h", "s.3.2", "s.3.3", "y-x", "s.4.2"]);
        devices.extend(plan.switches.iter().map(|switch| switch.name.as_str()));
        assert!(devices.iter().all(|name| name.len() <= 15));
    }

    #[test]
    fn edges_are_numbered_behind_the_other_switches_and_are_no_bridges() {
        let text = "{scenario: t, topology: {hosts: [], switches: [x], edges: [y, z@00000000000000ff], links: [\
            {between: [y, x], rate: 1Mbit}, {between: [x, z], rate: 1Mbit}]}}";
        let plan = plan(&Scenario::parse(text, "t.yaml").unwrap());
        let edges: Vec<_> =
            plan.edges().map(|(place, edge)| (place, edge.name.as_str(), edge.dpid.0)).collect();
        assert_eq!(edges, [(1, "y", 2), (2, "z", 255)]);
        let commands = Commands(&plan);
        for words in [commands.bridges(), commands.controllers(&["tcp:127.0.0.1:6653".to_owned()])] {
            assert!(words.iter().any(|word| word == "x"));
            assert!(!words.iter().any(|word| word == "y" || word == "z"), "{words:?}");
        }
        assert_eq!(plan.edges().next().unwrap().1.ports[0].device, "y-x");
    }

    #[test]
    fn every_bridge_has_a_record_of_each_of_several_controllers() {
        let text =
            "{scenario: t, topology: {hosts: [], switches: [x, y], links: [{between: [x, y], rate: 1Mbit}]}}";
        let plan = plan(&Scenario::parse(text, "t.yaml").unwrap());
        let targets = ["ssl:127.0.0.1:6653", "ssl:127.0.0.1:6654"].map(str::to_owned);
        let words = Commands(&plan).controllers(&targets).join(" ");
        for expected in [
            "--id=@c1_1 create controller target=\"ssl:127.0.0.1:6654\" ",
            "set bridge x controller=@c0_0,@c0_1",
            "set bridge y controller=@c1_0,@c1_1",
        ] {
            assert!(words.contains(expected), "{words}");
        }
    }

    #[test]
    fn an_uplinks_port_is_that_of_its_tunnel_and_its_router_forwards() {
        let text = "{scenario: t, topology: {hosts: [{name: r, router: true, interfaces: [\
            {name: e0, addresses: [192.0.2.1/30]}, {name: e1, addresses: [192.0.2.65/30]}]}], edges: [s, t], links: [\
            {between: [r.e0, s], rate: 1Mbit, uplink: [192.0.2.2/30]}, \
            {between: [t, r.e1], rate: 1Mbit, uplink: [192.0.2.66/30]}], \
            tunnels: [{between: [192.0.2.66, 192.0.2.2]}]}}";
        let plan = plan(&Scenario::parse(text, "t.yaml").unwrap_or_else(|error| panic!("{error}")));
        let links: Vec<_> = plan.switch_links().map(|[(a, p), (b, q)]| (a.0, p.0, b.0, q.0)).collect();
        assert_eq!(links, [(2, 1, 1, 1), (1, 1, 2, 1)]);
        let uplink = plan.switches[0].ports[0].uplink.as_ref().unwrap();
        assert_eq!(uplink.tunnel, Some([[192, 0, 2, 2].into(), [192, 0, 2, 66].into()]));
        assert_eq!(uplink.addresses[0].gateway, IpAddr::from([192, 0, 2, 1]));
        let parameters = plan.hosts[0].parameters();
        assert!(parameters.contains(&("net/ipv4/ip_forward".to_owned(), "1".to_owned())), "{parameters:?}");
    }

    #[test]
    fn hosts_with_mptcp_start_with_large_receive_buffers_unless_the_scenario_gives_a_size() {
        let text = "{scenario: t, topology: {hosts: [\
            {name: a, interfaces: [{name: e0, addresses: [10.0.0.1/24]}]}, \
            {name: b, interfaces: [{name: e0, addresses: [10.0.0.2/24]}], mptcp: {subflows: 2}}, \
            {name: c, interfaces: [{name: e0, addresses: [10.0.0.3/24]}], mptcp: {subflows: 2}, receive_buffer: 64kB}], \
            switches: [s], links: [{between: [a.e0, s], rate: 1Mbit}, {between: [b.e0, s], rate: 1Mbit}, \
            {between: [c.e0, s], rate: 1Mbit}]}}";
        let plan = plan(&Scenario::parse(text, "t.yaml").unwrap_or_else(|error| panic!("{error}")));
        let sizes = plan.hosts.iter().map(|host| {
            host.parameters().into_iter().find(|(key, _)| key.ends_with("tcp_rmem")).map(|(_, size)| size)
        });
        let wanted = [None, Some("4096 4194304".to_owned()), Some("4096 64000 64000".to_owned())];
        assert_eq!(sizes.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_congestion_control_is_a_property_of_the_route_to_each_subnet() {
        let text = "{scenario: t, topology: {hosts: [{name: a, congestion_control: cubic, interfaces: [{name: e0, \
            addresses: [10.0.0.1/24, 10.0.0.2/24, 'fd00::1/64']}]}], switches: [s], \
            links: [{between: [a.e0, s], rate: 1Mbit}]}}";
        let plan = plan(&Scenario::parse(text, "t.yaml").unwrap_or_else(|error| panic!("{error}")));
        let commands = Commands(&plan).congestion_control(&plan.hosts[0], "cubic");
        assert_eq!(
            commands.lines().collect::<Vec<_>>(),
            [
                "route del 10.0.0.0/24 dev e0 proto kernel scope link src 10.0.0.1",
                "route append 10.0.0.0/24 dev e0 proto kernel scope link src 10.0.0.1 congctl cubic",
                "-6 route del fd00::/64 dev e0 proto kernel metric 256",
                "-6 route append fd00::/64 dev e0 proto kernel metric 256 congctl cubic",
            ]
        );
    }

    #[test]
    fn boxes_route_each_subnet_over_a_line_where_they_have_no_tunnels() {
        let text = include_str!("../../tests/sites.yaml");
        let scenario = Scenario::parse(text, "sites.yaml").unwrap_or_else(|error| panic!("{error}"));
        let (tunnels, routed) = (plan(&scenario), plan(&scenario.with_variant(&scenario.variants[2])));
        assert_eq!((tunnels.sites.len(), routed.sites.len()), (2, 0));
        let text = |plan: &Plan| {
            let commands = Commands(plan);
            plan.hosts
                .iter()
                .map(|host| format!("{}:\n{}", host.name, commands.host(host)))
                .collect::<String>()
        };
        insta::assert_snapshot!(text(&routed));
        let without: Vec<_> = routed.hosts[2].routes.iter().map(|it| it.to.to_string()).collect();
        assert_eq!(
            (without, &tunnels.hosts[2].routes[..]),
            (vec!["10.2.1.0/24".to_owned(), "10.2.2.0/24".to_owned()], &[][..])
        );
        let offloads: Vec<_> = routed.hosts[2].interfaces.iter().map(|it| it.offloads.len()).collect();
        assert_eq!((offloads, routed.user_space().count()), (vec![0, 8, 8], 2));
    }

    #[test]
    fn switch_links_are_listed_in_both_directions() {
        let text = "{scenario: t, topology: {hosts: [], switches: [x, y], links: [\
            {between: [x, y], rate: 1Mbit}, {between: [y, x], rate: 1Mbit}]}}";
        let plan = plan(&Scenario::parse(text, "t.yaml").unwrap());
        let links: Vec<_> = plan.switch_links().map(|[(a, p), (b, q)]| (a.0, p.0, b.0, q.0)).collect();
        assert_eq!(links, [(1, 1, 2, 1), (2, 1, 1, 1), (2, 2, 1, 2), (1, 2, 2, 2)]);
    }
}
