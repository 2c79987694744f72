//! Path queries and their answers.

use braid_types::{DatapathId, PortNo, Time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Schema;
use crate::schema::{Dpid, Nanoseconds, PortNumber};

/// A query for paths.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PathsParameters {
    /// A datapath id, or a host's IP or MAC address
    pub src: String,
    /// The same
    pub dst: String,
    /// shortest, ksp, disjoint, node-disjoint, maxflow, widest, within:HOPS
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The greatest number of paths
    #[param(minimum = 1, maximum = 4096)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u32>,
    /// hops, latency, load, or a sum such as 10*hops+latency
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// What is not used: DPID, DPID:PORT or DPID--DPID
    #[param(required = false)]
    #[serde(default)]
    pub without: Vec<String>,
    /// The least capacity of every link, such as 100Mbit
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_capacity: Option<String>,
    /// The greatest latency of every path, such as 10ms
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_latency: Option<String>,
}

/// The answer of a controller to a query for paths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Paths {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The time of the network that was searched.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// The paths.
    #[serde(flatten)]
    pub set: PathSet,
}

/// Paths between two switches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PathSet {
    /// Where the paths begin.
    pub src: PathEnd,
    /// Where they end.
    pub dst: PathEnd,
    /// How they were chosen.
    pub mode: String,
    /// How many were asked for.
    pub k: usize,
    /// What links cost.
    pub weight: String,
    /// The paths, best first.
    pub paths: Vec<RankedPath>,
    /// Whether there are more than were asked for, of `shortest`, `ksp` and `within:HOPS`.
    pub truncated: bool,
    /// Whether the search was completed. If not, there may be more or better paths.
    pub complete: bool,
    /// The maximum flow between two different switches, if it was asked for and no path of it exceeds the latency.
    pub max_flow_bps: Option<u64>,
    /// Whether one stream can be sprayed over paths of known delays.
    pub spraying: Option<Spraying>,
    /// Why there is no path.
    pub reason: Option<NoPath>,
    /// The same as a part of a sentence.
    pub explanation: Option<String>,
    /// What limits the answer's meaning.
    pub warnings: Vec<String>,
}

/// Where paths begin or end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PathEnd {
    /// Its name in the query.
    pub name: String,
    /// The name of its switch.
    pub node: String,
    /// Its switch.
    #[schema(value_type = Dpid)]
    pub dpid: DatapathId,
    /// The other switches to which the host is attached. Paths from there are another query.
    pub also_at: Vec<String>,
}

/// A path of a set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Path)]
pub struct RankedPath {
    /// The names of its switches.
    pub nodes: Vec<String>,
    /// Its links.
    pub links: Vec<PathLink>,
    /// The number of its links.
    pub hops: usize,
    /// Its cost, in the unit of the weight; null if that is latency and no delay is known.
    pub cost: Option<u64>,
    /// Its latency, in microseconds, if the delays of all its links are known.
    pub delay_us: Option<f64>,
    /// The spare capacity of its links, or its share of the maximum flow; null for a path without links.
    pub rate_bps: Option<u64>,
    /// How many of its links better paths use as well, in whichever direction.
    pub shared_links: usize,
}

/// A link of a path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PathLink {
    /// The sending end.
    pub src: PathPort,
    /// The receiving end.
    pub dst: PathPort,
    /// Whether other links join the same two switches.
    pub parallel: bool,
}

/// An end of a link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct PathPort {
    /// The name of the switch.
    pub node: String,
    /// The switch.
    #[schema(value_type = Dpid)]
    pub dpid: DatapathId,
    /// Its port.
    #[schema(value_type = PortNumber)]
    pub port: PortNo,
}

/// Whether one stream can be sprayed over the paths, by their delays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Spraying {
    /// How.
    pub verdict: SprayVerdict,
    /// The maximum delay imbalance, 0 to 0.5.
    pub mdi: f64,
    /// The difference between the greatest delay and the least, in microseconds.
    pub delay_difference_us: f64,
    /// The places in `paths`, from 0, of those that go together and have the most spare capacity in total.
    pub best_paths: Vec<usize>,
}

/// How one stream can be sprayed over the paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SprayVerdict {
    /// As it is.
    InOrder,
    /// If its packets are resequenced.
    Resequenced,
    /// It would be slower than on one of them.
    Unsuitable,
}

/// Why there is no path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoPath {
    /// No links join the switches.
    Disconnected,
    /// All paths use what is excluded, or links with too little capacity.
    Excluded,
    /// All paths exceed the greatest latency.
    LatencyExceeded,
    /// All paths have too many hops.
    HopsExceeded,
    /// No capacity is left, or none is known.
    NoCapacity,
}
