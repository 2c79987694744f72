//! Edges: the paths that they spray over, and their resequencers.

use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort, Time};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::page::pages;
use crate::schema::{Dpid, Mac, Nanoseconds, PortNumber, PortOfSwitch};

pages!(/// Edges: what they spray over which paths, and resequence for which hosts.
    Edges, edges: Edge);

/// An edge and its telemetry; null for what it has not reported yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Edge {
    /// Its identity.
    #[schema(value_type = Dpid)]
    pub dpid: DatapathId,
    /// Its name, if the network file gives one.
    #[serde(default)]
    pub name: Option<String>,
    /// When it reported last.
    #[schema(value_type = Option<Nanoseconds>)]
    pub answered_at: Option<Time>,
    /// A group for each edge to which it sprays.
    pub spray_groups: Vec<SprayGroup>,
    /// A resequencer for each host to which it delivers sprayed traffic.
    pub resequencers: Vec<Resequencer>,
}

/// A group that sprays over paths to another edge.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct SprayGroup {
    /// Its number.
    pub group: u32,
    /// The edge at the end of its paths.
    #[schema(value_type = Dpid)]
    pub to: DatapathId,
    /// That edge by name, or datapath id.
    #[serde(default)]
    #[schema(required = false)]
    pub to_name: String,
    /// Its paths, those of the lowest delay first.
    pub paths: Vec<EdgePath>,
}

/// A path of a spray group, as the edge measures it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct EdgePath {
    /// The switches on it.
    #[schema(value_type = Vec<Dpid>)]
    pub path: Vec<DatapathId>,
    /// The switches by name, or datapath id; left out where none has a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub path_names: Vec<String>,
    /// The ports by which it leaves them.
    #[schema(value_type = Vec<PortOfSwitch>)]
    pub ports: Vec<SwitchPort>,
    /// The ports by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub port_names: Vec<String>,
    /// When the following values were reported.
    #[schema(value_type = Option<Nanoseconds>)]
    pub read_at: Option<Time>,
    /// Whether it carries traffic.
    pub state: Option<EdgePathState>,
    /// Its share of all packets, from 0 to 1.
    pub share: Option<f64>,
    /// The traffic sent on it between the last two readings, in bits a second.
    pub carried_bps: Option<u64>,
    /// Its estimated capacity, in bits a second: what it carried when it last queued.
    pub estimated_capacity_bps: Option<u64>,
    /// The time that answers to probes take, smoothed, in microseconds.
    pub round_trip_us: Option<f64>,
    /// The time that packets wait in its queues, in microseconds.
    pub queue_us: Option<f64>,
    /// The share of its recent traffic that is lost, or of its probes while there is little traffic, from 0 to 1.
    pub loss: Option<f64>,
    /// How often it has stopped answering probes since its group changed last.
    #[serde(default)]
    #[schema(required = false)]
    pub silences: u32,
    /// Packets sent on it since then.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Whether a path of an edge carries traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgePathState {
    /// It carries its share.
    Active,
    /// It does not answer probes, and carries nothing.
    Silent,
    /// The port where it begins is down.
    Down,
    /// It answers, and carries nothing: it loses what other paths do not, or more arrives without it.
    Suspended,
}

/// A group that resequences traffic of another edge for one host.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Resequencer {
    /// Its number.
    pub group: u32,
    /// The edge that sprays.
    #[schema(value_type = Dpid)]
    pub from: DatapathId,
    /// That edge by name, or datapath id.
    #[serde(default)]
    #[schema(required = false)]
    pub from_name: String,
    /// The host.
    #[schema(value_type = Mac)]
    pub host: MacAddr,
    /// The edge's port that leads there.
    #[schema(value_type = PortNumber)]
    pub port: PortNo,
    /// When the following values were reported.
    #[schema(value_type = Option<Nanoseconds>)]
    pub read_at: Option<Time>,
    /// The packets that it holds; null while it resequences nothing.
    pub held: Option<HeldPackets>,
    /// How long the packets were held that it released between the last two readings.
    pub hold_time: Option<HoldTime>,
    /// Its counters since the group was made.
    pub counters: Option<ResequencerCounters>,
}

/// The packets in a resequencer, and its limits.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct HeldPackets {
    /// Flows that are known.
    pub flows: u32,
    /// Packets that are held.
    pub packets: u32,
    /// Their bytes, with what each takes besides.
    pub bytes: u64,
    /// The limit of held packets.
    pub max_packets: u64,
    /// The limit of held bytes.
    pub max_bytes: u64,
    /// The limit of held bytes of one flow: T of Banfi et al.
    pub max_flow_bytes: u64,
    /// The longest time for which a packet is held, in microseconds.
    pub max_hold_us: f64,
}

/// How long packets were held, in microseconds, too high by an eighth at most; null if none was.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct HoldTime {
    /// Packets that were released.
    pub packets: u64,
    /// Their median.
    pub p50_us: Option<f64>,
    /// Their 99th percentile.
    pub p99_us: Option<f64>,
    /// The longest.
    pub max_us: Option<f64>,
}

/// Counters of a resequencer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct ResequencerCounters {
    /// Packets forwarded at once.
    pub forwarded: u64,
    /// Packets that were held.
    pub held: u64,
    /// Packets forwarded at once because there was no room to know their flow.
    pub unknown: u64,
    /// Packets forwarded at once because they were too far from what was expected.
    pub stray: u64,
    /// Packets forwarded at once as retransmissions or duplicates.
    pub old: u64,
    /// Of these, those that arrived after their gap was given up.
    pub spurious: u64,
    /// Gaps that were filled.
    pub gaps_filled: u64,
    /// Gaps given up because every path had delivered something sent later, a packet or a probe.
    pub gaps_passed: u64,
    /// Gaps given up because a packet was held for the longest time.
    pub gaps_timed_out: u64,
    /// Gaps given up because the flow held more than its threshold.
    pub gaps_over_threshold: u64,
    /// Gaps given up because the buffer was full.
    pub gaps_overflowed: u64,
    /// Gaps given up because the connection ended or began anew.
    pub gaps_ended: u64,
}

impl ResequencerCounters {
    /// Gaps that were not filled.
    pub const fn gaps_given_up(&self) -> u64 {
        self.gaps_passed
            + self.gaps_timed_out
            + self.gaps_over_threshold
            + self.gaps_overflowed
            + self.gaps_ended
    }
}
