//! The traffic of a scenario, its variants, and what happens meanwhile.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use braid_assign::Distribution;
use braid_link_model::{Change, Parameters};
use braid_types::BitsPerSec;
use serde::{Deserialize, Serialize};

use super::values::{Agents, Average, ControllerRole, EndpointFlag, Mode, Packets, Protocol, Tool, Work};

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
    /// Whether processor time and memory of sockets are measured.
    #[serde(default)]
    pub cost: bool,
    /// Which of the goodputs of all repetitions stands for a setting.
    #[serde(default)]
    pub average: Average,
    /// The congestion controls of every host, each in turn; none: the hosts' own.
    #[serde(default)]
    pub congestion_controls: Vec<String>,
    /// The cross traffic during every transfer.
    pub background: Vec<Background>,
    /// The requests before and during every transfer.
    #[serde(default)]
    pub requests: Vec<Requests>,
    /// The assignment of announced connections; for [`Tool::Gridftp`](super::Tool::Gridftp).
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
    /// [`Mptcp::subflows`](super::Mptcp::subflows) of every host that uses it.
    pub subflows: Option<u8>,
    /// [`Mptcp::accept_addresses`](super::Mptcp::accept_addresses) of every host that uses it.
    pub accept_addresses: Option<u8>,
    /// [`Endpoint::flags`](super::Endpoint::flags) of every endpoint of every host.
    pub endpoint_flags: Option<Vec<EndpointFlag>>,
    /// [`Host::congestion_control`](super::Host::congestion_control) of every host that has one.
    pub congestion_control: Option<String>,
    /// The lines that sites use, if not all: indices in [`Sites::lines`](super::Sites::lines).
    #[serde(default)]
    pub lines: Option<Vec<usize>>,
    /// Overrides [`Sites::tunnel`](super::Sites::tunnel).
    #[serde(default)]
    pub tunnel: Option<bool>,
    /// Sets [`Topology::rewrite`](super::Topology::rewrite).
    #[serde(default)]
    pub rewrite: bool,
    /// The agents on hosts that use MPTCP.
    pub agents: Agents,
}

/// Small requests, a hundred a second, whose answers are timed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// From the host that asks.
    pub direction: Direction,
    /// The protocol.
    pub protocol: Protocol,
    /// The port that is asked.
    pub port: u16,
}

/// Properties of all lines of sites.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Its name in reports.
    pub name: String,
    /// Of each line the direction from its first end to the second, and the reverse direction.
    pub lines: Vec<[Parameters; 2]>,
    /// What others have published of it, by name.
    pub published: BTreeMap<String, f64>,
}

/// A direction of traffic, from the host that connects and sends to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// The sender: an index in [`Topology::hosts`](super::Topology::hosts).
    pub from: usize,
    /// The receiver: an index in [`Topology::hosts`](super::Topology::hosts).
    pub to: usize,
    /// The sender's address of the first subflow.
    pub source: IpAddr,
    /// The receiver's address of the first subflow.
    pub destination: IpAddr,
    /// What it has instead of the traffic's settings.
    #[serde(default)]
    pub own: OwnSettings,
}

/// Settings of one direction, in the place of those of the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnSettings {
    /// The mode.
    pub mode: Option<Mode>,
    /// The tool: iperf3 or GridFTP, for the traffic's duration.
    pub tool: Option<Tool>,
    /// The number of parallel connections.
    pub streams: Option<u16>,
    /// The rate, for [`Mode::Udp`].
    pub rate: Option<BitsPerSec>,
}

impl Traffic {
    /// Whether directions have settings of their own.
    pub fn is_mixed(&self) -> bool {
        self.directions.iter().any(|direction| direction.own != OwnSettings::default())
    }

    /// The number of transfers, or of rounds if all directions send at once.
    pub fn rounds(&self) -> usize {
        let directions = if self.simultaneous { 1 } else { self.directions.len() };
        let settings = self.modes.len() * self.works.len() * self.streams.len();
        directions * settings * usize::from(self.repeat)
    }

    /// Whether some transfer has this mode.
    pub fn has_mode(&self, mode: Mode) -> bool {
        self.modes.contains(&mode) || self.directions.iter().any(|it| it.own.mode == Some(mode))
    }
}

/// An event during every transfer. Afterwards links and controllers are as before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The time after the start of the transfer.
    pub at: Duration,
    /// The action.
    pub action: Action,
}

/// What an event does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A link changes.
    Link {
        /// An index in [`Topology::links`](super::Topology::links).
        link: usize,
        /// The change.
        change: LinkAction,
    },
    /// Something happens to a controller of a cluster.
    Controller {
        /// Which one.
        role: ControllerRole,
        /// What happens.
        change: ControllerAction,
    },
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

/// An action on a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControllerAction {
    /// Its process is killed (SIGKILL).
    Kill,
    /// Its process is stopped (SIGSTOP), as if it hung.
    Stop,
    /// The leader asks a standby to lead in its place.
    HandOver,
}

/// A capture of a host's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// An index in [`Topology::hosts`](super::Topology::hosts).
    pub host: usize,
    /// The captured packets.
    pub packets: Packets,
}
