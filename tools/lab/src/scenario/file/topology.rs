//! The testbed in a scenario file.

use std::collections::BTreeMap;

use braid_types::DatapathId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{DirectionParameters, Link};
use crate::scenario::address::Cidr;
use crate::scenario::amounts::ByteCount;
use crate::scenario::spanned::Spanned;
use crate::scenario::{EndpointFlag, PathManager};

/// The testbed: hosts, switches and links, or a generator of them.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Topology {
    /// Hosts: a network namespace each.
    #[serde(default)]
    pub hosts: Vec<Host>,
    /// Bridges of Open vSwitch, numbered from 1.
    #[serde(default)]
    pub switches: Vec<Switch>,
    /// Edges: Braid's own switches, numbered after the others.
    #[serde(default)]
    pub edges: Vec<Switch>,
    /// The number of `switches` that are not edges, once both are in one list.
    #[serde(skip)]
    pub ordinary: usize,
    /// The boxes of two sites (`braid site run`), one host behind each. Links between the two are lines.
    #[serde(default)]
    pub sites: Vec<Site>,
    /// The number of `hosts` that are not boxes of sites, once both are in one list.
    #[serde(skip)]
    pub ordinary_hosts: usize,
    /// Links between switches and interfaces of hosts.
    #[serde(default)]
    pub links: Vec<Spanned<Link>>,
    /// Positions of switches on Earth by name: latitude and longitude in degrees.
    #[serde(default)]
    pub locations: BTreeMap<String, Spanned<[f64; 2]>>,
    /// Groups of switches by name, for generated networks.
    #[serde(skip)]
    pub groups: BTreeMap<String, String>,
    /// Tunnels between edges, over their uplinks.
    #[serde(default)]
    pub tunnels: Vec<Spanned<Tunnel>>,
    /// A generator instead of hosts, switches and links.
    pub generate: Option<Spanned<Generate>>,
}

impl Topology {
    /// Appends the edges to the other switches.
    pub(in crate::scenario) fn gather_switches(&mut self) {
        self.ordinary = self.switches.len();
        self.switches.append(&mut self.edges);
    }

    /// The key of host number `index` in the file.
    pub(in crate::scenario) fn host_key(&self, index: usize) -> String {
        match index.checked_sub(self.ordinary_hosts) {
            Some(site) => format!("topology.sites[{site}]"),
            None => format!("topology.hosts[{index}]"),
        }
    }

    /// The boxes of sites, once they are among the hosts.
    pub(in crate::scenario) fn boxes(&self) -> &[Host] {
        self.hosts.get(self.ordinary_hosts..).unwrap_or_default()
    }

    /// The key of switch number `index` in the file.
    pub(in crate::scenario) fn switch_key(&self, index: usize) -> String {
        match index.checked_sub(self.ordinary) {
            Some(edge) => format!("topology.edges[{edge}]"),
            None => format!("topology.switches[{index}]"),
        }
    }
}

/// A host.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Host {
    /// The name; the namespace is `bl-LAB.NAME`.
    pub name: Spanned<String>,
    /// Whether the host forwards IP packets.
    #[serde(default)]
    pub router: bool,
    /// Interfaces, each at one link.
    pub interfaces: Vec<Interface>,
    /// The congestion control of TCP, as the kernel names it, or Braid's for MPTCP: `lia`, `olia`, `balia`, `uncoupled`. Required of hosts that send.
    pub congestion_control: Option<Spanned<String>>,
    /// How much a connection holds at most until it is read, such as `256kB`.
    pub receive_buffer: Option<Spanned<ByteCount>>,
    /// Path manager, limits and endpoints of MPTCP; without it the kernel's defaults hold.
    pub mptcp: Option<Mptcp>,
}

/// The box of a site.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Site {
    /// The name; the namespace is `bl-LAB.NAME`.
    pub name: Spanned<String>,
    /// Its IPv4 addresses in the local network, one for each subnet of the host behind it.
    pub addresses: Vec<Spanned<Cidr>>,
}

/// A host's interface.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Interface {
    /// Such as `eth0`.
    pub name: Spanned<String>,
    /// The longest IP packet in bytes, 1280 to 9000; 1500 by default.
    pub mtu: Option<Spanned<u16>>,
    /// IPv4 and IPv6 addresses with their prefix length.
    #[serde(default)]
    pub addresses: Vec<Spanned<Cidr>>,
}

/// MPTCP of a host.
#[derive(Deserialize, JsonSchema, Default, Clone)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Mptcp {
    /// Who opens subflows: the kernel, or Braid's agent on the host.
    pub path_manager: Option<Spanned<PathManager>>,
    /// How many more subflows a connection may have, 0 to 8.
    pub subflows: Option<Spanned<u8>>,
    /// How many announced addresses of the peer are used, 0 to 8.
    pub accept_addresses: Option<Spanned<u8>>,
    /// Endpoints, as of `ip mptcp endpoint`.
    #[serde(default)]
    pub endpoints: Vec<Spanned<Endpoint>>,
}

/// An endpoint of MPTCP.
#[derive(Deserialize, JsonSchema, Clone)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Endpoint {
    /// An address of the host.
    pub address: std::net::IpAddr,
    /// What it is for.
    pub flags: Vec<EndpointFlag>,
}

/// A switch: its name, or `name@datapath-id`.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::scenario) struct Switch(pub Spanned<String>);

impl Switch {
    /// The name and the parsed datapath id.
    pub(in crate::scenario) fn parts(&self) -> (&str, Option<Result<DatapathId, braid_types::ParseError>>) {
        match self.0.value.split_once('@') {
            Some((name, dpid)) => (name, Some(dpid.parse())),
            None => (&self.0.value, None),
        }
    }
}

/// A tunnel between two uplink addresses.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Tunnel {
    /// Two addresses of uplinks, at two edges.
    pub between: Spanned<Vec<std::net::IpAddr>>,
}

/// A generated network, in which all hosts and all links have the same properties.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Generate {
    /// A family and its sizes, such as `fattree:4`; see `braid topology generate`.
    pub network: Spanned<String>,
    /// The properties of every link; its rate is required.
    pub link: DirectionParameters,
    /// The longest IP packet of every host in bytes.
    pub mtu: Option<Spanned<u16>>,
    /// Hosts have IPv6 addresses instead of IPv4.
    #[serde(default)]
    pub ipv6: bool,
    /// The congestion control of every host.
    pub congestion_control: Option<Spanned<String>>,
    /// The receive buffer of every host's connections.
    pub receive_buffer: Option<Spanned<ByteCount>>,
    /// MPTCP of every host.
    pub mptcp: Option<Mptcp>,
}
