//! Commands from the brain to switches, the batch that holds them, and their encoding.

mod batch;
mod encoder;

use std::ops::Range;

use braid_openflow::MultipartType;
use braid_types::{DatapathId, PortNo};
use serde::{Deserialize, Serialize};

use crate::event::UnknownRule;
use crate::pipeline::{EcmpBuckets, EcmpGroup, EdgeGroup, ProtectedPort, Resequencer, Rule, Spray};

pub use batch::Commands;
pub(crate) use batch::HeldPacket;
pub use encoder::Encoder;

/// A command to a switch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Remove all of Braid's rules and create an empty flood group.
    Reset {
        /// The switch.
        dpid: DatapathId,
    },
    /// Install a rule. It replaces one with the same match.
    Add {
        /// The switch.
        dpid: DatapathId,
        /// The rule.
        rule: Rule,
    },
    /// Remove a rule.
    Delete {
        /// The switch.
        dpid: DatapathId,
        /// The rule; only its match and priority count.
        rule: Rule,
    },
    /// Remove a rule that has Braid's mark and cannot be decoded.
    Remove {
        /// The switch.
        dpid: DatapathId,
        /// The rule.
        unknown: UnknownRule,
    },
    /// Create an empty flood group.
    AddFlood {
        /// The switch.
        dpid: DatapathId,
    },
    /// Set the ports of the flood group.
    Flood {
        /// The switch.
        dpid: DatapathId,
        /// The ports. The switch excludes the ingress port of a packet.
        ports: Vec<PortNo>,
    },
    /// Limit the packets that hosts at a port may punt, see [`Rule::Metered`].
    SetMeter {
        /// The switch.
        dpid: DatapathId,
        /// The port. Its number is also the meter's.
        port: PortNo,
        /// Packets a second, which is also the burst.
        rate: u32,
        /// Whether the switch has the meter already, with another rate.
        known: bool,
    },
    /// Remove the meter of a port.
    DeleteMeter {
        /// The switch.
        dpid: DatapathId,
        /// The port.
        port: PortNo,
    },
    /// Create a group that protects a port.
    AddProtectedPort {
        /// The switch.
        dpid: DatapathId,
        /// The group.
        protected: ProtectedPort,
    },
    /// Change the bypass of an existing protected port.
    SetProtectedPort {
        /// The switch.
        dpid: DatapathId,
        /// The group.
        protected: ProtectedPort,
    },
    /// Remove a protected port, if it exists, and the rules that need it.
    RemoveProtectedPort {
        /// The switch.
        dpid: DatapathId,
        /// The group; only its ports count.
        protected: ProtectedPort,
    },
    /// Create or change a group that spreads flows over equal-cost paths.
    SetEcmp {
        /// The switch.
        dpid: DatapathId,
        /// The group.
        buckets: EcmpBuckets,
        /// Whether the switch has the group already, with other paths.
        known: bool,
    },
    /// Remove a group over equal-cost paths and the rules that need it.
    RemoveEcmp {
        /// The switch.
        dpid: DatapathId,
        /// The group.
        group: EcmpGroup,
    },
    /// Create or change a group that sprays over these paths.
    Spray {
        /// The switch, an edge.
        dpid: DatapathId,
        /// The group.
        spray: Spray,
    },
    /// Create or change a resequencing group.
    Resequence {
        /// The switch, an edge.
        dpid: DatapathId,
        /// The group.
        resequencer: Resequencer,
    },
    /// Remove an edge's group and the rules that need it.
    RemoveEdgeGroup {
        /// The switch, an edge.
        dpid: DatapathId,
        /// The group.
        group: EdgeGroup,
    },
    /// Let an edge answer BFD at a port, or not.
    SetBfd {
        /// The switch, an edge.
        dpid: DatapathId,
        /// The port.
        port: PortNo,
        /// Whether it answers.
        is_on: bool,
    },
    /// Send a packet.
    Send {
        /// The switch.
        dpid: DatapathId,
        /// Where the switch sends it.
        target: Target,
        /// The frame: a range of the batch's bytes, see [`Commands::frame`].
        frame: Range<usize>,
    },
    /// Request a reply once all earlier commands are done.
    Barrier {
        /// The switch.
        dpid: DatapathId,
        /// Returned in [`Event::Barrier`](crate::Event::Barrier).
        token: u32,
    },
    /// Request the counters of stream rules.
    ReadStreams {
        /// The switch.
        dpid: DatapathId,
    },
    /// Request the reports of an edge's groups.
    ReadEdge {
        /// The switch, an edge.
        dpid: DatapathId,
    },
    /// Request the counters of all ports.
    ReadPorts {
        /// The switch.
        dpid: DatapathId,
    },
}

impl Command {
    /// The same command for the twin of its rule, see [`Rule::twin`].
    pub(crate) fn twin(&self) -> Option<Self> {
        match *self {
            Self::Add { dpid, rule } => rule.twin().map(|rule| Self::Add { dpid, rule }),
            Self::Delete { dpid, rule } => rule.twin().map(|rule| Self::Delete { dpid, rule }),
            _ => None,
        }
    }

    /// The switch that executes it.
    pub const fn dpid(&self) -> DatapathId {
        match *self {
            Self::Reset { dpid }
            | Self::Add { dpid, .. }
            | Self::Delete { dpid, .. }
            | Self::Remove { dpid, .. }
            | Self::AddFlood { dpid }
            | Self::Flood { dpid, .. }
            | Self::SetMeter { dpid, .. }
            | Self::DeleteMeter { dpid, .. }
            | Self::AddProtectedPort { dpid, .. }
            | Self::SetProtectedPort { dpid, .. }
            | Self::RemoveProtectedPort { dpid, .. }
            | Self::SetEcmp { dpid, .. }
            | Self::RemoveEcmp { dpid, .. }
            | Self::Spray { dpid, .. }
            | Self::Resequence { dpid, .. }
            | Self::RemoveEdgeGroup { dpid, .. }
            | Self::SetBfd { dpid, .. }
            | Self::Send { dpid, .. }
            | Self::Barrier { dpid, .. }
            | Self::ReadStreams { dpid }
            | Self::ReadEdge { dpid }
            | Self::ReadPorts { dpid } => dpid,
        }
    }
}

impl Command {
    /// The type of multipart request that it is, if it is one. The session must
    /// [expect](crate::Session::expect) the answer.
    pub const fn multipart_type(&self) -> Option<MultipartType> {
        match self {
            Self::ReadStreams { .. } => Some(MultipartType::Flow),
            Self::ReadPorts { .. } => Some(MultipartType::Port),
            Self::ReadEdge { .. } => Some(MultipartType::Experimenter),
            _ => None,
        }
    }
}

/// The destination of a packet that the controller sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Out of one port.
    Port(PortNo),
    /// Through the tables, as if from a host behind no particular port.
    Pipeline,
    /// Back to the controller, which measures the round trip.
    Controller,
    /// To all hosts along the broadcast tree, as if it had arrived at this port of a host, which does not get it.
    Flood(PortNo),
}
