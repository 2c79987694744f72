//! Steering policies: rules that select traffic and say how it is steered.

mod file;
mod spanned;
mod spraying;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use braid_paths::Kind;
use braid_types::{FiveTuple, IpPrefix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::Policy;

pub use file::PolicyProblem;
pub use spraying::{Imbalance, Resequence, SprayingError};

/// Rules, of which the first that matches a connection applies, and a default for all others.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Policies {
    /// In the order of evaluation.
    pub rules: Vec<PolicyRule>,
    /// The steering of other connections, and of fields that the rule does not set.
    pub default: Steering,
}

/// A rule: the connections that match, and how they are steered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PolicyRule {
    /// Unique.
    pub name: String,
    /// Prefixes of the opening host; empty: anywhere.
    pub from: Vec<IpPrefix>,
    /// Prefixes of the answering host; empty: anywhere.
    pub to: Vec<IpPrefix>,
    /// The answering host's ports; empty: any.
    pub ports: Vec<PortRange>,
    /// The steering of matching connections.
    #[serde(flatten)]
    pub steering: Steering,
}

/// The steering of a connection; the controller's own settings apply where a field is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Steering {
    /// The kind of steering.
    #[serde(rename = "kind")]
    pub steer_as: SteerAs,
    /// The kind of path set for its streams.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub paths: Option<Kind>,
    /// The number of paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// The policy that chooses a stream's path among them.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub placement: Option<Policy>,
    /// The total number of subflows that a host is advised to open; `None`: one for each path that shares no link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subflows: Option<usize>,
    /// When sprayed packets are resequenced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resequence: Option<Resequence>,
    /// The greatest delay imbalance of paths that are sprayed over together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_mdi: Option<Imbalance>,
    /// The greatest difference of delays of paths that are sprayed over together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay_difference: Option<Duration>,
}

/// The kind of steering of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SteerAs {
    /// By its detected kind: MPTCP, or connections that an application has announced; else sprayed if edges can, else
    /// single.
    #[default]
    Auto,
    /// On the default path, unless an application has announced it.
    Single,
    /// Over several paths at once if edges can, even if other connections belong to its transfer; MPTCP is still placed.
    Spray,
    /// Plain TCP as one of several connections of its hosts to that port, which are distributed over paths in proportion
    /// to the number of streams that these can use; MPTCP as such.
    Parallel,
}

/// A range of TCP ports, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortRange {
    /// The lowest.
    pub first: u16,
    /// The highest.
    pub last: u16,
}

impl Policies {
    /// The steering of this connection; `tuple` is the direction of the opening host.
    #[must_use]
    pub fn of(&self, tuple: &FiveTuple) -> Steering {
        let rule = self.rules.iter().find(|rule| rule.fits(tuple));
        rule.map_or(self.default, |rule| rule.steering.or(self.default))
    }
}

impl PolicyRule {
    /// Whether the rule matches this connection.
    #[must_use]
    pub fn fits(&self, tuple: &FiveTuple) -> bool {
        let is_in =
            |prefixes: &[IpPrefix], ip| prefixes.is_empty() || prefixes.iter().any(|it| it.contains(ip));
        let port = self.ports.is_empty() || self.ports.iter().any(|range| range.contains(tuple.dst_port));
        port && is_in(&self.from, tuple.src) && is_in(&self.to, tuple.dst)
    }
}

impl Steering {
    /// Fills the fields that are not set with those of `other`.
    fn or(self, other: Self) -> Self {
        Self {
            steer_as: self.steer_as,
            paths: self.paths.or(other.paths),
            k: self.k.or(other.k),
            placement: self.placement.or(other.placement),
            subflows: self.subflows.or(other.subflows),
            resequence: self.resequence.or(other.resequence),
            max_mdi: self.max_mdi.or(other.max_mdi),
            max_delay_difference: self.max_delay_difference.or(other.max_delay_difference),
        }
    }
}

impl PortRange {
    /// Whether the port is in the range.
    #[must_use]
    pub const fn contains(self, port: u16) -> bool {
        self.first <= port && port <= self.last
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{}", self.first),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

impl FromStr for PortRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = first.parse().ok().zip(last.parse().ok()).map(|(first, last)| Self { first, last });
        let valid = range.filter(|it| 0 < it.first && it.first <= it.last);
        valid
            .ok_or_else(|| format!("{text:?} is neither a port, 1 to 65535, nor a range such as 50000-51000"))
    }
}

impl Serialize for PortRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
fn as_text<T: fmt::Display, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}
