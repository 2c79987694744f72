//! Serde types of the scenario file, with the location of every value, unchecked.

use std::collections::BTreeMap;
use std::fmt;

use braid_link_model::{Delay, Distribution, Probability, QueueLimit};
use braid_types::{BitsPerSec, DatapathId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_saphyr::Location;

use super::address::Cidr;
use super::amounts::{ByteCount, Moment, OneOrList};
use super::spanned::Spanned;
use super::{
    Agents, Aggregate, ControllerRole, EndpointFlag, Metric, Mode, Packets, PathManager, Protocol, Seconds,
    Tool,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub scenario: Spanned<String>,
    #[serde(default)]
    pub description: String,
    /// Whether all OpenFlow connections are TLS.
    #[serde(default)]
    pub tls: bool,
    /// The number of controllers; several are a cluster.
    pub controllers: Option<Spanned<u8>>,
    pub topology: Topology,
    pub traffic: Option<Traffic>,
    #[serde(default)]
    pub variants: Vec<Variant>,
    #[serde(default)]
    pub events: Vec<Spanned<Event>>,
    #[serde(default)]
    pub captures: Vec<Spanned<Capture>>,
    #[serde(default)]
    pub expect: Vec<Spanned<Expect>>,
}

/// A capture of a host's packets.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Capture {
    pub host: Spanned<String>,
    pub packets: Packets,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Topology {
    #[serde(default)]
    pub hosts: Vec<Host>,
    #[serde(default)]
    pub switches: Vec<Switch>,
    /// Edges: Braid's own switches, numbered after the others.
    #[serde(default)]
    pub edges: Vec<Switch>,
    /// The number of `switches` that are not edges, once both are in one list.
    #[serde(skip)]
    pub ordinary: usize,
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

/// A tunnel between two uplink addresses.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Tunnel {
    pub between: Spanned<Vec<std::net::IpAddr>>,
}

/// A generated network, in which all hosts and all links have the same properties.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Generate {
    pub network: Spanned<String>,
    pub link: DirectionParameters,
    pub mtu: Option<Spanned<u16>>,
    #[serde(default)]
    pub ipv6: bool,
    pub congestion_control: Option<Spanned<String>>,
    pub receive_buffer: Option<Spanned<ByteCount>>,
    pub mptcp: Option<Mptcp>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    pub name: Spanned<String>,
    /// Whether the host forwards IP packets.
    #[serde(default)]
    pub router: bool,
    pub interfaces: Vec<Interface>,
    pub congestion_control: Option<Spanned<String>>,
    pub receive_buffer: Option<Spanned<ByteCount>>,
    pub mptcp: Option<Mptcp>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Interface {
    pub name: Spanned<String>,
    pub mtu: Option<Spanned<u16>>,
    #[serde(default)]
    pub addresses: Vec<Spanned<Cidr>>,
}

#[derive(Deserialize, JsonSchema, Default, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Mptcp {
    pub path_manager: Option<Spanned<PathManager>>,
    pub subflows: Option<Spanned<u8>>,
    pub accept_addresses: Option<Spanned<u8>>,
    #[serde(default)]
    pub endpoints: Vec<Spanned<Endpoint>>,
}

#[derive(Deserialize, JsonSchema, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Endpoint {
    pub address: std::net::IpAddr,
    pub flags: Vec<EndpointFlag>,
}

impl Topology {
    /// Appends the edges to the other switches.
    pub(super) fn gather_switches(&mut self) {
        self.ordinary = self.switches.len();
        self.switches.append(&mut self.edges);
    }

    /// The key of switch number `index` in the file.
    pub(super) fn switch_key(&self, index: usize) -> String {
        match index.checked_sub(self.ordinary) {
            Some(edge) => format!("topology.edges[{edge}]"),
            None => format!("topology.switches[{index}]"),
        }
    }
}

/// A switch: its name, or `name@datapath-id`.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Switch(pub Spanned<String>);

impl Switch {
    /// The name and the parsed datapath id.
    pub(super) fn parts(&self) -> (&str, Option<Result<DatapathId, braid_types::ParseError>>) {
        match self.0.value.split_once('@') {
            Some((name, dpid)) => (name, Some(dpid.parse())),
            None => (&self.0.value, None),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    pub between: Vec<Spanned<String>>,
    /// Addresses of the edge on a link to a router.
    #[serde(default)]
    pub uplink: Vec<Spanned<Cidr>>,
    pub rate: Spanned<BitsPerSec>,
    pub delay: Option<Spanned<Delay>>,
    pub jitter: Option<Spanned<Delay>>,
    pub distribution: Option<Spanned<Distribution>>,
    pub loss: Option<Spanned<Probability>>,
    pub loss_burst: Option<Spanned<f64>>,
    pub reorder: Option<Spanned<Probability>>,
    pub queue: Option<Spanned<QueueLimit>>,
    #[serde(default)]
    pub reverse: DirectionParameters,
    /// Short for `reverse: { rate: }`.
    pub reverse_rate: Option<Spanned<BitsPerSec>>,
    /// Short for `queue: BYTES bytes`.
    pub queue_bytes: Option<Spanned<u64>>,
}

/// Properties of one direction; missing ones are those of the other direction, or defaults.
#[derive(Deserialize, JsonSchema, Default, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct DirectionParameters {
    pub rate: Option<Spanned<BitsPerSec>>,
    pub delay: Option<Spanned<Delay>>,
    pub jitter: Option<Spanned<Delay>>,
    pub distribution: Option<Spanned<Distribution>>,
    pub loss: Option<Spanned<Probability>>,
    pub loss_burst: Option<Spanned<f64>>,
    pub reorder: Option<Spanned<Probability>>,
    pub queue: Option<Spanned<QueueLimit>>,
}

impl Link {
    /// A link with the same properties in both directions.
    pub(super) fn like(between: Vec<Spanned<String>>, direction: &DirectionParameters, at: Location) -> Self {
        let none = Spanned { value: BitsPerSec(1), referenced: at, defined: at };
        Self {
            between,
            uplink: Vec::new(),
            rate: direction.rate.clone().unwrap_or(none),
            delay: direction.delay.clone(),
            jitter: direction.jitter.clone(),
            distribution: direction.distribution.clone(),
            loss: direction.loss.clone(),
            loss_burst: direction.loss_burst.clone(),
            reorder: direction.reorder.clone(),
            queue: direction.queue.clone(),
            reverse: DirectionParameters::default(),
            reverse_rate: None,
            queue_bytes: None,
        }
    }

    /// The properties from the first end to the second.
    pub(super) fn forward(&self) -> DirectionParameters {
        DirectionParameters {
            rate: Some(self.rate.clone()),
            delay: self.delay.clone(),
            jitter: self.jitter.clone(),
            distribution: self.distribution.clone(),
            loss: self.loss.clone(),
            loss_burst: self.loss_burst.clone(),
            reorder: self.reorder.clone(),
            queue: self.queue.clone(),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Traffic {
    pub tool: Spanned<OneOrList<Tool>>,
    pub bytes: Option<Spanned<OneOrList<ByteCount>>>,
    pub modes: Spanned<Vec<Mode>>,
    pub directions: Option<Spanned<Vec<Direction>>>,
    /// The seed of a random permutation: every host sends to one host.
    pub permutation: Option<Spanned<u64>>,
    #[serde(default)]
    pub simultaneous: bool,
    pub duration: Spanned<Seconds>,
    pub warm_up: Option<Spanned<Seconds>>,
    pub streams: Option<Spanned<OneOrManyStreams>>,
    pub repeat: Option<Spanned<u16>>,
    #[serde(default)]
    pub background: Vec<Background>,
    pub assign: Option<Spanned<Assign>>,
}

/// Paths assigned to each transfer.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(super) struct Assign {
    pub paths: u8,
    #[serde(default)]
    pub distribution: braid_assign::Distribution,
}

#[derive(Deserialize, JsonSchema, Clone)]
#[serde(untagged, expecting = "give a whole number, or a list of them")]
pub(super) enum OneOrManyStreams {
    One(u16),
    Many(Vec<u16>),
}

impl OneOrManyStreams {
    pub(super) fn list(&self) -> Vec<u16> {
        match self {
            Self::One(one) => vec![*one],
            Self::Many(many) => many.clone(),
        }
    }
}

/// Cross traffic during every transfer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Background {
    pub from: Spanned<String>,
    pub to: Spanned<String>,
    pub streams: Option<Spanned<u16>>,
    pub rate: Option<Spanned<BitsPerSec>>,
    #[serde(default)]
    pub protocol: Protocol,
    pub after: Option<Spanned<Moment>>,
}

/// One way to run the scenario's traffic.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub name: Spanned<String>,
    pub controller: Option<Spanned<BTreeMap<String, Value>>>,
    /// The text of a policy file.
    pub policy: Option<Spanned<String>>,
    pub rules: Option<Spanned<BTreeMap<String, Vec<String>>>>,
    pub modes: Option<Spanned<Vec<Mode>>>,
    pub streams: Option<Spanned<OneOrManyStreams>>,
    pub assign: Option<Spanned<Assign>>,
    pub subflows: Option<Spanned<u8>>,
    pub accept_addresses: Option<Spanned<u8>>,
    pub endpoint_flags: Option<Spanned<Vec<EndpointFlag>>>,
    pub congestion_control: Option<Spanned<String>>,
    pub agents: Option<Spanned<Agents>>,
}

/// The value of a controller option.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "an option has a number or a text")]
pub(super) enum Value {
    Integer(u64),
    Float(f64),
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Direction {
    pub from: Spanned<String>,
    pub to: Spanned<String>,
    pub mode: Option<Spanned<Mode>>,
    pub tool: Option<Spanned<Tool>>,
    pub streams: Option<Spanned<u16>>,
    /// The rate of UDP.
    pub rate: Option<Spanned<BitsPerSec>>,
}

/// An event during every transfer, of a link or a controller.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    pub at: Spanned<Moment>,
    pub link: Option<Spanned<Vec<Spanned<String>>>>,
    pub controller: Option<Spanned<ControllerRole>>,
    pub nth: Option<Spanned<usize>>,
    #[serde(rename = "do")]
    pub act: Option<Spanned<Act>>,
    /// Changes of both directions.
    pub set: Option<Spanned<DirectionParameters>>,
    /// Changes of the direction from the second end to the first.
    pub reverse: Option<Spanned<DirectionParameters>>,
}

/// What an event does besides setting values.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Act {
    Cut,
    Restore,
    Kill,
    Stop,
    HandOver,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    pub name: Spanned<String>,
    pub value: Spanned<Metric>,
    pub mode: Option<Spanned<Mode>>,
    pub tool: Option<Spanned<Tool>>,
    pub bytes: Option<Spanned<ByteCount>>,
    pub variant: Option<Spanned<String>>,
    pub from: Option<Spanned<String>>,
    pub relative_to: Option<Spanned<String>>,
    pub relative_to_mode: Option<Spanned<Mode>>,
    pub relative_to_from: Option<Spanned<String>>,
    #[serde(default)]
    pub needs_quiet_machine: bool,
    #[serde(default)]
    pub of: Aggregate,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}
