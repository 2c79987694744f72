//! The network of a scenario: hosts, switches, links and tunnels.

use std::net::IpAddr;

use braid_link_model::{Parameters, QueueLimit};
use braid_types::{BitsPerSec, DatapathId};
use serde::{Deserialize, Serialize};

use super::address::Cidr;
use super::values::{EndpointFlag, PathManager};

/// Hosts, switches and the links between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// In the order of the file.
    pub hosts: Vec<Host>,
    /// In the order of the file.
    pub switches: Vec<Switch>,
    /// In the order of the file; every interface of a host is an end of exactly one link.
    pub links: Vec<Link>,
    /// Tunnels between edges, one for each uplink.
    #[serde(default)]
    pub tunnels: Vec<Tunnel>,
    /// Whether TCP crosses them with their addresses instead of in GRE.
    #[serde(default)]
    pub rewrite: bool,
    /// The two sites and their lines, if there are any.
    #[serde(default)]
    pub sites: Option<Sites>,
}

/// Two sites, joined by lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sites {
    /// Both boxes: indices in [`Topology::hosts`]. The first has interface 0 in the local network, and dials.
    pub boxes: [usize; 2],
    /// The host behind each: indices in [`Topology::hosts`].
    pub hosts: [usize; 2],
    /// The lines: indices in [`Topology::links`].
    pub lines: Vec<usize>,
    /// The lines that carry traffic: indices in `lines`.
    pub used: Vec<usize>,
    /// Whether tunnels do; otherwise the boxes route the subnets over the lines.
    pub tunnel: bool,
}

impl Sites {
    /// Whether this link is a line that carries no traffic.
    pub(crate) fn leaves_out(&self, link: usize) -> bool {
        self.lines.iter().position(|line| *line == link).is_some_and(|line| !self.used.contains(&line))
    }
}

/// A tunnel between two edges, a port of each in the place of its uplink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tunnel {
    /// The uplinks: indices in [`Topology::links`].
    pub links: [usize; 2],
    /// Its address at each end.
    pub addresses: [IpAddr; 2],
}

/// A host with its own network stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Unique among hosts and switches.
    pub name: String,
    /// Whether it forwards IP packets; the controller does not see routers.
    #[serde(default)]
    pub router: bool,
    /// At least one.
    pub interfaces: Vec<Interface>,
    /// Its MPTCP settings.
    pub mptcp: Mptcp,
    /// The TCP congestion control of its connections, or `None` for the kernel's default. A coupled one applies to MPTCP
    /// only.
    pub congestion_control: Option<String>,
    /// The receive buffer of a connection in bytes, or `None` for the kernel's default.
    pub receive_buffer: Option<u64>,
}

/// An interface of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// Unique at its host.
    pub name: String,
    /// The longest IP packet, in bytes.
    pub mtu: u16,
    /// Unique in the scenario.
    pub addresses: Vec<Cidr>,
}

/// The limits and endpoints of the kernel's path manager, see `ip-mptcp(8)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mptcp {
    /// Whether the host uses MPTCP, if only with one subflow.
    pub used: bool,
    /// The path manager.
    pub path_manager: PathManager,
    /// Additional subflows of a connection.
    pub subflows: u8,
    /// Announced addresses of the peer that are used.
    pub accept_addresses: u8,
    /// The endpoints.
    pub endpoints: Vec<Endpoint>,
}

/// An MPTCP endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Endpoint {
    /// An address of the host.
    pub address: IpAddr,
    /// At least one.
    pub flags: Vec<EndpointFlag>,
}

/// An OpenFlow switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Switch {
    /// Unique among hosts and switches.
    pub name: String,
    /// Unique; by default the switch's position in the file, from 1.
    pub dpid: DatapathId,
    /// Whether it is an edge (`braid edge run`); otherwise it is a bridge of Open vSwitch.
    #[serde(default)]
    pub edge: bool,
    /// Its position on Earth: latitude and longitude in degrees.
    #[serde(default)]
    pub place: Option<[f64; 2]>,
    /// The group that it belongs to, such as a pod.
    #[serde(default)]
    pub group: Option<String>,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its ends: two switches, a host and a switch, a host and the box of a site, or two of those.
    pub ends: [End; 2],
    /// The direction from the first end to the second, and the reverse direction. Each has a rate above zero.
    pub directions: [Parameters; 2],
    /// Whether it has, or may get, properties besides a rate.
    pub emulated: bool,
    /// Whether it is a line between two sites.
    #[serde(default)]
    pub line: bool,
    /// Uplink addresses, if it joins an edge and a router; the port is then that of the tunnel over it.
    #[serde(default)]
    pub uplink: Vec<UplinkAddress>,
    /// Whether its frames are carried in a VXLAN tunnel.
    #[serde(default)]
    pub tunnel: bool,
}

/// An address of an edge on the link to a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UplinkAddress {
    /// The edge's address.
    pub own: Cidr,
    /// The router's address, in the same subnet.
    pub gateway: IpAddr,
}

/// One end of a link. The numbers are indices in the lists of [`Topology`] and [`Host`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// An interface of a host.
    Host {
        /// The host.
        host: usize,
        /// Its interface.
        interface: usize,
    },
    /// A port of a switch.
    Switch(usize),
}

impl Link {
    /// The rate at which each end sends.
    pub fn rates(&self) -> [BitsPerSec; 2] {
        self.directions.map(|way| way.rate.unwrap_or(BitsPerSec(u64::MAX)))
    }
}

// 16 ms keep a link full; with 40 ms a loss on one MPTCP subflow can stall the other for a second.
pub(crate) fn usual_queue(rate: BitsPerSec) -> QueueLimit {
    QueueLimit::Bytes((rate.0 / 8_000).saturating_mul(16).max(32_000))
}

impl Topology {
    /// The end named `host.interface`, or by a switch's name.
    pub fn end_name(&self, end: End) -> String {
        match end {
            End::Switch(switch) => self.switches[switch].name.clone(),
            End::Host { host, interface } => {
                let host = &self.hosts[host];
                format!("{}.{}", host.name, host.interfaces[interface].name)
            }
        }
    }
}
