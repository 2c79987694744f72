//! Transfers and cross traffic in a scenario file.

use braid_types::BitsPerSec;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scenario::amounts::{ByteCount, Moment, OneOrList};
use crate::scenario::spanned::Spanned;
use crate::scenario::{Average, Mode, Protocol, Seconds, Tool};

/// The transfers that are measured.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Traffic {
    /// What transfers; a list: each in turn.
    pub tool: Spanned<OneOrList<Tool>>,
    /// The length of a copy or a file, such as `200MB`; a list: each in turn.
    pub bytes: Option<Spanned<OneOrList<ByteCount>>>,
    /// Plain TCP, MPTCP, or both in turn.
    pub modes: Spanned<Vec<Mode>>,
    /// Who sends to whom; this or `permutation`.
    pub directions: Option<Spanned<Vec<Direction>>>,
    /// The seed of a random permutation: every host sends to one host.
    pub permutation: Option<Spanned<u64>>,
    /// All directions at the same time, instead of one after the other.
    #[serde(default)]
    pub simultaneous: bool,
    /// The duration of each transfer.
    pub duration: Spanned<Seconds>,
    /// How long iperf3 or HTTP/3 sends before that without measuring, at most `60s`.
    pub warm_up: Option<Spanned<Seconds>>,
    /// Parallel connections of each transfer; a list: each number in turn.
    pub streams: Option<Spanned<OneOrManyStreams>>,
    /// How often all of it is done.
    pub repeat: Option<Spanned<u16>>,
    /// Measures what transfers cost: processor time, and memory of the hosts' sockets.
    pub cost: Option<Spanned<bool>>,
    /// Which of the goodputs of all repetitions stands for a setting.
    #[serde(default)]
    pub average: Average,
    /// The congestion control of every host, instead of the hosts' own; a list: each in turn, in labs of its own.
    pub congestion_control: Option<Spanned<OneOrList<String>>>,
    /// Cross traffic during every transfer.
    #[serde(default)]
    pub background: Vec<Background>,
    /// Small requests before and during every transfer, whose answers are timed.
    #[serde(default)]
    pub requests: Vec<Requests>,
    /// Paths that are set aside for each transfer of `gridftp`.
    pub assign: Option<Spanned<Assign>>,
}

/// A transfer from one host to another, with settings of its own.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Direction {
    /// The host that sends.
    pub from: Spanned<String>,
    /// The host that receives.
    pub to: Spanned<String>,
    /// Instead of the traffic's modes.
    pub mode: Option<Spanned<Mode>>,
    /// Instead of the traffic's tool.
    pub tool: Option<Spanned<Tool>>,
    /// Instead of the traffic's number of connections.
    pub streams: Option<Spanned<u16>>,
    /// The rate of UDP.
    pub rate: Option<Spanned<BitsPerSec>>,
}

/// Cross traffic during every transfer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Background {
    /// The host that sends.
    pub from: Spanned<String>,
    /// The host that receives.
    pub to: Spanned<String>,
    /// The number of connections; 1 by default.
    pub streams: Option<Spanned<u16>>,
    /// What they send in all at most.
    pub rate: Option<Spanned<BitsPerSec>>,
    /// Plain TCP, or UDP at the rate.
    #[serde(default)]
    pub protocol: Protocol,
    /// When it begins, after the start of the transfer.
    pub after: Option<Spanned<Moment>>,
}

/// Small requests from one host to another, a hundred a second.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Requests {
    /// The host that asks.
    pub from: Spanned<String>,
    /// The host that answers.
    pub to: Spanned<String>,
    /// One TCP connection, or UDP.
    #[serde(default)]
    pub protocol: Protocol,
    /// The port that is asked, such as 53.
    pub port: Spanned<u16>,
}

/// Paths assigned to each transfer.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Assign {
    /// The number of paths.
    pub paths: u8,
    /// How connections are distributed over them.
    #[serde(default)]
    pub distribution: braid_assign::Distribution,
}

/// A number of connections, or several.
#[derive(Deserialize, JsonSchema, Clone)]
#[serde(untagged, expecting = "give a whole number, or a list of them")]
pub(in crate::scenario) enum OneOrManyStreams {
    One(u16),
    Many(Vec<u16>),
}

impl OneOrManyStreams {
    pub(in crate::scenario) fn list(&self) -> Vec<u16> {
        match self {
            Self::One(one) => vec![*one],
            Self::Many(many) => many.clone(),
        }
    }
}
