//! Events: what happened in the network, each with its details.

use std::net::IpAddr;

use braid_types::{DatapathId, FiveTuple, MacAddr, SwitchPort, Time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::schema::{Dpid, Mac, Nanoseconds, PortOfSwitch, Tuple};
use crate::{Item, LossEvidence, Page, Schema, Threat, TransferKind};

/// The last events.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Events {
    /// `braid/v1`
    #[schema(value_type = String)]
    pub schema: Schema,
    /// Everything that happened until then is listed.
    #[schema(value_type = Nanoseconds)]
    pub now: Time,
    /// Where the stream of events continues.
    pub last_event_id: String,
    /// The events, oldest first.
    pub events: Vec<Event>,
}

/// The events that are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EventsParameters {
    /// Only events with higher numbers
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// The greatest number of events; 256 by default
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Something that happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// Counts from 1 at each start of the controller.
    pub number: u64,
    /// When it happened.
    #[schema(value_type = Nanoseconds)]
    pub time: Time,
    /// How much it matters.
    pub level: Level,
    /// What happened, in words, with the reason.
    pub text: String,
    /// The same for API clients.
    #[serde(flatten)]
    pub notice: Notice,
}

/// How much an event matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Too frequent for logs.
    Debug,
    /// A change.
    Info,
    /// Something went wrong.
    Warning,
}

/// The kind of an event, with its details.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "notice")]
pub enum Notice {
    /// A switch joined.
    SwitchJoined {
        /// The switch.
        #[schema(value_type = Dpid)]
        dpid: DatapathId,
        /// The number of its ports.
        ports: usize,
    },
    /// A switch joined with rules of an earlier controller.
    RulesFound {
        /// The switch.
        #[schema(value_type = Dpid)]
        dpid: DatapathId,
        /// The number of rules.
        rules: usize,
        /// The number of those that cannot be read.
        unknown: usize,
    },
    /// The state of an earlier controller was reconciled with the network.
    Reconciled {
        /// Labels in use now.
        labels: usize,
        /// Streams in progress now.
        streams: usize,
    },
    /// A switch left.
    SwitchLeft {
        /// The switch.
        #[schema(value_type = Dpid)]
        dpid: DatapathId,
    },
    /// A link was discovered.
    LinkUp {
        /// The sending end.
        #[schema(value_type = PortOfSwitch)]
        src: SwitchPort,
        /// The receiving end.
        #[schema(value_type = PortOfSwitch)]
        dst: SwitchPort,
    },
    /// A link was lost.
    LinkDown {
        /// The sending end.
        #[schema(value_type = PortOfSwitch)]
        src: SwitchPort,
        /// The receiving end.
        #[schema(value_type = PortOfSwitch)]
        dst: SwitchPort,
        /// The reason.
        why: LinkLoss,
    },
    /// A link that went down too often is not used for a while.
    LinkDamped {
        /// The sending end.
        #[schema(value_type = PortOfSwitch)]
        src: SwitchPort,
        /// The receiving end.
        #[schema(value_type = PortOfSwitch)]
        dst: SwitchPort,
        /// How often it went down.
        losses: usize,
        /// For how long it is not used, in microseconds.
        hold_us: u64,
    },
    /// A degraded link has lost nothing for its hold time and is used again.
    LinkRecovered {
        /// The sending end.
        #[schema(value_type = PortOfSwitch)]
        src: SwitchPort,
        /// The receiving end.
        #[schema(value_type = PortOfSwitch)]
        dst: SwitchPort,
        /// What was counted meanwhile.
        evidence: LossEvidence,
    },
    /// An attack; reported at once, then once a second for a source and a kind.
    Alarm {
        /// The port, if it was seen at a port.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<PortOfSwitch>, nullable = false)]
        at: Option<SwitchPort>,
        /// The address of the peer, if it connected to the controller.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<String>, nullable = false)]
        peer: Option<IpAddr>,
        /// The last attack.
        threat: Threat,
        /// How many there were since the report before.
        count: u64,
    },
    /// A port that led to a switch a moment ago does not become a host's.
    PortHeld {
        /// The port.
        #[schema(value_type = PortOfSwitch)]
        at: SwitchPort,
        /// How long it must be down first, in microseconds.
        hold_us: u64,
    },
    /// A host was seen for the first time.
    HostSeen {
        /// Its address.
        #[schema(value_type = Mac)]
        mac: MacAddr,
        /// The port where it is attached.
        #[schema(value_type = PortOfSwitch)]
        at: SwitchPort,
    },
    /// A host sent from another port than before.
    HostMoved {
        /// Its address.
        #[schema(value_type = Mac)]
        mac: MacAddr,
        /// The old port.
        #[schema(value_type = PortOfSwitch)]
        from: SwitchPort,
        /// The new port.
        #[schema(value_type = PortOfSwitch)]
        to: SwitchPort,
    },
    /// A host uses an IP address.
    AddressSeen {
        /// The host.
        #[schema(value_type = Mac)]
        mac: MacAddr,
        /// The address.
        #[schema(value_type = String)]
        ip: IpAddr,
    },
    /// A transfer was recognised.
    TransferOpened {
        /// Its number.
        id: u64,
        /// How it is carried.
        kind: TransferKind,
    },
    /// A stream was placed on a path.
    StreamPlaced {
        /// The stream.
        id: u64,
        /// Its transfer.
        transfer: u64,
        /// Its connection, from the opening host.
        #[schema(value_type = Tuple)]
        tuple: FiveTuple,
        /// The switches on its path.
        #[schema(value_type = Vec<Dpid>)]
        path: Vec<DatapathId>,
        /// Links that it shares with other streams of its transfer.
        shared_links: usize,
    },
    /// A stream is sprayed over several paths.
    StreamSprayed {
        /// The stream.
        id: u64,
        /// Its transfer.
        transfer: u64,
        /// Its connection, from the opening host.
        #[schema(value_type = Tuple)]
        tuple: FiveTuple,
        /// The paths from the opening host.
        paths: Vec<NoticedPath>,
    },
    /// The measurement of a link's capacity ended.
    CapacityMeasured {
        /// The port that the link leaves.
        #[schema(value_type = PortOfSwitch)]
        link: SwitchPort,
        /// The capacity in bits a second; null if frames came too close together, or not at all.
        capacity_bps: Option<u64>,
    },
    /// A stream is moved from a full link to a path with room.
    StreamRebalanced {
        /// The stream.
        id: u64,
        /// The port that the link leaves.
        #[schema(value_type = PortOfSwitch)]
        link: SwitchPort,
        /// The link's load, in bits a second.
        load_bps: u64,
        /// The link's capacity, in bits a second.
        capacity_bps: u64,
        /// The stream's rate, in bits a second.
        rate_bps: u64,
        /// The other path's spare capacity, in bits a second.
        available_bps: u64,
    },
    /// The number of parallel streams that a path can use was learned.
    StreamModelLearned {
        /// The switches of the path.
        #[schema(value_type = Vec<Dpid>)]
        path: Vec<DatapathId>,
        /// Streams per Gbit/s of available bandwidth and second of round-trip time.
        streams_per_gigabit: u64,
    },
    /// A stream ended.
    StreamEnded {
        /// The stream.
        id: u64,
        /// Bytes both ways, as far as they were counted.
        bytes: u64,
    },
    /// A transfer's last stream ended.
    TransferEnded {
        /// Its number.
        id: u64,
    },
    /// A switch refused a command.
    CommandRefused {
        /// The switch.
        #[schema(value_type = Dpid)]
        dpid: DatapathId,
        /// Its reason.
        reason: String,
    },
    /// A bounded table is full.
    TableFull {
        /// What the table holds.
        table: String,
    },
    /// A path could not be installed in full and was removed.
    InstallFailed {
        /// The switches on it.
        #[schema(value_type = Vec<Dpid>)]
        path: Vec<DatapathId>,
    },
    /// Events came too fast to be reported.
    EventsLost {
        /// How many.
        count: u64,
    },
    /// A kind that this version of the API does not know.
    #[serde(other)]
    Unknown,
}

/// Why a link counts as lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkLoss {
    /// The port of an end is down.
    PortDown,
    /// No discovery frame arrived for a while.
    Timeout,
    /// The switch of an end left.
    SwitchLeft,
    /// Another link was found at one of its ends.
    Rewired,
}

/// A path of a stream that is sprayed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct NoticedPath {
    /// The switches on it.
    #[schema(value_type = Vec<Dpid>)]
    pub path: Vec<DatapathId>,
    /// Its spare capacity, in bits a second.
    pub rate_bps: u64,
}

/// Events are listed on one page.
impl Page for Events {
    type Item = Event;
    const NAME: &'static str = "events";

    fn into_parts(self) -> ((Time, Option<String>), Vec<Event>) {
        ((self.now, None), self.events)
    }
}

impl Item for Event {
    type Page = Events;
}

impl Level {
    /// Its name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
        }
    }
}
