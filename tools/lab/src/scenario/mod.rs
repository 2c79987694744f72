//! Scenario files: a network, its traffic, the compared variants and the expected results.
//!
//! `docs/scenarios.md` describes the file format. Scenarios have been checked: names are valid and unique, every link
//! joins existing ends, every interface has a link, and addresses are unique.

mod address;
mod blueprint;
mod capacity;
mod check;
mod file;
mod generate;
mod pairs;
mod permutation;
mod problem;
mod values;
mod variant;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use braid_assign::Distribution;
use braid_link_model::{Change, Parameters, QueueLimit};
use braid_types::{BitsPerSec, DatapathId};
use serde::{Deserialize, Serialize};

pub use address::{Cidr, CidrError};
pub use pairs::AddressPair;
pub use problem::{Problem, ScenarioError};
pub use values::{
    Agents, Aggregate, EndpointFlag, Metric, Mode, Packets, PathManager, Protocol, Seconds, Tool, Work,
};

/// A scenario that has been checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name, a valid [`LabName`](crate::LabName).
    pub name: String,
    /// Its description.
    pub description: String,
    /// Whether all OpenFlow connections are TLS.
    #[serde(default)]
    pub tls: bool,
    /// The network.
    pub topology: Topology,
    /// The traffic; a network that is only deployed needs none.
    pub traffic: Option<Traffic>,
    /// The variants, each with all of the traffic; none: one run with defaults.
    pub variants: Vec<Variant>,
    /// The link events of every transfer, in order of time.
    pub events: Vec<Event>,
    /// The captures of every transfer.
    pub captures: Vec<Capture>,
    /// The expectations.
    pub expect: Vec<Expectation>,
}

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
    /// Its ends: two switches, or a host and a switch.
    pub ends: [End; 2],
    /// The direction from the first end to the second, and the reverse direction. Each has a rate above zero.
    pub directions: [Parameters; 2],
    /// Whether it has, or may get, properties besides a rate.
    pub emulated: bool,
    /// Uplink addresses, if it joins an edge and a router; the port is then that of the tunnel over it.
    #[serde(default)]
    pub uplink: Vec<UplinkAddress>,
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

/// The traffic: every mode in every direction, one after the other or all directions at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// The tools and lengths, each in turn; at least one.
    pub works: Vec<Work>,
    /// The modes; at least one.
    pub modes: Vec<Mode>,
    /// The directions; at least one.
    pub directions: Vec<Direction>,
    /// Whether all directions run at the same time.
    pub simultaneous: bool,
    /// The duration of each transfer; for tools with lengths, the time limit.
    pub duration: Duration,
    /// The time before the measurement.
    pub warm_up: Duration,
    /// Numbers of parallel connections, each in turn; at least one.
    pub streams: Vec<u16>,
    /// The number of repetitions; at least one.
    pub repeat: u16,
    /// The cross traffic during every transfer.
    pub background: Vec<Background>,
    /// The assignment of announced connections; for [`Tool::Gridftp`].
    pub assign: Option<Assign>,
}

/// Paths assigned to each transfer for its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assign {
    /// The maximum number of paths.
    pub paths: u8,
    /// How connections are distributed over them.
    pub distribution: Distribution,
}

/// Cross traffic during every transfer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// The sender and the receiver.
    pub direction: Direction,
    /// Parallel connections; at least one.
    pub streams: u16,
    /// The maximum total rate; `None`: unlimited.
    pub rate: Option<BitsPerSec>,
    /// Plain TCP, or UDP at a rate.
    pub protocol: Protocol,
    /// Its start after that of the transfer; `None`: before the transfer.
    pub after: Option<Duration>,
}

/// One of the compared ways to run the scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Unique.
    pub name: String,
    /// Options of `braid controller run` without hyphens, with their values.
    pub controller: BTreeMap<String, String>,
    /// The text of its policy file, if it has one.
    pub policy: Option<String>,
    /// Fixed rules instead of a controller, in the syntax of `ovs-ofctl(8)`, by switch name.
    pub rules: BTreeMap<String, Vec<String>>,
    /// Modes, if not all of [`Traffic::modes`].
    pub modes: Option<Vec<Mode>>,
    /// Numbers of streams, if not all of [`Traffic::streams`].
    pub streams: Option<Vec<u16>>,
    /// Overrides [`Traffic::assign`].
    pub assign: Option<Assign>,
    /// [`Mptcp::subflows`] of every host that uses it.
    pub subflows: Option<u8>,
    /// [`Mptcp::accept_addresses`] of every host that uses it.
    pub accept_addresses: Option<u8>,
    /// [`Endpoint::flags`] of every endpoint of every host.
    pub endpoint_flags: Option<Vec<EndpointFlag>>,
    /// [`Host::congestion_control`] of every host that has one.
    pub congestion_control: Option<String>,
    /// The agents on hosts that use MPTCP.
    pub agents: Agents,
}

/// A direction of traffic, from the host that connects and sends to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// The sender: an index in [`Topology::hosts`].
    pub from: usize,
    /// The receiver: an index in [`Topology::hosts`].
    pub to: usize,
    /// The sender's address of the first subflow.
    pub source: IpAddr,
    /// The receiver's address of the first subflow.
    pub destination: IpAddr,
}

/// A link event during every transfer. Afterwards the link is restored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The time after the start of the transfer.
    pub at: Duration,
    /// An index in [`Topology::links`].
    pub link: usize,
    /// The action.
    pub action: LinkAction,
}

/// An action on a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkAction {
    /// Both ends lose their carrier.
    Cut,
    /// Both ends regain their carrier.
    Restore,
    /// Changes of both directions, the one from the first end first.
    Set(Box<[Change; 2]>),
}

/// A capture of a host's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// An index in [`Topology::hosts`].
    pub host: usize,
    /// The captured packets.
    pub packets: Packets,
}

/// An expectation about settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// Its name.
    pub name: String,
    /// The value; for rates the mean of all runs.
    pub value: Metric,
    /// Selects settings of this mode.
    pub mode: Option<Mode>,
    /// Selects settings of this tool.
    pub tool: Option<Tool>,
    /// Selects settings of this length.
    pub bytes: Option<u64>,
    /// Selects settings of this variant.
    pub variant: Option<String>,
    /// Selects settings in which this host sends.
    pub from: Option<String>,
    /// The value is divided by that of this variant for the same direction and number of streams, and for the same mode
    /// if that variant has it.
    pub relative_to: Option<String>,
    /// The value is divided by that of this mode in the same variant, direction and number of streams.
    pub relative_to_mode: Option<Mode>,
    /// Whether the limit depends on the machine: where others take its processors, emulated links carry less.
    pub needs_quiet_machine: bool,
    /// Whether all settings must keep the limit, or one.
    pub of: Aggregate,
    /// The limit of the value.
    pub limit: Limit,
}

/// A limit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// At or above.
    AtLeast(f64),
    /// At or below.
    AtMost(f64),
}

impl Scenario {
    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] with every problem found, each with its line and column.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &file),
            Err(error) => Err(ScenarioError::unreadable(&file, &error)),
        }
    }

    /// Checks the text of a scenario; `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] with every problem found, each with its line and column.
    pub fn parse(text: &str, file: &str) -> Result<Self, ScenarioError> {
        let mut parsed: file::File =
            serde_saphyr::from_str(text).map_err(|error| ScenarioError::malformed(file, text, &error))?;
        check::check(&mut parsed).map_err(|problems| ScenarioError::new(file, problems))
    }
}

impl Link {
    /// The rate at which each end sends.
    pub fn rates(&self) -> [BitsPerSec; 2] {
        self.directions.map(|way| way.rate.unwrap_or(BitsPerSec(u64::MAX)))
    }
}

// 16 ms keep a link full; with 40 ms a loss on one MPTCP subflow can stall the other for a second.
fn usual_queue(rate: BitsPerSec) -> QueueLimit {
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

impl Limit {
    /// Whether `value` keeps the limit.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
        }
    }
}
