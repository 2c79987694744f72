//! The events that the brain handles, in a form that can be recorded and replayed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use braid_assign::PromisedAssignment;
use braid_edge_protocol::telemetry::Report;
use braid_openflow::{FlowMod, FlowModCommand, FlowStats, Message, Xid};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo, SwitchPort, Time};
use serde::{Deserialize, Serialize};

use crate::cookie::Cookie;
use crate::facts::Fact;
use crate::pipeline::{EcmpBuckets, EdgeGroup, ProtectedPort, Rule};
use crate::port_counters::PortCounters;
use crate::request::{Request, Ticket};
use crate::threat::Threat;

/// An input of the brain. Small and serialisable, so that a run can be recorded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event<'a> {
    /// A switch has finished its handshake and accepts commands.
    SwitchUp(SwitchPorts),
    /// The OpenFlow connection to a switch is closed.
    SwitchDown {
        /// The switch.
        dpid: DatapathId,
    },
    /// As [`SwitchDown`](Self::SwitchDown), because the switch gets another connection in its place, or another controller: that
    /// is no failure of its links.
    SwitchMoved {
        /// The switch.
        dpid: DatapathId,
    },
    /// A port was added or changed.
    PortUp {
        /// The switch.
        dpid: DatapathId,
        /// The port as it is now; it may be administratively or physically down.
        port: PortStatus,
    },
    /// A port was removed.
    PortGone {
        /// The switch.
        dpid: DatapathId,
        /// Its former port.
        port: PortNo,
    },
    /// A rule sent a packet to the controller.
    PacketIn {
        /// The switch.
        dpid: DatapathId,
        /// The port where the packet entered the switch.
        in_port: PortNo,
        /// The table of that rule.
        table: u8,
        /// The Ethernet frame.
        #[serde(with = "hex_bytes")]
        data: Cow<'a, [u8]>,
    },
    /// A switch has processed every message before a barrier.
    Barrier {
        /// The switch.
        dpid: DatapathId,
        /// The barrier's token.
        token: u32,
    },
    /// A rule timed out.
    FlowRemoved {
        /// The switch.
        dpid: DatapathId,
        /// The rule's cookie.
        cookie: Cookie,
        /// Bytes that it matched in its lifetime.
        bytes: u64,
    },
    /// Counters of stream rules, as requested.
    StreamCounters {
        /// The switch.
        dpid: DatapathId,
        /// Cookie and bytes of each rule.
        rules: Vec<(Cookie, u64)>,
    },
    /// Counters of ports, as requested. A switch may send them in several parts.
    PortCounters {
        /// The switch.
        dpid: DatapathId,
        /// The counters of its ports.
        ports: Vec<PortCounters>,
    },
    /// Reports of an edge's groups, as requested. An edge may send them in several parts.
    EdgeReports {
        /// The edge.
        dpid: DatapathId,
        /// The groups' reports.
        reports: Vec<GroupReport>,
    },
    /// A switch has answered an echo request.
    Echo {
        /// The switch.
        dpid: DatapathId,
        /// When the request was sent, on the same clock as the events.
        sent_at: Time,
    },
    /// A switch refused a message.
    Refused {
        /// The switch.
        dpid: DatapathId,
        /// The refused rule, if it was a rule.
        rule: Option<Rule>,
        /// The error as text.
        reason: String,
    },
    /// A peer of the controller did what it must not: an alarm.
    PeerAlarm {
        /// Its address.
        peer: IpAddr,
        /// What it did.
        threat: Threat,
        /// How many times since the last event about it.
        count: u64,
    },
    /// A client requests a measurement of a link's capacity.
    MeasureCapacity {
        /// The sending port of the link.
        src: SwitchPort,
    },
    /// Switches shape what leaves these ports to these rates, and what leaves no other.
    ShapedPorts {
        /// All of them.
        ports: Vec<ShapedPort>,
    },
    /// A new policy applies.
    Policy {
        /// A policy file, checked: see [`braid_steering::Policies::parse`].
        text: String,
    },
    /// Discovery frames have another key from now on.
    DiscoveryKey {
        /// The key.
        secret: [u8; 32],
    },
    /// The cluster has promised these assignments, and no others. Those that are new get their paths once their hosts are known.
    Assignments {
        /// All of them.
        promised: Vec<PromisedAssignment>,
    },
    /// Another controller has all switches from now on: which streams end, this one does not hear.
    Replaced,
    /// What another controller knew until this one takes over. Comes before the switches join.
    Facts {
        /// All of it, in the place of earlier facts.
        facts: Vec<Fact>,
    },
    /// An application or a host agent makes a request and waits for the reply.
    Request {
        /// Returned with the reply.
        ticket: Ticket,
        /// The request.
        request: Request,
    },
    /// The controller could not listen for this long: it was busy, or had no processor. What switches sent
    /// meanwhile is late through no fault of theirs, and this time counts as nobody's silence.
    Stalled {
        /// The time, which is over or goes on.
        time: Duration,
        /// Of this, the time in which it did not even run: others had the processor, or it was stopped.
        #[serde(default)]
        idle: Duration,
    },
    /// Time has passed. Expected at least every [`Settings::tick`](crate::Settings::tick).
    Tick,
}

/// A switch and its ports when it joined.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SwitchPorts {
    /// The switch.
    pub dpid: DatapathId,
    /// Its tables, from 0.
    pub tables: u8,
    /// Its own description: manufacturer, hardware, software.
    pub description: String,
    /// Its physical ports.
    pub ports: Vec<PortStatus>,
    /// The number of fast-failover groups that it supports.
    #[serde(default)]
    pub failover_groups: u32,
    /// The number of select groups that it supports whose buckets lead to other groups.
    #[serde(default)]
    pub select_groups: u32,
    /// The installed state of an earlier Braid controller; `None` if it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installed: Option<InstalledRules>,
}

impl SwitchPorts {
    /// Whether it is a Braid edge, which can spray and resequence.
    #[must_use]
    pub fn is_edge(&self) -> bool {
        self.description.starts_with("Braid edge ")
    }
}

/// The rules with Braid's mark, and the groups and meters, in a switch that joins.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct InstalledRules {
    /// The rules in the form in which Braid writes them.
    pub rules: Vec<Rule>,
    /// Other rules with Braid's mark.
    pub unknown_rules: Vec<UnknownRule>,
    /// The meters that it supports and has.
    #[serde(default)]
    pub meters: InstalledMeters,
    /// The ports of the flood group, if it exists.
    pub flood: Option<Vec<PortNo>>,
    /// The groups of protected ports.
    #[serde(default)]
    pub protected_ports: Vec<ProtectedPort>,
    /// The spray groups and resequencing groups of an edge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edge_groups: Vec<EdgeGroup>,
    /// The groups over equal-cost paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ecmp_groups: Vec<EcmpBuckets>,
}

/// The meters in a switch that joins.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct InstalledMeters {
    /// The highest number that a meter may have; 0 without usable meters.
    pub highest: u32,
    /// Ports whose meters have Braid's form, and their rates in packets a second.
    pub rates: BTreeMap<PortNo, u32>,
}

/// A rule with Braid's mark but not in Braid's form: the OpenFlow message that removes it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnknownRule(#[serde(with = "hex_bytes")] pub(crate) Cow<'static, [u8]>);

impl UnknownRule {
    /// The removal of a rule that a switch describes.
    pub fn new(flow: &FlowStats<'_>) -> Self {
        let deletion = FlowMod {
            table_id: flow.table_id,
            command: FlowModCommand::DeleteStrict,
            priority: flow.priority,
            matching: flow.matching,
            ..FlowMod::default()
        };
        let mut bytes = Vec::new();
        // The match came in a message, so it fits into one.
        let _ = Message::FlowMod(deletion).encode(Xid(0), &mut bytes);
        bytes.shrink_to_fit();
        Self(Cow::Owned(bytes))
    }

    /// Approximate bytes of memory, including the allocator's overhead.
    pub(crate) fn size(&self) -> usize {
        const BLOCK: usize = 16;
        (size_of::<Self>() + BLOCK).saturating_add(self.0.len())
    }
}

/// The report of a group of an edge.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GroupReport {
    /// The group.
    pub group: EdgeGroup,
    /// Its counters and settings.
    pub report: Report,
}

/// A port as a switch describes it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PortStatus {
    /// Its number.
    pub port: PortNo,
    /// Its own address.
    pub mac: MacAddr,
    /// Its name in the switch.
    pub name: String,
    /// Whether packets can pass: neither administratively nor physically down.
    pub up: bool,
    /// Its current speed; zero where the switch does not know.
    pub speed: BitsPerSec,
}

/// A port before which a switch has queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShapedPort {
    /// The port.
    pub port: SwitchPort,
    /// The rate to which the switch shapes what leaves it.
    pub rate: BitsPerSec,
}

/// An event with its time: one line of a recording.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recorded<'a> {
    /// When the brain received it.
    pub at: Time,
    /// The event.
    pub event: Event<'a>,
}

mod hex_bytes {
    use std::borrow::Cow;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Cow<'static, [u8]>, D::Error> {
        let text = Cow::<'de, str>::deserialize(d)?;
        hex::decode(&*text).map(Cow::Owned).map_err(D::Error::custom)
    }
}
