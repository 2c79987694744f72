//! Histories of links, transfers and edges, step by step; null where nothing was measured.

use std::net::IpAddr;

use braid_types::{DatapathId, MacAddr, SwitchPort, Time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Schema;
use crate::schema::{Dpid, Mac, Nanoseconds, PortOfSwitch};

/// The part of a history that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StepsParameters {
    /// Seconds of a step: 1 (default) or 60
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_s: Option<u64>,
    /// Only what is not older than this time
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<Nanoseconds>)]
    pub since: Option<Time>,
}

/// The transfer whose history is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TransferParameters {
    /// Its number
    pub id: u64,
}

/// The edge whose history is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EdgeParameters {
    /// Its identity
    #[param(value_type = Dpid)]
    pub dpid: DatapathId,
}

/// A directed link, step by step; null where nothing was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct LinkHistory {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The time of the last step.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// Seconds of a step.
    pub step_s: u64,
    /// The time of each step.
    #[schema(value_type = Vec<Nanoseconds>)]
    pub times: Vec<Time>,
    /// Its load, in bits a second.
    pub load_bps: Vec<Option<f32>>,
    /// Its delay with queues, in microseconds.
    pub delay_us: Vec<Option<f32>>,
    /// The share of packets lost, from 0 to 1.
    pub loss: Vec<Option<f32>>,
}

/// A transfer, step by step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct TransferHistory {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The time of the last step.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// Its number.
    pub id: u64,
    /// Seconds of a step.
    pub step_s: u64,
    /// The time of each step.
    #[schema(value_type = Vec<Nanoseconds>)]
    pub times: Vec<Time>,
    /// Its streams, ended ones too.
    pub streams: Vec<StreamHistory>,
}

/// A stream, step by step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct StreamHistory {
    /// Its number.
    pub id: u64,
    /// The opening host's address.
    #[schema(value_type = String)]
    pub src: IpAddr,
    /// The answering host's address.
    #[schema(value_type = String)]
    pub dst: IpAddr,
    /// The opening host's port.
    pub src_port: u16,
    /// The answering host's port.
    pub dst_port: u16,
    /// The switches on its last path; empty while it followed the default path.
    #[schema(value_type = Vec<Dpid>)]
    pub path: Vec<DatapathId>,
    /// The rate from the opening host, in bits a second, all headers counted.
    pub sent_bps: Vec<Option<f32>>,
    /// The rate towards it.
    pub received_bps: Vec<Option<f32>>,
}

/// An edge, step by step; null where nothing was reported.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct EdgeHistory {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// The time of the last step.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// Its identity.
    #[schema(value_type = Dpid)]
    pub dpid: DatapathId,
    /// Seconds of a step.
    pub step_s: u64,
    /// The time of each step.
    #[schema(value_type = Vec<Nanoseconds>)]
    pub times: Vec<Time>,
    /// Its spray groups, ended ones too.
    pub spray_groups: Vec<SprayGroupHistory>,
    /// Its resequencers, ended ones too.
    pub resequencers: Vec<ResequencerHistory>,
}

/// A spray group, step by step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct SprayGroupHistory {
    /// Its number.
    pub group: u32,
    /// The edge at the end of its paths.
    #[schema(value_type = Dpid)]
    pub to: DatapathId,
    /// Its paths.
    pub paths: Vec<EdgePathHistory>,
}

/// A path of a spray group, step by step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct EdgePathHistory {
    /// The switches on it.
    #[schema(value_type = Vec<Dpid>)]
    pub path: Vec<DatapathId>,
    /// The ports by which it leaves them.
    #[schema(value_type = Vec<PortOfSwitch>)]
    pub ports: Vec<SwitchPort>,
    /// Its share of all packets, from 0 to 1.
    pub share: Vec<Option<f32>>,
    /// The traffic sent on it, in bits a second.
    pub carried_bps: Vec<Option<f32>>,
    /// The time that answers to probes take, in microseconds.
    pub round_trip_us: Vec<Option<f32>>,
    /// The time that packets wait in its queues, in microseconds.
    pub queue_us: Vec<Option<f32>>,
    /// The share that is lost, from 0 to 1.
    pub loss: Vec<Option<f32>>,
}

/// A resequencer, step by step.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ResequencerHistory {
    /// Its number.
    pub group: u32,
    /// The edge that sprays.
    #[schema(value_type = Dpid)]
    pub from: DatapathId,
    /// The host.
    #[schema(value_type = Mac)]
    pub host: MacAddr,
    /// Packets that it holds.
    pub held_packets: Vec<Option<f32>>,
    /// Their bytes.
    pub held_bytes: Vec<Option<f32>>,
    /// The median of the time for which packets were held, in microseconds.
    pub hold_time_p50_us: Vec<Option<f32>>,
    /// Their 99th percentile.
    pub hold_time_p99_us: Vec<Option<f32>>,
    /// The longest.
    pub hold_time_max_us: Vec<Option<f32>>,
}
