//! Directed links and their measurements.

use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::LinkLoss;
use crate::page::pages;
use crate::schema::{Dpid, Nanoseconds, PortNumber, PortOfSwitch};

pages!(/// Links between switches, each direction by itself.
    Links, links: Link);

/// A directed link and its measurements; null for what is not measured yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Link {
    /// The sending end.
    #[schema(value_type = PortOfSwitch)]
    pub src: SwitchPort,
    /// The receiving end.
    #[schema(value_type = PortOfSwitch)]
    pub dst: SwitchPort,
    /// The sending end by the names of the switch and the port, or by datapath id and number: `ams1:eth1`.
    #[serde(default)]
    #[schema(required = false)]
    pub src_name: String,
    /// The receiving end, likewise.
    #[serde(default)]
    #[schema(required = false)]
    pub dst_name: String,
    /// Its capacity in bits a second: as configured, or else measured, or else the speed of its ports.
    pub capacity_bps: u64,
    /// Its capacity as measured on demand.
    pub measured_capacity_bps: Option<u64>,
    /// When that was last tried, with whatever success.
    #[schema(value_type = Option<Nanoseconds>)]
    pub measured_capacity_at: Option<Time>,
    /// The time that a frame takes, in microseconds.
    pub delay_us: Option<LinkDelay>,
    /// When that was measured last.
    #[schema(value_type = Option<Nanoseconds>)]
    pub delay_at: Option<Time>,
    /// Its load in bits a second, smoothed.
    pub load_bps: Option<u64>,
    /// Its capacity less its load, in bits a second.
    pub available_bps: Option<u64>,
    /// When the counters of these two were read.
    #[schema(value_type = Option<Nanoseconds>)]
    pub load_at: Option<Time>,
    /// The share of packets that do not arrive, from 0 to 1.
    pub loss: Option<f64>,
    /// The end of the interval over which that was counted.
    #[schema(value_type = Option<Nanoseconds>)]
    pub loss_at: Option<Time>,
    /// What is known of it while it is degraded: up, but avoided since it loses or corrupts frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub degraded: Option<DegradedLink>,
    /// Its counters since the controller has known its ports.
    pub counters: LinkCounters,
}

/// A link that loses or corrupts frames without going down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct DegradedLink {
    /// Since when that is known.
    #[schema(value_type = Nanoseconds)]
    pub since: Time,
    /// What shows it.
    pub evidence: LossEvidence,
    /// Since when it has lost nothing.
    #[schema(value_type = Nanoseconds)]
    pub clean_since: Time,
    /// How long it must lose nothing to be used again, in microseconds.
    pub hold_us: u64,
}

/// What was counted at both ends of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct LossEvidence {
    /// Frames that were sent into it.
    pub frames: u64,
    /// Frames of them that did not arrive, or arrived damaged.
    pub lost: u64,
    /// Frames of them that arrived damaged.
    pub damaged: u64,
    /// The time over which they were counted, in microseconds.
    pub time_us: u64,
}

/// A directed link that was lost while both its switches are connected.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct LostLink {
    /// The link as it was known last.
    #[serde(flatten)]
    pub link: Link,
    /// When it was lost.
    #[schema(value_type = Nanoseconds)]
    pub lost_at: Time,
    /// Why; null if that is not known.
    pub why: Option<LinkLoss>,
}

/// The delay of a link, in microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct LinkDelay {
    /// Without queues: the least of the last readings.
    pub base: f64,
    /// As it is now, with queues.
    pub current: f64,
    /// The median of the frames of the last minute.
    pub p50: f64,
    /// Their 99th percentile.
    pub p99: f64,
}

/// Counters of a link, from those of the switches; they never go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct LinkCounters {
    /// Bytes of frames sent by the sending port.
    pub bytes: u64,
    /// Packets sent by it.
    pub packets: u64,
    /// Packets dropped by a port on the way into the link or out of it.
    pub dropped: u64,
    /// Packets with errors at either port, whatever their direction.
    pub errors: u64,
}

/// The port that a link leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PortParameters {
    /// The switch
    #[param(value_type = Dpid)]
    pub dpid: DatapathId,
    /// Its port
    #[param(value_type = PortNumber)]
    pub port: PortNo,
}
