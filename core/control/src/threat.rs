//! Threats that hosts and peers of the controller pose: forged discovery frames, address conflicts, floods and refused
//! connections, named for alarms.

use std::fmt;
use std::net::IpAddr;

use braid_types::{DatapathId, MacAddr, SwitchPort};
use serde::{Deserialize, Serialize};

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
            Self::DuplicateDatapathId { .. } => "duplicate_datapath_id",
            Self::RoleLost { .. } => "role_lost",
            Self::RefusedConnection { .. } => "refused_connection",
            Self::WrongToken => "wrong_token",
        }
    }
}

impl fmt::Display for Threat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForgedProbe { why } => {
                write!(f, "a discovery frame was not made by this controller: {why}")
            }
            Self::ReplayedProbe { of } => write!(f, "a discovery frame of {of} was sent again"),
            Self::RelayedProbe { of } => write!(
                f,
                "a discovery frame of {of} came from a host, or through one: if a link is there now, take both \
                 ports down first"
            ),
            Self::ReflectedProbe => f.write_str("the port's own discovery frame was sent back"),
            Self::NotBelieved { mac, why } => write!(f, "host {mac} is not believed: {why}"),
            Self::StolenMac { mac, holder } => write!(f, "{mac} was used, whose host answers at {holder}"),
            Self::StolenIp { ip, holder } => write!(f, "{ip} was used, whose host answers at {holder}"),
            Self::ForeignDatapathId { dpid, why } => write!(f, "it claims datapath id {dpid}: {why}"),
            Self::CertificateExpiry { why } => f.write_str(why),
            Self::TooManyAddresses => f.write_str("too many new addresses, address conflicts or lookups"),
            Self::TooManyPackets => f.write_str("too many packets for the controller"),
            Self::DuplicateDatapathId { dpid, holder } => {
                write!(f, "it claims datapath id {dpid}, which the switch at {holder} has")
            }
            Self::RoleLost { dpid } => write!(
                f,
                "switch {dpid} has another controller as its master, and this one stands down: `braid switches \
                 take-over` takes it back"
            ),
            Self::RefusedConnection { why } => write!(f, "its OpenFlow connection was refused: {why}"),
            Self::WrongToken => f.write_str("it showed a token that nobody has"),
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
