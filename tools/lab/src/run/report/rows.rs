//! The rows of a report: transfers, their streams and captures, and labs.

use std::collections::BTreeMap;
use std::net::IpAddr;

use braid_packet::mptcp::Summary;
use serde::{Deserialize, Serialize};

use super::super::requests::RequestRow;
use crate::scenario::{Mode, Work};

/// One transfer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The variant, if the scenario has variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The profile of the lines, if the scenario has profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The congestion control, if the scenario compares several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// The mode.
    pub mode: Mode,
    /// The tool and length, if the scenario compares several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    /// Whether simultaneous directions have settings of their own: then they are one measurement nevertheless.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_mixed: bool,
    /// The sender and the receiver.
    pub direction: RowDirection,
    /// The number of parallel connections.
    pub connections: u16,
    /// The number of the run, from 1, if the scenario repeats runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u16>,
    /// The goodput at the receiver without headers and warm-up, in bits per second.
    pub goodput_bps: f64,
    /// The maximum flow between the two hosts over the links' rates, in bits per second.
    pub capacity_bps: f64,
    /// Goodput over capacity.
    pub fraction_of_capacity: f64,
    /// The rate of the cross traffic in bits per second, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_bps: Option<f64>,
    /// The duration at the receiver.
    pub seconds: f64,
    /// The number of retransmitted segments.
    pub retransmits: u64,
    /// The share of UDP's datagrams that did not arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams_lost: Option<f64>,
    /// Its TCP streams, sorted by bytes, the largest first.
    pub streams: Vec<StreamRow>,
    /// The MPTCP counters of the client's kernel, for MPTCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<MptcpUse>,
    /// The delivery of a copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// What this and simultaneous transfers cost, if that is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostRow>,
    /// Goodput over time.
    pub intervals: Vec<Interval>,
    /// What happened to links and controllers meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventRow>,
    /// Which controller of a cluster led meanwhile, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaders: Vec<LeaderRow>,
    /// How long answers to requests took meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestRow>,
    /// The captures of this and simultaneous transfers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<CaptureRow>,
}

/// What simultaneous transfers cost.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct CostRow {
    /// Seconds of one processor for each 10⁹ bits that arrived; of everything that ran, kernel, hosts and switches.
    pub core_seconds_per_gbit: f64,
    /// The most memory that the sockets of all senders and receivers held at a time, in bytes.
    pub socket_bytes: u64,
}

/// A capture at an interface of a host.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CaptureRow {
    /// The host.
    pub host: String,
    /// The interface.
    pub interface: String,
    /// The number of packets.
    pub packets: usize,
    /// The first 64 packets that set up MPTCP subflows.
    pub handshakes: Vec<HandshakeRow>,
    /// All packets in libpcap format.
    #[serde(skip)]
    pub pcap: Vec<u8>,
}

/// A packet that sets up an MPTCP subflow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HandshakeRow {
    /// Seconds after the first packet.
    pub at: f64,
    /// The sender's address.
    pub src: IpAddr,
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's address.
    pub dst: IpAddr,
    /// The receiver's port.
    pub dst_port: u16,
    /// `SYN`, `SYN/ACK` or `ACK`.
    pub flags: String,
    /// Its MPTCP option.
    #[serde(flatten)]
    pub option: Summary,
}

/// The cost of a lab.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LabRow {
    /// The variant, if the scenario has variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The profile of the lines, if the scenario has profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The congestion control, if the scenario compares several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// Switches.
    pub switches: usize,
    /// Hosts.
    pub hosts: usize,
    /// Links.
    pub links: usize,
    /// The time until the network carries traffic, in seconds.
    pub seconds: f64,
    /// The memory of its processes in bytes, by name.
    pub memory_bytes: BTreeMap<String, u64>,
}

/// The sender and the receiver.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RowDirection {
    /// The host that sent.
    pub from: String,
    /// The host that received.
    pub to: String,
}

/// A TCP connection or an MPTCP subflow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamRow {
    /// The sender's address.
    pub src: IpAddr,
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's address.
    pub dst: IpAddr,
    /// The receiver's port.
    pub dst_port: u16,
    /// Bytes acknowledged at the last sample, at most half a second before the end.
    pub bytes: u64,
    /// The names of the switches on its path at the end; empty if it had no path of its own then.
    pub path: Vec<String>,
    /// The interfaces by which it leaves each of them for the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    /// All of its paths in order of time, if there was more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_changes: Vec<PathChange>,
    /// The rate between samples.
    pub intervals: Vec<Interval>,
}

/// A path that a stream was moved to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PathChange {
    /// Seconds after the start at which it was first seen there, at most half a second late.
    pub at: f64,
    /// The names of the switches; empty: the default path.
    pub path: Vec<String>,
    /// The interfaces by which it leaves each of them for the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
}

impl StreamRow {
    /// Its sender and its paths, for people.
    pub(crate) fn title(&self) -> String {
        let start = format!("{}:{}", self.src, self.src_port);
        let Some((first, moves)) = self.path_changes.split_first() else {
            return format!("{start} {}", path_name(&self.path));
        };
        let moves = moves.iter().map(|it| format!(", from {:.1} s {}", it.at, self.name(it)));
        format!("{start} {}{}", self.name(first), moves.collect::<String>())
    }

    /// The switches of one of its paths, and its interfaces if another one has the same switches.
    fn name(&self, change: &PathChange) -> String {
        let is_parallel = |it: &PathChange| it.path == change.path && it.devices != change.devices;
        match self.path_changes.iter().any(is_parallel) {
            true => format!("{} by {}", path_name(&change.path), change.devices.join(" ")),
            false => path_name(&change.path),
        }
    }
}

fn path_name(path: &[String]) -> String {
    if path.is_empty() { "default path".to_owned() } else { path.join(" ") }
}

/// The parts that there are.
pub(in crate::run) fn lab_title(parts: [Option<&str>; 3]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A change of a link or a controller during a transfer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EventRow {
    /// Seconds after the start.
    pub at: f64,
    /// The two ends of the link; none if a controller changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<[String; 2]>,
    /// The controller; none if a link changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<String>,
    /// `cut`, `restore` or `set` a link; `kill`, `stop` or `hand-over` a controller.
    pub action: String,
}

impl EventRow {
    /// The event for people, such as `cut ams1 gva1`.
    pub(crate) fn title(&self) -> String {
        let names = self.link.iter().flatten().chain(&self.controller);
        let words: Vec<_> = std::iter::once(&self.action).chain(names).map(String::as_str).collect();
        words.join(" ")
    }
}

/// A time in which one controller of a cluster was master of all switches, or none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LeaderRow {
    /// Its name; null while there was none.
    pub controller: Option<String>,
    /// Seconds after the start at which it began, a tenth late at most.
    pub start: f64,
    /// Seconds after the start at which it ended, or the transfer did.
    pub end: f64,
}

/// The use of MPTCP, including the tool's control connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MptcpUse {
    /// Connections that negotiated it.
    pub connections: u64,
    /// Additional subflows.
    pub joins: u64,
    /// Connections that fell back to TCP.
    pub fallbacks: u64,
    /// Packet-ins of packets with MP_JOIN.
    pub join_packet_ins: u64,
}

/// The sent and received data of a copy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Delivery {
    /// Bytes to send.
    pub bytes: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// The SHA-256 of the sent data, in hexadecimal.
    pub sha256_sent: String,
    /// The SHA-256 of the received data, in hexadecimal.
    pub sha256_received: String,
    /// Whether all bytes arrived unchanged.
    pub intact: bool,
    /// The longest time without received data, in seconds.
    pub longest_stall: f64,
}

/// The rate in an interval, in seconds from the start.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// Its start.
    pub start: f64,
    /// Its end.
    pub end: f64,
    /// In bits per second.
    pub bps: f64,
}

/// More lines than that hide what happens to a transfer.
const MAX_SHOWN_EVENTS: usize = 12;

impl Row {
    /// The lab in which it ran: its variant, profile and congestion control, as far as there are several.
    pub(in crate::run) fn lab(&self) -> String {
        lab_title([&self.variant, &self.profile, &self.congestion_control].map(|part| part.as_deref()))
    }

    /// The events that are shown one by one; none where that are too many.
    pub(in crate::run) fn shown_events(&self) -> &[EventRow] {
        if self.events.len() > MAX_SHOWN_EVENTS { &[] } else { &self.events }
    }

    /// The mode, with the tool and length if several are compared.
    pub(in crate::run) fn what(&self) -> String {
        let work = self.work.map(|work| format!(" {work}")).unwrap_or_default();
        format!("{}{work}", self.mode)
    }
}
