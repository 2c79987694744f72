//! Commands for `ip`, `tc` and `ovs-vsctl` that carry out a plan.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

use braid_congestion::Algorithm;
use braid_types::PortNo;

use super::{
    HostPlan, InterfacePlan, LinkBackend, LinkPlan, LinkPlanEnd, Plan, RoutePlan, SwitchPlan, shape,
    user_space_devices,
};
use crate::scenario::{Cidr, Endpoint, EndpointFlag, Mptcp, PathManager};

/// The commands of a plan, one text or list for each run of a tool.
pub(crate) struct Commands<'a>(pub(crate) &'a Plan);

impl Commands<'_> {
    /// For `ip -batch`: namespaces.
    pub(crate) fn namespaces(&self) -> String {
        self.0.namespaces().fold(String::new(), |text, namespace| text + "netns add " + &namespace + "\n")
    }

    /// For `ip -batch`: every veth pair, made directly in its namespaces.
    pub(crate) fn links(&self) -> String {
        let mut text = String::new();
        let whole = self.0.links.iter().filter(|link| link.backend != LinkBackend::UserSpace);
        for link in whole {
            let [left, right] = [0, 1].map(|side| self.made(link, side));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "link add {left} type veth peer name {right}");
        }
        let namespace = self.0.lab.links_namespace();
        for (number, _, link) in self.0.user_space() {
            for (side, inner) in user_space_devices(number).into_iter().enumerate() {
                let (outer, mtu) = (self.made(link, side), self.mtu(link));
                let _ = writeln!(text, "link add {outer} type veth peer name {inner}{mtu} netns {namespace}");
            }
        }
        text
    }

    /// For `ip -batch`: one link between switches, made and up.
    pub(crate) fn link(&self, link: &LinkPlan) -> String {
        let [left, right] = [0, 1].map(|side| self.made(link, side));
        let up = link.ends.iter().map(|end| format!("link set {} up\n", end.device));
        std::iter::once(format!("link add {left} type veth peer name {right}\n")).chain(up).collect()
    }

    /// For `ip -batch` inside the link process's namespace: every inner end up.
    pub(crate) fn user_space_links(&self) -> String {
        let devices = self.0.user_space().flat_map(|(number, ..)| user_space_devices(number));
        devices.fold(String::new(), |text, device| text + "link set " + &device + " up\n")
    }

    /// For `ip -batch` inside the fabric: every end up.
    pub(crate) fn fabric_links(&self) -> String {
        let devices = self.devices_in(&self.0.fabric).map(|end| end.device.as_str());
        std::iter::once("lo").chain(devices).fold(String::new(), |text, it| text + "link set " + it + " up\n")
    }

    /// For `ip -batch` inside a host: links, addresses, Multipath TCP.
    pub(crate) fn host(&self, host: &HostPlan) -> String {
        let mut lines = vec!["link set lo up".to_owned()];
        for interface in &host.interfaces {
            let mtu = match interface.mtu {
                mtu if mtu == self.0.mtu => String::new(),
                mtu => format!("mtu {mtu} "),
            };
            lines.push(format!("link set {} address {} {mtu}up", interface.name, interface.mac));
            lines.extend(interface.addresses.iter().map(|cidr| address_line(*cidr, &interface.name)));
        }
        lines.extend(host.routes.iter().map(|route| route_line(route, host.kernel_control())));
        lines.extend(mptcp(host));
        lines.join("\n") + "\n"
    }

    /// For `ip -batch` inside a host: its congestion control as a property of its routes, which takes one that the machine does
    /// not allow in namespaces (`net.ipv4.tcp_allowed_congestion_control`), for what the host opens and what it accepts. Only
    /// further subflows that it accepts have the machine's default, as they copy that of the connection.
    pub(crate) fn congestion_control(&self, host: &HostPlan, name: &str) -> String {
        let lines = host.interfaces.iter().flat_map(|interface| {
            let mut subnets = BTreeMap::new();
            for cidr in &interface.addresses {
                // The first address of a subnet is the one that its route prefers.
                if let Some(subnet) = cidr.subnet() {
                    subnets.entry(subnet).or_insert(cidr.address);
                }
            }
            subnets.into_iter().map(|(subnet, source)| match source {
                // Another interface may have a route to the same subnet: `change` would take that for this one.
                IpAddr::V4(_) => {
                    let route =
                        format!("{subnet} dev {} proto kernel scope link src {source}", interface.name);
                    format!("route del {route}\nroute append {route} congctl {name}\n")
                }
                IpAddr::V6(_) => {
                    let route = format!("{subnet} dev {} proto kernel metric 256", interface.name);
                    format!("-6 route del {route}\n-6 route append {route} congctl {name}\n")
                }
            })
        });
        lines.collect()
    }

    /// For `tc -batch` inside `namespace`: the rate of every end.
    pub(crate) fn shapers(&self, namespace: &str) -> String {
        let sides = self.0.links.iter().flat_map(|link| [0, 1].map(|side| (link, side)));
        let sides = sides.filter(|(link, side)| link.sender(*side).0 == namespace);
        sides.map(|(link, side)| shaper(link, side)).collect()
    }

    /// For `ovs-vsctl`, in one transaction: every bridge with its ports.
    pub(crate) fn bridges(&self) -> Vec<String> {
        self.0.bridges().flat_map(bridge).collect()
    }

    /// For `ovs-vsctl`, in one transaction: the ports of a link between bridges.
    pub(crate) fn ports(link: &LinkPlan) -> Vec<String> {
        link.ends
            .iter()
            .filter_map(|end| Some(add_port(&end.name, &end.device, end.port?.1)))
            .flatten()
            .collect()
    }

    /// For `ovs-vsctl`, in one transaction: the controllers of every bridge.
    pub(crate) fn controllers(&self, targets: &[String]) -> Vec<String> {
        self.0.bridges().enumerate().flat_map(|(place, bridge)| controllers(place, bridge, targets)).collect()
    }

    fn made(&self, link: &LinkPlan, side: usize) -> String {
        let (namespace, device) = link.sender(side);
        format!("{device}{} netns {namespace}", self.mtu(link))
    }

    /// The MTU of a new interface, unless it is the default.
    fn mtu(&self, link: &LinkPlan) -> String {
        match self.0.mtu + link.headers() {
            1_500 => String::new(),
            mtu => format!(" mtu {mtu}"),
        }
    }

    fn devices_in<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a LinkPlanEnd> {
        let ends = self.0.links.iter().flat_map(|link| &link.ends);
        ends.filter(move |end| end.namespace == namespace)
    }
}

impl HostPlan {
    pub(crate) const fn uses_mptcp(&self) -> bool {
        self.mptcp.used
    }

    /// Whether the host uses the kernel's path manager.
    pub(crate) fn uses_kernel_path_manager(&self) -> bool {
        self.uses_mptcp() && self.mptcp.path_manager == PathManager::Kernel
    }

    /// Kernel parameters, as paths below /proc/sys.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        let mut all = vec![
            // An interface answers ARP only for its own addresses, since two interfaces may share a subnet.
            parameter("net/ipv4/conf/all/arp_ignore", "1"),
            parameter("net/ipv4/conf/all/arp_announce", "2"),
            parameter("net/ipv4/conf/all/rp_filter", "2"),
            parameter("net/ipv4/ip_forward", if self.router { "1" } else { "0" }),
            // Runs start without cached TCP metrics of earlier runs.
            parameter("net/ipv4/tcp_no_metrics_save", "1"),
        ];
        all.extend(self.ipv6());
        if self.uses_mptcp() {
            all.extend([parameter("net/mptcp/enabled", "1"), parameter("net/mptcp/pm_type", "0")]);
        }
        all.extend(self.receive_buffers());
        all
    }

    fn receive_buffers(&self) -> Option<(String, String)> {
        let advised = self.uses_mptcp().then(|| parameter(RECEIVE_BUFFERS, FIRST_OF_MPTCP));
        self.receive_buffer.map(receive_buffer).or(advised)
    }

    /// The kernel parameter of its congestion control, as a path below /proc/sys.
    pub(crate) fn default_control(name: &str) -> (String, String) {
        parameter("net/ipv4/tcp_congestion_control", name)
    }

    /// Its congestion control, if it is the kernel's.
    pub(crate) fn kernel_control(&self) -> Option<&str> {
        self.congestion_control.as_deref().filter(|name| !is_coupled(name))
    }

    // Without an IPv6 address IPv6 is off; with one, the host has no others.
    fn ipv6(&self) -> Vec<(String, String)> {
        let mut addresses = self.interfaces.iter().flat_map(|it: &InterfacePlan| &it.addresses);
        if addresses.all(|cidr| cidr.address.is_ipv4()) {
            return quiet_ipv6();
        }
        let forwarding = self.router.then(|| parameter("net/ipv6/conf/all/forwarding", "1"));
        let keys = ["accept_ra", "accept_dad", "autoconf"].into_iter();
        let off = keys.flat_map(|key| {
            ["all", "default"].map(|scope| parameter(&format!("net/ipv6/conf/{scope}/{key}"), "0"))
        });
        off.chain(forwarding).collect()
    }
}

/// Whether it is one of Braid's congestion controls, which an agent loads.
pub(crate) fn is_coupled(congestion_control: &str) -> bool {
    congestion_control.parse::<Algorithm>().is_ok()
}

/// Kernel parameters of the fabric: its ends of links send no packets of their own.
pub(crate) fn quiet_ipv6() -> Vec<(String, String)> {
    ["all", "default"].map(|scope| parameter(&format!("net/ipv6/conf/{scope}/disable_ipv6"), "1")).to_vec()
}

/// For `tc -batch` in the namespace of end `side` of `link`: the shaper of the direction from there.
pub(crate) fn shaper(link: &LinkPlan, side: usize) -> String {
    shape::lines(link.sender(side).1, &link.directions[side], link.backend)
}

/// Smallest, first and largest size in bytes of a receive buffer.
const RECEIVE_BUFFERS: &str = "net/ipv4/tcp_rmem";

/// The smallest and the first size as docs/host.md advises for MPTCP; the largest stays the machine's.
const FIRST_OF_MPTCP: &str = "4096 4194304";

/// 128 KiB is the kernel's first size.
fn receive_buffer(bytes: u64) -> (String, String) {
    parameter(RECEIVE_BUFFERS, &format!("4096 {} {bytes}", bytes.min(131_072)))
}

fn parameter(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

fn mptcp(host: &HostPlan) -> Vec<String> {
    if !host.uses_kernel_path_manager() {
        return Vec::new();
    }
    let Mptcp { subflows, accept_addresses, endpoints, .. } = &host.mptcp;
    let mut lines =
        vec![format!("mptcp limits set subflows {subflows} add_addr_accepted {accept_addresses}")];
    lines.extend(endpoints.iter().map(|endpoint| endpoint_line(host, endpoint)));
    lines
}

// The scenario has no duplicate addresses, so detection, which takes a second, is skipped.
fn address_line(cidr: Cidr, device: &str) -> String {
    let nodad = if cidr.address.is_ipv6() { " nodad" } else { "" };
    format!("addr add {cidr} dev {device}{nodad}")
}

/// A congestion control of the route is taken also where namespaces may not have it as their default.
fn route_line(route: &RoutePlan, control: Option<&str>) -> String {
    let RoutePlan { to, via, source } = route;
    let source = source.map(|source| format!(" src {source}")).unwrap_or_default();
    let control = control.map(|name| format!(" congctl {name}")).unwrap_or_default();
    format!("route add {to} via {via}{source}{control}")
}

fn endpoint_line(host: &HostPlan, endpoint: &Endpoint) -> String {
    let holds = |it: &&InterfacePlan| it.addresses.iter().any(|cidr| cidr.address == endpoint.address);
    let flags: Vec<_> = endpoint.flags.iter().map(ToString::to_string).collect();
    // A subflow leaves by the interface of its address, whatever the routes.
    let device =
        host.interfaces.iter().find(holds).filter(|_| !endpoint.flags.contains(&EndpointFlag::Signal));
    let device = device.map_or(String::new(), |it| format!("dev {} ", it.name));
    format!("mptcp endpoint add {} {device}{}", endpoint.address, flags.join(" "))
}

fn bridge(switch: &SwitchPlan) -> Vec<String> {
    let (name, dpid) = (&switch.name, switch.dpid);
    let mut all = words(&format!(
        "-- add-br {name} -- set bridge {name} datapath_type=netdev fail_mode=secure protocols=OpenFlow13 \
         other_config:datapath-id={dpid} other_config:disable-in-band=true"
    ));
    for port in &switch.ports {
        all.extend(add_port(name, &port.device, port.number));
    }
    all
}

fn add_port(bridge: &str, device: &str, number: PortNo) -> Vec<String> {
    words(&format!("-- add-port {bridge} {device} -- set interface {device} ofport_request={number}"))
}

/// A record for each controller of bridge number `place`. `set-controller` names none of several.
fn controllers(place: usize, bridge: &SwitchPlan, targets: &[String]) -> Vec<String> {
    let ids: Vec<_> = (0..targets.len()).map(|number| format!("@c{place}_{number}")).collect();
    let mut all = Vec::new();
    for (id, target) in ids.iter().zip(targets) {
        all.extend(words(&format!(
            "-- --id={id} create controller target=\"{target}\" max_backoff=1000 connection_mode=out-of-band"
        )));
    }
    all.extend(words(&format!("-- set bridge {} controller={}", bridge.name, ids.join(","))));
    all
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
