//! Notices of changes for logs and watchers, with their texts.

mod text;

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use braid_paths::Path;
use braid_steering::{StreamId, TransferId, TransferKind};
use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, SwitchPort};

use crate::health::LossEvidence;
use crate::threat::{AlarmSource, Threat};

/// A change to report: logged, and sent to watchers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// A switch joined.
    SwitchJoined {
        /// The switch.
        dpid: DatapathId,
        /// Its ports.
        ports: usize,
    },
    /// A switch joined with rules of an earlier controller.
    InstalledStateRead {
        /// The switch.
        dpid: DatapathId,
        /// Rules that were decoded.
        rules: usize,
        /// Rules that could not be decoded.
        unknown_rules: usize,
    },
    /// The rules of an earlier controller have been reconciled, replaced or removed.
    Reconciled {
        /// Labelled paths in use now.
        labels: usize,
        /// Streams in progress now.
        streams: usize,
    },
    /// A switch left.
    SwitchLeft {
        /// The switch.
        dpid: DatapathId,
    },
    /// A link was discovered.
    LinkUp {
        /// The sending end.
        src: SwitchPort,
        /// The receiving end.
        dst: SwitchPort,
    },
    /// A link was lost.
    LinkDown {
        /// The sending end.
        src: SwitchPort,
        /// The receiving end.
        dst: SwitchPort,
        /// The reason.
        why: LinkLoss,
    },
    /// A link went down too often and is not used for a while.
    LinkDamped {
        /// The sending end.
        src: SwitchPort,
        /// The receiving end.
        dst: SwitchPort,
        /// How often it went down.
        losses: usize,
        /// How long it is not used, even while up.
        hold: Duration,
    },
    /// A degraded link has lost nothing for a while and is used again.
    LinkRecovered {
        /// The sending end.
        src: SwitchPort,
        /// The receiving end.
        dst: SwitchPort,
        /// What was counted.
        evidence: LossEvidence,
    },
    /// A forbidden action at a port, or of a peer of the controller. Reported at once, then once a second for each source
    /// and kind.
    Alarm {
        /// Where it comes from.
        source: AlarmSource,
        /// The latest threat.
        threat: Threat,
        /// Occurrences since the last report.
        count: u64,
    },
    /// A port that recently led to a switch does not become a host port.
    PortHeld {
        /// The port.
        at: SwitchPort,
        /// How long it must be down before it may.
        hold: Duration,
    },
    /// A host was seen for the first time.
    HostSeen {
        /// Its MAC address.
        mac: MacAddr,
        /// Its port.
        at: SwitchPort,
    },
    /// A host has moved to another port.
    HostMoved {
        /// Its MAC address.
        mac: MacAddr,
        /// Its old port.
        from: SwitchPort,
        /// Its new port.
        to: SwitchPort,
    },
    /// A host uses an IP address.
    AddressSeen {
        /// The host's MAC address.
        mac: MacAddr,
        /// The address.
        ip: IpAddr,
    },
    /// A transfer was recognised.
    TransferOpened {
        /// Its number.
        id: TransferId,
        /// How it is carried.
        kind: TransferKind,
    },
    /// A stream has a path.
    StreamPlaced {
        /// The stream.
        id: StreamId,
        /// The transfer it belongs to.
        transfer: TransferId,
        /// Its connection, from the opening host.
        tuple: FiveTuple,
        /// Its path.
        path: Path,
        /// Links that it shares with other streams of its transfer.
        shared: usize,
    },
    /// A stream is sprayed over several paths.
    StreamSprayed {
        /// The stream.
        id: StreamId,
        /// The transfer it belongs to.
        transfer: TransferId,
        /// Its connection, from the opening host.
        tuple: FiveTuple,
        /// The paths from the opening host, each with its spare capacity.
        paths: Vec<(Vec<DatapathId>, BitsPerSec)>,
    },
    /// A capacity measurement has ended.
    CapacityMeasured {
        /// The link's sending port.
        link: SwitchPort,
        /// The capacity; `None` if frames arrived too close together or not at all.
        capacity: Option<BitsPerSec>,
    },
    /// A stream moves from a full link to a path with room.
    StreamRebalanced {
        /// The stream.
        id: StreamId,
        /// The link's sending port.
        link: SwitchPort,
        /// The link's load.
        load: BitsPerSec,
        /// The link's capacity.
        capacity: BitsPerSec,
        /// The stream's rate.
        rate: BitsPerSec,
        /// The spare capacity of the other path.
        room: BitsPerSec,
    },
    /// The number of parallel streams that a path can use was learned.
    StreamsLearned {
        /// The switches of the path.
        path: Vec<DatapathId>,
        /// Streams per Gbit/s of available bandwidth and second of round-trip time; `a` is per Mbit/s and ms.
        streams_per_gigabit: u64,
    },
    /// A stream ended.
    StreamEnded {
        /// The stream.
        id: StreamId,
        /// Counted bytes of both directions.
        bytes: u64,
    },
    /// A transfer's last stream ended.
    TransferEnded {
        /// Its number.
        id: TransferId,
    },
    /// A switch refused a message.
    Refused {
        /// The switch.
        dpid: DatapathId,
        /// Its reason.
        reason: String,
    },
    /// A bounded table is full, so an entry was not added.
    Full {
        /// The table.
        what: &'static str,
    },
    /// A path could not be installed in full and was removed.
    InstallFailed {
        /// The switches on it.
        path: Vec<DatapathId>,
    },
}

/// The reason for the loss of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkLoss {
    /// A port at an end went down.
    Port,
    /// No discovery frame arrived through it for a while.
    Silent,
    /// A switch at an end left.
    Switch,
    /// Another link was found at one of its ends.
    Rewired,
}

impl fmt::Display for LinkLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Port => "its port is down",
            Self::Silent => "nothing comes through",
            Self::Switch => "a switch left",
            Self::Rewired => "the port leads elsewhere now",
        })
    }
}
