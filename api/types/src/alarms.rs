//! Alarms: attacks that the controller saw at ports and on its own sockets.

use std::net::IpAddr;

use braid_types::{DatapathId, MacAddr, SwitchPort, Time};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::LossEvidence;
use crate::page::pages;
use crate::schema::{Dpid, Mac, Nanoseconds, PortOfSwitch};

pages!(/// Attacks that the controller saw at ports and on its own sockets.
    Alarms, alarms: Alarm);

/// An attack of one kind at one port, or by one peer of the controller.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct Alarm {
    /// The port, if it was seen at a port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PortOfSwitch>, nullable = false)]
    pub at: Option<SwitchPort>,
    /// The port by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub at_name: Option<String>,
    /// The address of the peer, if it connected to the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub peer: Option<IpAddr>,
    /// The last attack.
    #[serde(flatten)]
    pub threat: Threat,
    /// The same in words.
    pub text: String,
    /// When the first was seen.
    #[schema(value_type = Nanoseconds)]
    pub first_at: Time,
    /// When the last was seen.
    #[schema(value_type = Nanoseconds)]
    pub last_at: Time,
    /// How many there were.
    pub count: u64,
}

/// An attack, or traffic that looks like one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Threat {
    /// A discovery frame (LLDP) with a wrong tag or form.
    ForgedLldp {
        /// What is wrong with it.
        why: String,
    },
    /// A discovery frame that was heard before, or that is too old to come from a link.
    ReplayedLldp {
        /// The port that the frame was made for.
        #[schema(value_type = PortOfSwitch)]
        of: SwitchPort,
    },
    /// A discovery frame between ports of which one leads to a host.
    RelayedLldp {
        /// The port that the frame was made for.
        #[schema(value_type = PortOfSwitch)]
        of: SwitchPort,
    },
    /// The port's own discovery frame.
    ReflectedLldp,
    /// A host whose addresses are refused.
    RejectedHost {
        /// Its address.
        #[schema(value_type = Mac)]
        mac: MacAddr,
        /// What is wrong with it.
        why: String,
    },
    /// The Ethernet address of a host that is alive elsewhere.
    SpoofedMac {
        /// The address.
        #[schema(value_type = Mac)]
        mac: MacAddr,
        /// The port of the host.
        #[schema(value_type = PortOfSwitch)]
        holder: SwitchPort,
    },
    /// The IP address of a host that is alive elsewhere.
    SpoofedIp {
        /// The address.
        #[schema(value_type = String)]
        ip: IpAddr,
        /// The port of the host.
        #[schema(value_type = PortOfSwitch)]
        holder: SwitchPort,
    },
    /// A datapath id to which the switch's certificate does not entitle it.
    ForeignDatapathId {
        /// The datapath id.
        #[schema(value_type = Dpid)]
        dpid: DatapathId,
        /// What is wrong, and what to do about it.
        why: String,
    },
    /// A certificate that is about to expire, or has.
    CertificateExpiry {
        /// Whose it is, when it ends, and what to do about it.
        why: String,
    },
    /// More new, conflicting or unknown addresses than a port may use.
    TooManyAddresses,
    /// More packets for the controller than a port may send.
    TooManyPackets,
    /// A link that leaves the port and loses or corrupts frames without going down. It is avoided until it is clean.
    LossyLink {
        /// The receiving end.
        #[schema(value_type = PortOfSwitch)]
        to: SwitchPort,
        /// What was counted.
        evidence: LossEvidence,
    },
    /// A path of an edge that leaves the port and stopped answering probes, though its links are up and other paths answer.
    SilentPath {
        /// The edge at its end.
        #[schema(value_type = Dpid)]
        to: DatapathId,
        /// The switches on it.
        #[schema(value_type = Vec<Dpid>)]
        path: Vec<DatapathId>,
        /// How often it has done so since its group changed last.
        silences: u32,
    },
    /// An OpenFlow connection with the datapath id of a switch that is connected.
    DuplicateDatapathId {
        /// The datapath id.
        #[schema(value_type = Dpid)]
        dpid: DatapathId,
        /// The address of the switch that has it.
        #[schema(value_type = String)]
        holder: IpAddr,
    },
    /// A bridge of Open vSwitch is set up in a way that does not work, as its database says.
    UnsuitableBridge {
        /// The bridge's datapath id.
        #[schema(value_type = Dpid)]
        dpid: DatapathId,
        /// Which bridge it is, what is wrong, and what to do about it.
        why: String,
    },
    /// Another controller is the master of a switch.
    RoleLost {
        /// The switch.
        #[schema(value_type = Dpid)]
        dpid: DatapathId,
    },
    /// A controller outside the cluster is the master of a switch.
    ForeignTerm {
        /// The switch.
        #[schema(value_type = Dpid)]
        dpid: DatapathId,
        /// The term of that controller: the generation id of the switch.
        term: u64,
    },
    /// The store of the controller's cluster does not answer.
    StoreUnreachable {
        /// Which one, and what to do about it.
        why: String,
    },
    /// The controller led its cluster until another member was elected, without a hand-over.
    LeadershipLost {
        /// What happened, and what to do about it.
        why: String,
    },
    /// The controller led its cluster and let a standby lead that reaches more switches.
    SwitchesUnreachable {
        /// What happened, and what to do about it.
        why: String,
    },
    /// Another process is a member of the cluster with the controller's name.
    DuplicateMember {
        /// Which one, and what to do about it.
        why: String,
    },
    /// A value in the store of the controller's cluster that cannot be read.
    CorruptStore {
        /// Which one, and what to do about it.
        why: String,
    },
    /// A connection between members of the cluster whose other end has no certificate of the cluster.
    ForeignMember {
        /// What it showed, and what to do about it.
        why: String,
    },
    /// An OpenFlow connection that was refused, or closed since the peer misbehaved.
    RefusedConnection {
        /// The reason.
        why: String,
    },
    /// A token that nobody has.
    WrongToken,
}
