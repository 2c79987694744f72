//! Notices of changes for logs and watchers, with their texts.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use braid_steering::{StreamId, TransferId, TransferKind};
use braid_types::{BitsPerSec, DatapathId, FiveTuple, MacAddr, SwitchPort};

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
        /// The switches of its path.
        path: Vec<DatapathId>,
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
    Recabled,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SwitchJoined { dpid, ports } => write!(f, "switch {dpid} joined with {ports} ports"),
            Self::InstalledStateRead { dpid, rules, unknown_rules } => {
                write!(
                    f,
                    "switch {dpid} has {rules} rules of an earlier controller, and {unknown_rules} unknown ones"
                )
            }
            Self::Reconciled { labels, streams } => {
                write!(f, "going on from an earlier controller with {streams} streams and {labels} labels")
            }
            Self::SwitchLeft { dpid } => write!(f, "switch {dpid} left"),
            Self::LinkUp { src, dst } => write!(f, "link {src} > {dst} is up"),
            Self::LinkDown { src, dst, why } => write!(f, "link {src} > {dst} is down: {why}"),
            Self::LinkDamped { src, dst, losses, hold } => {
                write!(
                    f,
                    "link {src} > {dst} went down {losses} times and is not used for {} s",
                    hold.as_secs()
                )
            }
            Self::Alarm { source: AlarmSource::Port(at), threat, count } => {
                write!(f, "alarm at {at}, {count} times: {threat}")
            }
            Self::Alarm { source: AlarmSource::Peer(peer), threat, count } => {
                write!(f, "alarm about {peer}, {count} times: {threat}")
            }
            Self::PortHeld { at, hold } => {
                let hold = hold.as_secs();
                write!(f, "{at} led to a switch and is no port for hosts until it has been down for {hold} s")
            }
            Self::HostSeen { mac, at } => write!(f, "host {mac} is at {at}"),
            Self::HostMoved { mac, from, to } => write!(f, "host {mac} moved from {from} to {to}"),
            Self::AddressSeen { mac, ip } => write!(f, "host {mac} has the address {ip}"),
            Self::TransferOpened { id, kind } => write!(f, "transfer {id} opened ({kind})"),
            Self::StreamPlaced { id, transfer, tuple, path, shared } => {
                write!(f, "stream {id} of transfer {transfer}, {tuple}, takes ")?;
                write_path(f, path)?;
                if *shared > 0 { write!(f, " and shares {shared} links with its siblings") } else { Ok(()) }
            }
            Self::StreamSprayed { id, transfer, tuple, paths } => {
                write!(
                    f,
                    "stream {id} of transfer {transfer}, {tuple}, is sprayed over {} paths:",
                    paths.len()
                )?;
                for (path, rate) in paths {
                    write!(f, " {:.1} Mbit/s by ", mbits(*rate))?;
                    write_path(f, path)?;
                    f.write_str(";")?;
                }
                Ok(())
            }
            Self::CapacityMeasured { link, capacity: Some(capacity) } => {
                write!(f, "the link at {link} carries {:.1} Mbit/s", mbits(*capacity))
            }
            Self::CapacityMeasured { link, capacity: None } => {
                write!(
                    f,
                    "what the link at {link} carries cannot be measured: frames come in all at once, or not at all"
                )
            }
            Self::StreamRebalanced { id, link, load, capacity, rate, room } => write!(
                f,
                "stream {id} leaves the link at {link}, which is full with {:.1} of {:.1} Mbit/s: it carries {:.1}, and another path has room for {:.1}",
                mbits(*load),
                mbits(*capacity),
                mbits(*rate),
                mbits(*room)
            ),
            Self::StreamsLearned { path, streams_per_gigabit } => {
                write!(f, "streams are best on the path ")?;
                write_path(f, path)?;
                write!(f, " with a = {:.6}", *streams_per_gigabit as f64 / 1e6)
            }
            Self::StreamEnded { id, bytes } => write!(f, "stream {id} ended after {bytes} bytes"),
            Self::TransferEnded { id } => write!(f, "transfer {id} ended"),
            Self::Refused { dpid, reason } => write!(f, "switch {dpid} refused an order: {reason}"),
            Self::Full { what } => write!(f, "too many {what}: one more is not taken"),
            Self::InstallFailed { path } => {
                write!(f, "not installed in full and taken back: the path ")?;
                write_path(f, path)
            }
        }
    }
}

fn mbits(rate: BitsPerSec) -> f64 {
    rate.as_f64() / 1e6
}

fn write_path(f: &mut fmt::Formatter<'_>, switches: &[DatapathId]) -> fmt::Result {
    for (index, dpid) in switches.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        write!(f, "{separator}{dpid}")?;
    }
    Ok(())
}

impl fmt::Display for LinkLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Port => "its port is down",
            Self::Silent => "nothing comes through",
            Self::Switch => "a switch left",
            Self::Recabled => "the port leads elsewhere now",
        })
    }
}
