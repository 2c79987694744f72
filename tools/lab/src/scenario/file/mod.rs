//! Serde types of the scenario file, with the location of every value, unchecked.

mod event;
mod link;
mod profile;
mod topology;
mod traffic;
mod variant;

use schemars::JsonSchema;
use serde::Deserialize;

use super::amounts::ByteCount;
use super::spanned::Spanned;
use super::{Aggregate, Metric, Mode, Packets, Tool};

pub(super) use event::{Act, Event};
pub(super) use link::{DirectionParameters, Link};
pub(super) use profile::Profile;
pub(super) use topology::{Endpoint, Generate, Host, Interface, Mptcp, Site, Switch, Topology, Tunnel};
pub(super) use traffic::{Assign, Background, Direction, OneOrManyStreams, Requests, Traffic};
pub(super) use variant::Variant;

/// A scenario.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// The name of the scenario, and of its lab unless --name says otherwise.
    pub scenario: Spanned<String>,
    /// What is shown.
    #[serde(default)]
    pub description: String,
    /// Whether all OpenFlow connections are TLS.
    #[serde(default)]
    pub tls: bool,
    /// The number of controllers; several are a cluster.
    pub controllers: Option<Spanned<u8>>,
    /// The testbed.
    pub topology: Topology,
    /// What is measured; none for a lab that is only deployed.
    pub traffic: Option<Traffic>,
    /// Properties of the lines of sites. All variants run with each.
    #[serde(default)]
    pub profiles: Vec<Profile>,
    /// Ways to run the scenario that are compared. The lab is built anew for each.
    #[serde(default)]
    pub variants: Vec<Variant>,
    /// Changes of links and controllers during every transfer.
    #[serde(default)]
    pub events: Vec<Spanned<Event>>,
    /// Captured packets of hosts.
    #[serde(default)]
    pub captures: Vec<Spanned<Capture>>,
    /// What has to hold.
    #[serde(default)]
    pub expect: Vec<Spanned<Expect>>,
}

/// A capture of a host's packets.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Capture {
    /// The host, on all of its interfaces.
    pub host: Spanned<String>,
    /// Which packets: those that set MPTCP up, or the headers of all.
    pub packets: Packets,
}

/// A value that has to keep a limit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    /// In words, for the report.
    pub name: Spanned<String>,
    /// What is measured.
    pub value: Spanned<Metric>,
    /// Only rows of this mode.
    pub mode: Option<Spanned<Mode>>,
    /// Only rows of this tool.
    pub tool: Option<Spanned<Tool>>,
    /// Only rows of this length.
    pub bytes: Option<Spanned<ByteCount>>,
    /// Only rows of this variant.
    pub variant: Option<Spanned<String>>,
    /// Only rows in which this host sends.
    pub from: Option<Spanned<String>>,
    /// The name of a variant: the value is divided by the same value there; or `{ best_of: [NAMES] }` or `{ sum_of: [NAMES] }`.
    /// With `best_of`, `published_of: [NAMES]` adds what is published of the profile, as a ratio to the best of these variants.
    pub relative_to: Option<Spanned<RelativeTo>>,
    /// The value is divided by that of this mode.
    pub relative_to_mode: Option<Spanned<Mode>>,
    /// The name of a host: the value is divided by that of the direction in which this host sends.
    pub relative_to_from: Option<Spanned<String>>,
    /// The value depends on what else runs on the machine: it is printed, and decides no exit code.
    #[serde(default)]
    pub needs_quiet_machine: bool,
    /// Whether every setting must keep the limit, or one.
    #[serde(default)]
    pub of: Aggregate,
    /// As many profiles must keep the limit with each congestion control; all without it.
    pub profiles: Option<Spanned<usize>>,
    /// The least value; this or `at_most`.
    pub at_least: Option<f64>,
    /// The greatest value.
    pub at_most: Option<f64>,
}

/// What a value is divided by: that of a variant, or of several together.
#[derive(Deserialize, JsonSchema, Clone)]
#[serde(untagged, expecting = "give the name of a variant, { best_of: [NAMES] } or { sum_of: [NAMES] }")]
pub(super) enum RelativeTo {
    Variant(String),
    BestOf(BestOf),
    SumOf(SumOf),
}

/// The greatest value of several variants, or what is published if that is greater.
#[derive(Deserialize, JsonSchema, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct BestOf {
    /// Their names.
    pub best_of: Vec<String>,
    /// Names of variants to the best of which the published ratios of profiles are; empty: those do not count.
    #[serde(default)]
    pub published_of: Vec<String>,
}

/// The sum of the values of several variants.
#[derive(Deserialize, JsonSchema, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct SumOf {
    /// Their names.
    pub sum_of: Vec<String>,
}

impl RelativeTo {
    /// The names of the variants that are measured.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Self::Variant(name) => std::slice::from_ref(name),
            Self::BestOf(BestOf { best_of: names, .. }) | Self::SumOf(SumOf { sum_of: names }) => names,
        }
    }

    /// The names of the variants that published ratios are of.
    pub(super) fn published_of(&self) -> &[String] {
        match self {
            Self::BestOf(BestOf { published_of, .. }) => published_of,
            Self::Variant(_) | Self::SumOf(_) => &[],
        }
    }
}
