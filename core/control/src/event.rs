//! The events that the brain handles, in a form that can be recorded and replayed.

use std::borrow::Cow;
use std::collections::BTreeMap;

use braid_edge_protocol::telemetry::Report;
use braid_openflow::{FlowMod, FlowModCommand, FlowStats, Message, Xid};
use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo, SwitchPort, Time};
use serde::{Deserialize, Serialize};

use crate::cookie::Cookie;
use crate::pipeline::{EdgeGroup, ProtectedPort, Rule};
use crate::port_counters::PortCounters;
use crate::request::{Request, Ticket};

/// What happened, as the brain sees it. Small and serialisable, so that a run can be recorded.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event<'a> {
    /// A switch finished its handshake and takes orders from us.
    SwitchUp(SwitchPorts),
    /// The channel to a switch is gone.
    SwitchDown {
        /// Which switch.
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
    /// A packet was sent up by a rule.
    PacketIn {
        /// The switch.
        dpid: DatapathId,
        /// Where the packet entered it.
        in_port: PortNo,
        /// The table whose rule sent it up.
        table: u8,
        /// The Ethernet frame.
        #[serde(with = "hex_bytes")]
        data: Cow<'a, [u8]>,
    },
    /// Every message before a barrier was processed.
    Barrier {
        /// The switch.
        dpid: DatapathId,
        /// What the barrier carried.
        token: u32,
    },
    /// A rule timed out.
    FlowRemoved {
        /// The switch.
        dpid: DatapathId,
        /// The rule's cookie.
        cookie: Cookie,
        /// Bytes that it matched in its life.
        bytes: u64,
    },
    /// Counters of stream rules, as asked for.
    StreamCounters {
        /// The switch.
        dpid: DatapathId,
        /// Cookie and bytes of each rule.
        rules: Vec<(Cookie, u64)>,
    },
    /// Counters of ports, as asked for; a switch may give them in several parts.
    PortCounters {
        /// The switch.
        dpid: DatapathId,
        /// What its ports have counted.
        ports: Vec<PortCounters>,
    },
    /// What groups of an edge have done, as asked for; an edge may tell it in several parts.
    EdgeReports {
        /// The edge.
        dpid: DatapathId,
        /// The groups, and what each has done.
        reports: Vec<(EdgeGroup, Report)>,
    },
    /// A switch has sent back an echo request.
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
        /// The rule that it refused, if it was one.
        rule: Option<Rule>,
        /// The error, in words.
        reason: String,
    },
    /// Somebody wants to know what a link can carry.
    MeasureCapacity {
        /// The port that it leaves.
        src: SwitchPort,
    },
    /// What is steered how, from now on.
    Policy {
        /// A policy file, checked: see [`braid_steering::Policies::parse`].
        text: String,
    },
    /// An application, or the agent of a host, asks for something and waits for the answer.
    Request {
        /// Comes back with the answer.
        ticket: Ticket,
        /// What it asks for.
        request: Request,
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
    /// What it says of itself: manufacturer, hardware, software.
    pub description: String,
    /// Its physical ports.
    pub ports: Vec<PortStatus>,
    /// How many groups of type fast failover it can have.
    #[serde(default)]
    pub failover_groups: u32,
    /// What an earlier controller of ours left there; `None` if that could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<InstalledRules>,
}

impl SwitchPorts {
    /// Whether it is one of Braid's edges, which can spray and put in order.
    #[must_use]
    pub fn is_edge(&self) -> bool {
        self.description.starts_with("Braid edge ")
    }
}

/// The rules with our mark in a switch that joins.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct InstalledRules {
    /// Those that are as we write them.
    pub rules: Vec<Rule>,
    /// The others.
    pub unknown_rules: Vec<UnknownRule>,
    /// What it can meter, and does.
    #[serde(default)]
    pub meters: InstalledMeters,
    /// The ports of the group to flood through, if there is one.
    pub flood: Option<Vec<PortNo>>,
    /// The groups that guard ports.
    #[serde(default)]
    pub protected_ports: Vec<ProtectedPort>,
    /// The groups of an edge that spray or put in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edge_groups: Vec<EdgeGroup>,
}

/// The meters in a switch that joins.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct InstalledMeters {
    /// The highest number that a meter may have; 0 where there are none of use.
    pub highest: u32,
    /// Ports whose meters are as we write them, and the packets a second that those let through.
    pub rates: BTreeMap<PortNo, u32>,
}

/// A rule with our mark that is not as we write rules: the OpenFlow message that removes it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnknownRule(#[serde(with = "hex_bytes")] pub(crate) Cow<'static, [u8]>);

impl UnknownRule {
    /// Takes note of a rule that a switch describes.
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

    /// About how many bytes of memory it takes, with what the allocator adds.
    pub(crate) fn size(&self) -> usize {
        const BLOCK: usize = 16;
        (size_of::<Self>() + BLOCK).saturating_add(self.0.len())
    }
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

/// An event with its time: one line of a recording.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recorded<'a> {
    /// When the brain was told.
    pub at: Time,
    /// What it was told.
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
