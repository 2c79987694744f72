//! The scenario file as it is written: serde types with the place of every value, nothing checked yet.

use std::collections::BTreeMap;
use std::fmt;

use braid_link_model::{Delay, Distribution, Probability, QueueLimit};
use braid_types::{BitsPerSec, DatapathId};
use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use super::address::Cidr;
use super::values::{ByteCount, Moment, Several};
use super::{Agents, Deciding, EndpointFlag, Metric, Mode, Packets, PathManager, Protocol, Seconds, Tool};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub scenario: Spanned<String>,
    #[serde(default)]
    pub description: String,
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

/// What of a host's packets is kept.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Capture {
    pub host: Spanned<String>,
    pub packets: Packets,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Topology {
    #[serde(default)]
    pub hosts: Vec<Host>,
    #[serde(default)]
    pub switches: Vec<Switch>,
    /// Switches too, behind those: Braid's own, which can spray.
    #[serde(default)]
    pub edges: Vec<Switch>,
    /// How many of `switches` are no edges, once those are among them.
    #[serde(skip)]
    pub ordinary: usize,
    #[serde(default)]
    pub links: Vec<Spanned<Link>>,
    /// Where switches stand on Earth, latitude and longitude in degrees, by name.
    #[serde(default)]
    pub places: BTreeMap<String, Spanned<[f64; 2]>>,
    /// What switches belong to, by name, if a rule made them.
    #[serde(skip)]
    pub groups: BTreeMap<String, String>,
    /// Between edges, over their uplinks.
    #[serde(default)]
    pub tunnels: Vec<Spanned<Tunnel>>,
    /// All of these, made by a rule.
    pub generate: Option<Spanned<Generate>>,
}

/// A tunnel between two addresses of uplinks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tunnel {
    pub between: Spanned<Vec<std::net::IpAddr>>,
}

/// A network made by a rule, in which all hosts are alike, and all links.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Generate {
    pub network: Spanned<String>,
    pub link: Way,
    pub mtu: Option<Spanned<u16>>,
    #[serde(default)]
    pub ipv6: bool,
    pub congestion_control: Option<Spanned<String>>,
    pub receive_buffer: Option<Spanned<ByteCount>>,
    pub mptcp: Option<Mptcp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    pub name: Spanned<String>,
    /// Whether it passes on what is for others.
    #[serde(default)]
    pub router: bool,
    pub interfaces: Vec<Interface>,
    pub congestion_control: Option<Spanned<String>>,
    pub receive_buffer: Option<Spanned<ByteCount>>,
    pub mptcp: Option<Mptcp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Interface {
    pub name: Spanned<String>,
    pub mtu: Option<Spanned<u16>>,
    #[serde(default)]
    pub addresses: Vec<Spanned<Cidr>>,
}

#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Mptcp {
    pub path_manager: Option<Spanned<PathManager>>,
    pub subflows: Option<Spanned<u8>>,
    pub accept_addresses: Option<Spanned<u8>>,
    #[serde(default)]
    pub endpoints: Vec<Spanned<Endpoint>>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Endpoint {
    pub address: std::net::IpAddr,
    pub flags: Vec<EndpointFlag>,
}

impl Topology {
    /// Puts the edges behind the other switches.
    pub(super) fn gather_switches(&mut self) {
        self.ordinary = self.switches.len();
        self.switches.append(&mut self.edges);
    }

    /// Where switch number `index` stands in the file.
    pub(super) fn switch_key(&self, index: usize) -> String {
        match index.checked_sub(self.ordinary) {
            Some(edge) => format!("topology.edges[{edge}]"),
            None => format!("topology.switches[{index}]"),
        }
    }
}

/// A switch is its name, or `name@datapath-id`.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Switch(pub Spanned<String>);

impl Switch {
    /// The name and the text of the datapath id.
    pub(super) fn parts(&self) -> (&str, Option<Result<DatapathId, braid_types::ParseError>>) {
        match self.0.value.split_once('@') {
            Some((name, dpid)) => (name, Some(dpid.parse())),
            None => (&self.0.value, None),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    pub between: Vec<Spanned<String>>,
    /// Addresses of the edge at one end; the router at the other passes on what goes elsewhere.
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
    pub back: Way,
    /// Short for `back: { rate: }`.
    pub rate_back: Option<Spanned<BitsPerSec>>,
    /// Short for `queue: BYTES bytes`.
    pub queue_bytes: Option<Spanned<u64>>,
}

/// What one direction is like; what is not given is as in the other direction, or has a default.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Way {
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
    /// One that is like `way` there and back.
    pub(super) fn like(between: Vec<Spanned<String>>, way: &Way, at: Location) -> Self {
        let none = Spanned { value: BitsPerSec(1), referenced: at, defined: at };
        Self {
            between,
            uplink: Vec::new(),
            rate: way.rate.clone().unwrap_or(none),
            delay: way.delay.clone(),
            jitter: way.jitter.clone(),
            distribution: way.distribution.clone(),
            loss: way.loss.clone(),
            loss_burst: way.loss_burst.clone(),
            reorder: way.reorder.clone(),
            queue: way.queue.clone(),
            back: Way::default(),
            rate_back: None,
            queue_bytes: None,
        }
    }

    /// From the first end to the second.
    pub(super) fn there(&self) -> Way {
        Way {
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Traffic {
    pub tool: Spanned<Several<Tool>>,
    pub bytes: Option<Spanned<Several<ByteCount>>>,
    pub modes: Spanned<Vec<Mode>>,
    pub directions: Option<Spanned<Vec<Direction>>>,
    /// Every host sends to one, as this seed has it.
    pub permutation: Option<Spanned<u64>>,
    #[serde(default)]
    pub together: bool,
    pub duration: Spanned<Seconds>,
    pub warm_up: Option<Spanned<Seconds>>,
    pub streams: Option<Spanned<OneOrMany>>,
    pub repeat: Option<Spanned<u16>>,
    #[serde(default)]
    pub background: Vec<Background>,
    pub assign: Option<Spanned<Assign>>,
}

/// Paths that each transfer has set aside.
#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(super) struct Assign {
    pub paths: u8,
    #[serde(default)]
    pub distribution: braid_assign::Distribution,
}

#[derive(Deserialize, Clone)]
#[serde(untagged, expecting = "give a whole number, or a list of them")]
pub(super) enum OneOrMany {
    One(u16),
    Many(Vec<u16>),
}

impl OneOrMany {
    pub(super) fn list(&self) -> Vec<u16> {
        match self {
            Self::One(one) => vec![*one],
            Self::Many(many) => many.clone(),
        }
    }
}

/// What goes on during every transfer.
#[derive(Deserialize)]
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

/// One of several ways to run all of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub name: Spanned<String>,
    pub controller: Option<Spanned<BTreeMap<String, Value>>>,
    /// A policy file of the controller.
    pub policy: Option<Spanned<String>>,
    pub rules: Option<Spanned<BTreeMap<String, Vec<String>>>>,
    pub modes: Option<Spanned<Vec<Mode>>>,
    pub streams: Option<Spanned<OneOrMany>>,
    pub assign: Option<Spanned<Assign>>,
    pub subflows: Option<Spanned<u8>>,
    pub accept_addresses: Option<Spanned<u8>>,
    pub endpoint_flags: Option<Spanned<Vec<EndpointFlag>>>,
    pub congestion_control: Option<Spanned<String>>,
    pub agents: Option<Spanned<Agents>>,
}

/// The value of an option.
#[derive(Deserialize)]
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Direction {
    pub from: Spanned<String>,
    pub to: Spanned<String>,
}

/// What happens to a link during every transfer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    pub at: Spanned<Moment>,
    pub link: Spanned<Vec<Spanned<String>>>,
    pub nth: Option<Spanned<usize>>,
    #[serde(rename = "do")]
    pub deed: Option<Spanned<Deed>>,
    /// What changes both ways.
    pub set: Option<Spanned<Way>>,
    /// What changes from the second end to the first.
    pub back: Option<Spanned<Way>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Deed {
    Cut,
    Restore,
}

#[derive(Deserialize)]
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
    #[serde(default)]
    pub of: Deciding,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}
