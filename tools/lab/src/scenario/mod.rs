//! Scenario files: a network, the traffic through it, what is compared and what is expected.
//!
//! The file format is described in `docs/scenarios.md`. What this module hands out has been checked: names are
//! valid and unique, every link joins things that exist, every interface has its cable, addresses do not clash.

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
    Agents, Deciding, EndpointFlag, Metric, Mode, Packets, PathManager, Protocol, Seconds, Tool, Work,
};

/// A scenario that has been checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name, a valid [`LabName`](crate::LabName).
    pub name: String,
    /// What it shows, for people.
    pub description: String,
    /// The network.
    pub topology: Topology,
    /// What runs through it; a network that is only deployed needs none.
    pub traffic: Option<Traffic>,
    /// The ways in which the controller is run, each with all of the traffic; none: once, as it is by default.
    pub variants: Vec<Variant>,
    /// What happens during every transfer, in the order of time.
    pub events: Vec<Event>,
    /// What is captured of every transfer.
    pub captures: Vec<Capture>,
    /// What must hold afterwards.
    pub expect: Vec<Expectation>,
}

/// Hosts, switches and the links between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Topology {
    /// In the order of the file.
    pub hosts: Vec<Host>,
    /// In the order of the file.
    pub switches: Vec<Switch>,
    /// In the order of the file; every interface of a host is an end of exactly one.
    pub links: Vec<Link>,
    /// Between edges, over uplinks; each uplink has one.
    #[serde(default)]
    pub tunnels: Vec<Tunnel>,
}

/// A tunnel between two edges, which each of them has as a port in the place of the uplink that it goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tunnel {
    /// The uplinks: places in [`Topology::links`].
    pub links: [usize; 2],
    /// The address that it has at each.
    pub addresses: [IpAddr; 2],
}

/// A host with its own network stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Unique among hosts and switches.
    pub name: String,
    /// Whether it passes IP packets on between its interfaces; the controller does not know it then.
    #[serde(default)]
    pub router: bool,
    /// At least one.
    pub interfaces: Vec<Interface>,
    /// What its kernel's Multipath TCP does.
    pub mptcp: Mptcp,
    /// The TCP congestion control of all its connections, or `None` for the kernel's default. Of those that couple
    /// subflows, only Multipath TCP has it.
    pub congestion_control: Option<String>,
    /// How many bytes a connection holds at most until they are read, or `None` for the kernel's default.
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
    /// Whether the host uses it at all, be it for one subflow a connection.
    pub used: bool,
    /// Who opens subflows.
    pub path_manager: PathManager,
    /// How many subflows a connection may have beyond its first.
    pub subflows: u8,
    /// How many addresses that the peer announces are connected to.
    pub accept_addresses: u8,
    /// The addresses that are announced or connected from.
    pub endpoints: Vec<Endpoint>,
}

/// An address that Multipath TCP may use beside the one of the first subflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Endpoint {
    /// One of the host's own.
    pub address: IpAddr,
    /// At least one.
    pub flags: Vec<EndpointFlag>,
}

/// An OpenFlow switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Switch {
    /// Unique among hosts and switches.
    pub name: String,
    /// Unique; by default the switch's place in the file, from 1.
    pub dpid: DatapathId,
    /// Whether it is one of Braid's own, `braid edge run`, which can spray; else it is a bridge of Open vSwitch.
    #[serde(default)]
    pub edge: bool,
    /// Where on Earth it stands: latitude and longitude in degrees.
    #[serde(default)]
    pub place: Option<[f64; 2]>,
    /// What it belongs to, such as a pod.
    #[serde(default)]
    pub group: Option<String>,
}

/// A cable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// What it joins: two switches, or a host and a switch.
    pub ends: [End; 2],
    /// What it is like from the first end to the second, and back. Each has a rate, above zero.
    pub ways: [Parameters; 2],
    /// Whether it is more than a rate, or may become so while the lab is up.
    pub emulated: bool,
    /// What an edge has at it, if it leads from there to a router; the port is then that of the tunnel over it.
    #[serde(default)]
    pub uplink: Vec<UplinkAddress>,
}

/// An address of an edge on the link to a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UplinkAddress {
    /// The edge's own.
    pub own: Cidr,
    /// The router's, in the same subnet.
    pub gateway: IpAddr,
}

/// One end of a cable. The numbers are places in the lists of [`Topology`] and [`Host`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// An interface of a host.
    Host {
        /// Which host.
        host: usize,
        /// Which of its interfaces.
        interface: usize,
    },
    /// A port of a switch.
    Switch(usize),
}

/// What is sent: every mode in every direction, one after the other or all directions at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// What makes it, and how much each transfer carries; each in turn, at least one.
    pub works: Vec<Work>,
    /// What is compared; at least one.
    pub modes: Vec<Mode>,
    /// Who sends to whom; at least one.
    pub directions: Vec<Direction>,
    /// Whether all directions go on at the same time.
    pub together: bool,
    /// How long each transfer takes; with so many bytes, how long it may take.
    pub duration: Duration,
    /// How long it goes on before that without being measured.
    pub warm_up: Duration,
    /// How many connections a transfer opens side by side; each number in turn, at least one.
    pub streams: Vec<u16>,
    /// How often all of this is done; at least once.
    pub repeat: u16,
    /// What goes on during every transfer.
    pub background: Vec<Background>,
    /// Whether and how connections are announced to the controller; of [`Tool::Gridftp`].
    pub assign: Option<Assign>,
}

/// Paths that each transfer has set aside for its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assign {
    /// How many at most.
    pub paths: u8,
    /// How connections are distributed over them.
    pub distribution: Distribution,
}

/// What goes on during every transfer, beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// Who sends to whom.
    pub direction: Direction,
    /// Connections side by side; at least one.
    pub streams: u16,
    /// What they send in all at most; nothing: as much as they can.
    pub rate: Option<BitsPerSec>,
    /// Plain TCP, or UDP at a rate.
    pub protocol: Protocol,
    /// How long after the beginning of the transfer it begins; nothing: before it.
    pub after: Option<Duration>,
}

/// One of several ways to run the scenario, which are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Unique.
    pub name: String,
    /// Options of `braid controller run` with their values, without the hyphens before them.
    pub controller: BTreeMap<String, String>,
    /// The text of its policy file, if it has one.
    pub policy: Option<String>,
    /// Fixed rules in the place of a controller, in the words of `ovs-ofctl(8)`, by the names of the switches.
    pub rules: BTreeMap<String, Vec<String>>,
    /// What is compared, where not all of [`Traffic::modes`] are.
    pub modes: Option<Vec<Mode>>,
    /// [`Traffic::streams`], where not all of them are tried.
    pub streams: Option<Vec<u16>>,
    /// [`Traffic::assign`], where it differs.
    pub assign: Option<Assign>,
    /// [`Mptcp::subflows`] of every host that uses it.
    pub subflows: Option<u8>,
    /// [`Mptcp::accept_addresses`] of every host that uses it.
    pub accept_addresses: Option<u8>,
    /// [`Endpoint::flags`] of every endpoint of every host.
    pub endpoint_flags: Option<Vec<EndpointFlag>>,
    /// [`Host::congestion_control`] of every host that has one.
    pub congestion_control: Option<String>,
    /// What agents on hosts that use Multipath TCP do.
    pub agents: Agents,
}

/// From the host that connects and sends to the one that receives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// The sender: a place in [`Topology::hosts`].
    pub from: usize,
    /// The receiver: a place in [`Topology::hosts`].
    pub to: usize,
    /// The sender's address of the first subflow.
    pub source: IpAddr,
    /// The receiver's address of the first subflow.
    pub destination: IpAddr,
}

/// What happens to a link during every transfer. Afterwards the link is as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// After the start of the transfer.
    pub at: Duration,
    /// A place in [`Topology::links`].
    pub link: usize,
    /// What happens.
    pub action: LinkAction,
}

/// What can happen to a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkAction {
    /// Both ends lose their carrier.
    Cut,
    /// They get it back.
    Restore,
    /// It changes, from its first end to its second, and back.
    Set(Box<[Change; 2]>),
}

/// What of a host's packets is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// A place in [`Topology::hosts`].
    pub host: usize,
    /// Which of them.
    pub packets: Packets,
}

/// What must hold for every setting that it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// For people.
    pub name: String,
    /// Which value; of rates the mean of all runs.
    pub value: Metric,
    /// The settings of this mode, or all.
    pub mode: Option<Mode>,
    /// The settings of this tool, or all.
    pub tool: Option<Tool>,
    /// The settings with so many bytes, or all.
    pub bytes: Option<u64>,
    /// The settings of the variant of this name, or all.
    pub variant: Option<String>,
    /// The settings in which this host sends, or all.
    pub from: Option<String>,
    /// The value is divided by that of this variant for the same direction and number of streams, and for the same mode
    /// if that variant has it.
    pub relative_to: Option<String>,
    /// Whether every setting must keep the limit, or one.
    pub of: Deciding,
    /// Where the value must lie.
    pub limit: Limit,
}

/// Where a value must lie.
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

    /// Checks the text of a scenario; `file` is what errors call it.
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
        self.ways.map(|way| way.rate.unwrap_or(BitsPerSec(u64::MAX)))
    }
}

// 16 ms keep a link full; with 40 ms a loss on one subflow of Multipath TCP can stall the other for a second.
fn usual_queue(rate: BitsPerSec) -> QueueLimit {
    QueueLimit::Bytes((rate.0 / 8_000).saturating_mul(16).max(32_000))
}

impl Topology {
    /// What is called `host.interface` or by the name of a switch in the file.
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
    /// Whether `value` lies where it must.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
        }
    }
}
