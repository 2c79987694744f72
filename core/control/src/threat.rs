//! Threats that hosts and peers of the controller pose: forged discovery frames, address conflicts, floods and refused
//! connections, named for alarms.

use std::fmt;
use std::net::IpAddr;

use braid_types::{DatapathId, MacAddr, SwitchPort, Term};
use serde::{Deserialize, Serialize};

use crate::health::LossEvidence;
use crate::names::{NetworkNames, NoNames, Text};

/// Where a threat comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlarmSource {
    /// A port of a switch.
    Port(SwitchPort),
    /// A machine that connects to the controller.
    Peer(IpAddr),
}

/// What something at a port, or a peer of the controller, did that the network must not believe, or must not bear.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Threat {
    /// It sent a discovery frame with a wrong tag or form.
    ForgedProbe {
        /// What is wrong with it.
        why: String,
    },
    /// It sent a discovery frame that had been heard, or was too old to come from a link.
    ReplayedProbe {
        /// The port that the frame was made for.
        of: SwitchPort,
    },
    /// It sent a discovery frame between ports of which one has shown a host.
    RelayedProbe {
        /// The port that the frame was made for.
        of: SwitchPort,
    },
    /// It sent the port's own discovery frame back.
    ReflectedProbe,
    /// A host was not believed.
    NotBelieved {
        /// Its address.
        mac: MacAddr,
        /// What is wrong with it.
        why: String,
    },
    /// It used the Ethernet address of a host that is alive elsewhere.
    StolenMac {
        /// The address.
        mac: MacAddr,
        /// Where the host is.
        holder: SwitchPort,
    },
    /// It used the IP address of a host that is alive elsewhere.
    StolenIp {
        /// The address.
        ip: IpAddr,
        /// Where the host is.
        holder: SwitchPort,
    },
    /// It claimed a datapath id to which its certificate does not entitle it.
    ForeignDatapathId {
        /// The datapath id.
        dpid: DatapathId,
        /// What is wrong, and what to do about it.
        why: String,
    },
    /// A certificate is about to expire, or has.
    CertificateExpiry {
        /// Whose it is, when it ends, and what to do about it.
        why: String,
    },
    /// It exceeded the port's limit of new addresses, address conflicts and lookups of unknown addresses.
    TooManyAddresses,
    /// It sent more packets that the controller must see than a port may.
    TooManyPackets,
    /// The link that leaves it loses or corrupts frames without going down.
    LossyLink {
        /// Where the link leads.
        to: SwitchPort,
        /// What was counted at both ends.
        evidence: LossEvidence,
    },
    /// A path of an edge that leaves it stopped answering probes, though its links are up and others answer.
    SilentPath {
        /// The edge at its end.
        to: DatapathId,
        /// The switches on it.
        path: Vec<DatapathId>,
        /// How often it has done so since its group changed last.
        silences: u32,
    },
    /// It claimed the datapath id of a switch that is connected.
    DuplicateDatapathId {
        /// The datapath id.
        dpid: DatapathId,
        /// The address of the switch that has it.
        holder: IpAddr,
    },
    /// Another controller has become the master of a switch, or is it.
    RoleLost {
        /// The switch.
        dpid: DatapathId,
    },
    /// A bridge of its database is set up in a way that does not work.
    UnsuitableBridge {
        /// The bridge's datapath id.
        dpid: DatapathId,
        /// Which bridge it is, what is wrong, and what to do about it.
        why: String,
    },
    /// A controller outside the cluster has become the master of a switch, or is it.
    ForeignTerm {
        /// The switch.
        dpid: DatapathId,
        /// The term of that controller.
        term: Term,
    },
    /// The store of the controller's cluster does not answer.
    StoreUnreachable {
        /// Which one, and what to do about it.
        why: String,
    },
    /// The controller led its cluster until another member was elected.
    LeadershipLost {
        /// What happened, and what to do about it.
        why: String,
    },
    /// The controller led its cluster and let a standby lead that reaches more switches.
    SwitchesUnreachable {
        /// What happened, and what to do about it.
        why: String,
    },
    /// Another process is a member with the controller's name.
    DuplicateMember {
        /// Which one, and what to do about it.
        why: String,
    },
    /// A value in the store of the controller's cluster cannot be read.
    CorruptStore {
        /// Which one, and what to do about it.
        why: String,
    },
    /// It connected as a member of the controller's cluster, or was connected to as one, and its certificate is not of it.
    ForeignMember {
        /// What it showed, and what to do about it.
        why: String,
    },
    /// Its OpenFlow connection was refused or closed.
    RefusedConnection {
        /// The reason.
        why: String,
    },
    /// It showed a token that nobody has.
    WrongToken,
}

impl Threat {
    /// Its name, as API clients see it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ForgedProbe { .. } => "forged_lldp",
            Self::ReplayedProbe { .. } => "replayed_lldp",
            Self::RelayedProbe { .. } => "relayed_lldp",
            Self::ReflectedProbe => "reflected_lldp",
            Self::NotBelieved { .. } => "rejected_host",
            Self::StolenMac { .. } => "spoofed_mac",
            Self::StolenIp { .. } => "spoofed_ip",
            Self::ForeignDatapathId { .. } => "foreign_datapath_id",
            Self::CertificateExpiry { .. } => "certificate_expiry",
            Self::TooManyAddresses => "too_many_addresses",
            Self::TooManyPackets => "too_many_packets",
            Self::LossyLink { .. } => "lossy_link",
            Self::SilentPath { .. } => "silent_path",
            Self::DuplicateDatapathId { .. } => "duplicate_datapath_id",
            Self::RoleLost { .. } => "role_lost",
            Self::UnsuitableBridge { .. } => "unsuitable_bridge",
            Self::ForeignTerm { .. } => "foreign_term",
            Self::StoreUnreachable { .. } => "store_unreachable",
            Self::LeadershipLost { .. } => "leadership_lost",
            Self::SwitchesUnreachable { .. } => "switches_unreachable",
            Self::DuplicateMember { .. } => "duplicate_member",
            Self::CorruptStore { .. } => "corrupt_store",
            Self::ForeignMember { .. } => "foreign_member",
            Self::RefusedConnection { .. } => "refused_connection",
            Self::WrongToken => "wrong_token",
        }
    }
}

impl Threat {
    /// The threat as text, with names of switches and ports where they have some.
    pub fn text<'a>(&'a self, names: &'a dyn NetworkNames) -> Text<'a, Self> {
        Text { of: self, names }
    }
}

impl fmt::Display for Threat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text(&NoNames).fmt(f)
    }
}

impl fmt::Display for Text<'_, Threat> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Threat::ForgedProbe { why } => {
                write!(f, "a discovery frame was not made by this controller: {why}")
            }
            Threat::ReplayedProbe { of } => {
                write!(f, "a discovery frame of {} was sent again", self.port(*of))
            }
            Threat::RelayedProbe { of } => write!(
                f,
                "a discovery frame of {} came from a host, or through one: if a link is there now, take both \
                 ports down first",
                self.port(*of)
            ),
            Threat::ReflectedProbe => f.write_str("the port's own discovery frame was sent back"),
            Threat::NotBelieved { mac, why } => write!(f, "host {mac} is not believed: {why}"),
            Threat::StolenMac { mac, holder } => {
                write!(f, "{mac} was used, whose host answers at {}", self.port(*holder))
            }
            Threat::StolenIp { ip, holder } => {
                write!(f, "{ip} was used, whose host answers at {}", self.port(*holder))
            }
            Threat::ForeignDatapathId { dpid, why } => write!(f, "it claims datapath id {dpid}: {why}"),
            Threat::CertificateExpiry { why }
            | Threat::StoreUnreachable { why }
            | Threat::LeadershipLost { why }
            | Threat::SwitchesUnreachable { why }
            | Threat::DuplicateMember { why }
            | Threat::CorruptStore { why } => f.write_str(why),
            Threat::TooManyAddresses => f.write_str("too many new addresses, address conflicts or lookups"),
            Threat::TooManyPackets => f.write_str("too many packets for the controller"),
            Threat::LossyLink { to, evidence } => write!(
                f,
                "the link to {} loses frames, and is avoided until it is clean: {evidence}",
                self.port(*to)
            ),
            Threat::SilentPath { to, path, silences } => {
                let edge = self.switch(*to);
                write!(f, "a path to edge {edge} fell silent while others answer: ")?;
                self.write_path(f, path.iter().copied())?;
                write!(f, "; {silences} times since its group changed")
            }
            Threat::DuplicateDatapathId { dpid, holder } => {
                write!(f, "it claims datapath id {dpid}, which the switch at {holder} has")
            }
            Threat::RoleLost { dpid } => write!(
                f,
                "switch {} has another controller as its master, and this one stands down: `braid switches \
                 take-over` takes it back",
                self.switch(*dpid)
            ),
            Threat::UnsuitableBridge { dpid, why } => write!(f, "switch {}, {why}", self.switch(*dpid)),
            Threat::ForeignTerm { dpid, term } => write!(
                f,
                "switch {} has a master in term {term} that is no member of this cluster, and its leader stands \
                 down there: stop that controller, or give all members one --cluster-name; then `braid switches \
                 take-over` at the leader takes the switch back",
                self.switch(*dpid)
            ),
            Threat::ForeignMember { why } => {
                write!(f, "it is refused as a member of the controllers' cluster: {why}")
            }
            Threat::RefusedConnection { why } => write!(f, "its OpenFlow connection was refused: {why}"),
            Threat::WrongToken => f.write_str("it showed a token that nobody has"),
        }
    }
}

impl fmt::Display for AlarmSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(at) => at.fmt(f),
            Self::Peer(peer) => peer.fmt(f),
        }
    }
}
