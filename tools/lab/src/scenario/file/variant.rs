//! Variants in a scenario file.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Assign, OneOrManyStreams};
use crate::scenario::spanned::Spanned;
use crate::scenario::{Agents, EndpointFlag, Mode};

/// One way to run the scenario's traffic.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Variant {
    /// The name, in reports and expectations.
    pub name: Spanned<String>,
    /// Options of `braid controller run` without their hyphens.
    pub controller: Option<Spanned<BTreeMap<String, Value>>>,
    /// The text of a policy file.
    pub policy: Option<Spanned<String>>,
    /// Fixed rules instead of a controller: for each switch a list of flows in the syntax of `ovs-ofctl`.
    pub rules: Option<Spanned<BTreeMap<String, Vec<String>>>>,
    /// Only these of the traffic's modes.
    pub modes: Option<Spanned<Vec<Mode>>>,
    /// These numbers instead of the traffic's.
    pub streams: Option<Spanned<OneOrManyStreams>>,
    /// Instead of the traffic's.
    pub assign: Option<Spanned<Assign>>,
    /// The limit of further subflows of every host with an `mptcp` key.
    pub subflows: Option<Spanned<u8>>,
    /// The limit of announced addresses of every host with an `mptcp` key.
    pub accept_addresses: Option<Spanned<u8>>,
    /// The flags of every endpoint of every host.
    pub endpoint_flags: Option<Spanned<Vec<EndpointFlag>>>,
    /// The congestion control of every host that has one; where hosts use MPTCP, of those alone.
    pub congestion_control: Option<Spanned<String>>,
    /// The lines that the sites use, from 1, in the order of the links; all by default.
    pub lines: Option<Spanned<Vec<usize>>>,
    /// `false`: no tunnels. The boxes route each subnet over a line of its own.
    pub tunnel: Option<Spanned<bool>>,
    /// `true`: TCP crosses tunnels of edges with their addresses instead of in GRE.
    pub rewrite: Option<Spanned<bool>>,
    /// Agents on every host with an `mptcp` key, which open subflows as the controller advises.
    pub agents: Option<Spanned<Agents>>,
}

/// The value of a controller option.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "an option has a number or a text")]
pub(in crate::scenario) enum Value {
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
