//! The rules of the pipeline, each with its table, priority and purpose.

use std::net::{IpAddr, Ipv4Addr};

use braid_openflow::GroupId;
use braid_steering::StreamId;
use braid_types::{FiveTuple, MacAddr, PortNo};
use serde::{Deserialize, Serialize};

use super::group_ids::{EdgeGroup, FLOOD_GROUP};
use super::hop::{Hop, Protection};
use super::punt_class::{NeighborTraffic, PuntClass};
use super::table::Table;
use crate::cookie::Purpose;
use crate::label::Label;

/// A rule by its meaning; [`encode`](super::encode) gives its OpenFlow form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Every LLDP frame goes to the controller.
    Lldp,
    /// Packets from the controller go to the stream table.
    FromController,
    /// Packets from another switch go to the fabric table.
    FromLink {
        /// The port to the other switch.
        port: PortNo,
    },
    /// Packets from another switch on a bypass go to the bypass table.
    FromBypass {
        /// The port to the other switch.
        port: PortNo,
    },
    /// Packets from hosts go to the stream table.
    FromHost {
        /// The host port.
        port: PortNo,
    },
    /// Packets with another host's address are dropped.
    SourceFilter {
        /// The port that is filtered.
        port: PortNo,
        /// The source address.
        src: IpAddr,
    },
    /// ARP of hosts goes to the controller only.
    Arp,
    /// Neighbour solicitations of hosts go to the controller only.
    NeighborSolicitation,
    /// Neighbour advertisements of hosts go to the controller only.
    NeighborAdvertisement,
    /// TCP SYNs of hosts go to the SYN table.
    Syn {
        /// IPv6, else IPv4.
        ipv6: bool,
    },
    /// SYNs go to the controller and wait there.
    HeldSyn,
    /// As [`Rule::HeldSyn`], for SYNs from the last port.
    ///
    /// Open vSwitch caches its decision for a packet by as few bits as its rules tell apart, and uses what it has cached
    /// for a while after newer rules. By this rule it looks at the first bits of a SYN's port, so that what it caches for
    /// SYNs from other ports covers none from [`ADVISED_PORTS`](braid_types::ADVISED_PORTS).
    HeldSynOfLastPort {
        /// IPv6, else IPv4.
        ipv6: bool,
    },
    /// TCP SYN/ACKs of hosts go to the stream table, and a copy to the controller.
    SynAck {
        /// IPv6, else IPv4.
        ipv6: bool,
        /// The host port.
        port: PortNo,
    },
    /// SYN/ACKs to the last port have no stream, as by [`Rule::NoStream`].
    ///
    /// As [`Rule::HeldSynOfLastPort`], for SYN/ACKs: what Open vSwitch caches for those to other ports covers none of
    /// advised subflows, which the controller is sent no copy of.
    SynAckToLastPort {
        /// IPv6, else IPv4.
        ipv6: bool,
    },
    /// TCP resets of hosts go to the stream table, and a copy to the controller.
    Reset {
        /// IPv6, else IPv4.
        ipv6: bool,
        /// The host port.
        port: PortNo,
    },
    /// The SYN and the SYN/ACK of a stream whose rules exist already do not wait for the controller.
    AdvisedHandshake {
        /// The sender's port.
        port: PortNo,
        /// The packets' addresses and ports.
        tuple: FiveTuple,
    },
    /// Unicast ARP and ND of hosts goes to the stream table, and a copy to the controller.
    NeighborCopy {
        /// The host port.
        port: PortNo,
        /// The kind of packet.
        traffic: NeighborTraffic,
    },
    /// ARP to a neighbour without a route goes to the controller.
    NoArpRoute,
    /// FIN or RST of an unannounced stream goes to the stream table, and a copy to the controller.
    TeardownCopy {
        /// The sender's port.
        port: PortNo,
        /// The packets' addresses and ports.
        tuple: FiveTuple,
        /// RST, else FIN.
        reset: bool,
    },
    /// Packets of one class that hosts at a port punt pass the port's meter.
    Metered {
        /// The host port.
        port: PortNo,
        /// The class.
        class: PuntClass,
    },
    /// Packets without a stream rule follow the default paths.
    NoStream,
    /// Broadcast and multicast of hosts follows the spanning tree.
    Broadcast,
    /// Packets to a destination without a route go to the controller.
    NoRoute {
        /// IPv6, else IPv4.
        ipv6: bool,
    },
    /// Broadcast from another switch follows the spanning tree.
    FabricBroadcast,
    /// One direction of a stream takes its own path.
    Stream {
        /// The stream.
        id: StreamId,
        /// Whether `tuple` is the direction of the answering host.
        reverse: bool,
        /// The packets' addresses and ports.
        tuple: FiveTuple,
        /// The path's first hop.
        hop: Hop,
    },
    /// The default path to a host at another switch.
    Route {
        /// The host.
        dst: IpAddr,
        /// The path's first hop.
        hop: Hop,
    },
    /// The default path to a host at this switch.
    LocalRoute {
        /// The host.
        dst: IpAddr,
    },
    /// As [`Rule::Route`], for ARP.
    ArpRoute {
        /// The host.
        dst: Ipv4Addr,
        /// The path's first hop.
        hop: Hop,
    },
    /// As [`Rule::LocalRoute`], for ARP.
    ArpLocalRoute {
        /// The host.
        dst: Ipv4Addr,
    },
    /// One hop of a labelled path.
    Transit(Hop),
    /// Packets of a labelled path that arrive on a bypass from their next switch are sent back to it.
    Hairpin {
        /// The path.
        label: Label,
        /// The port to the next switch.
        port: PortNo,
    },
    /// The last switch of a labelled path.
    Egress {
        /// The path.
        label: Label,
    },
    /// One hop of a bypass.
    Bypass {
        /// The bypass.
        label: Label,
        /// The port to the next switch.
        port: PortNo,
    },
    /// The end of a bypass. From there packets continue by their label.
    BypassEnd {
        /// The bypass.
        label: Label,
    },
    /// Delivers packets to an attached host.
    Deliver {
        /// Its IP address.
        dst: IpAddr,
        /// Its MAC address.
        mac: MacAddr,
        /// Its port.
        port: PortNo,
    },
    /// Packets of a sprayed stream are resequenced before delivery.
    Resequence {
        /// The stream.
        id: StreamId,
        /// Whether `tuple` is the direction of the answering host.
        reverse: bool,
        /// The packets' addresses and ports.
        tuple: FiveTuple,
        /// The group that resequences and delivers them.
        group: EdgeGroup,
    },
    /// As [`Rule::Deliver`], for ARP.
    ArpDeliver {
        /// Its IP address.
        dst: Ipv4Addr,
        /// Its MAC address.
        mac: MacAddr,
        /// Its port.
        port: PortNo,
    },
}

/// The rules of every switch, independent of what is attached.
pub const BASE: [Rule; 18] = [
    Rule::Lldp,
    Rule::FromController,
    Rule::Arp,
    Rule::NeighborSolicitation,
    Rule::NeighborAdvertisement,
    Rule::Syn { ipv6: false },
    Rule::Syn { ipv6: true },
    Rule::HeldSyn,
    Rule::HeldSynOfLastPort { ipv6: false },
    Rule::HeldSynOfLastPort { ipv6: true },
    Rule::NoStream,
    Rule::SynAckToLastPort { ipv6: false },
    Rule::SynAckToLastPort { ipv6: true },
    Rule::Broadcast,
    Rule::NoRoute { ipv6: false },
    Rule::NoRoute { ipv6: true },
    Rule::NoArpRoute,
    Rule::FabricBroadcast,
];

impl Rule {
    /// The rule's table.
    pub const fn table(&self) -> Table {
        match self {
            Self::Metered { class, .. } => class.base().table(),
            Self::Lldp
            | Self::FromController
            | Self::NeighborCopy { .. }
            | Self::AdvisedHandshake { .. }
            | Self::TeardownCopy { .. }
            | Self::SourceFilter { .. }
            | Self::FromLink { .. }
            | Self::FromBypass { .. }
            | Self::FromHost { .. }
            | Self::Arp
            | Self::NeighborSolicitation
            | Self::NeighborAdvertisement
            | Self::Syn { .. }
            | Self::SynAck { .. }
            | Self::Reset { .. } => Table::Admit,
            Self::HeldSyn | Self::HeldSynOfLastPort { .. } => Table::Syn,
            Self::NoStream | Self::SynAckToLastPort { .. } | Self::Stream { .. } => Table::Stream,
            Self::Broadcast
            | Self::NoRoute { .. }
            | Self::NoArpRoute
            | Self::Route { .. }
            | Self::LocalRoute { .. }
            | Self::ArpRoute { .. }
            | Self::ArpLocalRoute { .. } => Table::Route,
            Self::Bypass { .. } | Self::BypassEnd { .. } => Table::Bypass,
            Self::Hairpin { .. } => Table::Fabric,
            Self::FabricBroadcast | Self::Transit(_) | Self::Egress { .. } => Table::Fabric,
            Self::Deliver { .. } | Self::Resequence { .. } | Self::ArpDeliver { .. } => Table::Deliver,
        }
    }

    /// The rule's priority within its table.
    pub const fn priority(&self) -> u16 {
        match self {
            Self::Metered { class, .. } => class.base().priority() + 1,
            Self::NeighborCopy { traffic, .. } => traffic.base().priority() + 2,
            Self::Lldp => 100,
            Self::FromController => 90,
            Self::FromBypass { .. } => 85,
            Self::FromLink { .. } => 80,
            Self::SourceFilter { .. } => 55,
            Self::TeardownCopy { .. } => 54,
            Self::AdvisedHandshake { .. } => 53,
            Self::Arp | Self::NeighborSolicitation | Self::NeighborAdvertisement => 60,
            Self::Broadcast | Self::FabricBroadcast => 60,
            Self::Hairpin { .. } | Self::Resequence { .. } => 55,
            Self::Syn { .. } | Self::SynAck { .. } => 50,
            Self::Reset { .. } => 49,
            Self::Stream { .. } | Self::Route { .. } | Self::LocalRoute { .. } => 50,
            Self::ArpRoute { .. } | Self::ArpLocalRoute { .. } | Self::ArpDeliver { .. } => 50,
            Self::Transit(hop) if hop.is_from_one_port_of_group() => 52,
            Self::Transit(_) | Self::Egress { .. } | Self::Deliver { .. } => 50,
            Self::Bypass { .. } | Self::BypassEnd { .. } => 50,
            Self::HeldSynOfLastPort { .. } => 50,
            Self::HeldSyn | Self::SynAckToLastPort { .. } => 1,
            Self::FromHost { .. } => 10,
            Self::NoStream | Self::NoRoute { .. } | Self::NoArpRoute => 0,
        }
    }

    /// The group that it sends packets to.
    pub fn group(&self) -> Option<GroupId> {
        match *self {
            Self::Broadcast | Self::FabricBroadcast => Some(FLOOD_GROUP),
            Self::Resequence { group, .. } => Some(group.id()),
            Self::Stream { hop, .. }
            | Self::Route { hop, .. }
            | Self::ArpRoute { hop, .. }
            | Self::Transit(hop) => hop.group(),
            _ => None,
        }
    }

    /// Whether the rule belongs to a labelled path or a bypass.
    pub const fn is_of_path(&self) -> bool {
        matches!(
            self,
            Self::Transit(_)
                | Self::Hairpin { .. }
                | Self::Resequence { .. }
                | Self::Egress { .. }
                | Self::Bypass { .. }
                | Self::BypassEnd { .. }
        )
    }

    /// The purpose in its cookie.
    pub const fn purpose(&self) -> Purpose {
        match *self {
            Self::Stream { id, reverse, .. } => Purpose::Stream { id, reverse },
            Self::Resequence { id, reverse, .. } => Purpose::Resequence { id, reverse },
            Self::Route { .. }
            | Self::LocalRoute { .. }
            | Self::ArpRoute { .. }
            | Self::ArpLocalRoute { .. } => Purpose::Route,
            Self::Deliver { .. } | Self::ArpDeliver { .. } => Purpose::Deliver,
            Self::Transit(Hop { label, .. }) | Self::Hairpin { label, .. } | Self::Egress { label } => {
                Purpose::Fabric(label)
            }
            Self::Bypass { label, .. } | Self::BypassEnd { label } => Purpose::Bypass(label),
            _ => Purpose::Base,
        }
    }

    /// The ARP rule that belongs to this IPv4 rule. Both are always installed together.
    pub const fn twin(&self) -> Option<Self> {
        match *self {
            Self::Route { dst: IpAddr::V4(dst), hop } => Some(Self::ArpRoute { dst, hop }),
            Self::LocalRoute { dst: IpAddr::V4(dst) } => Some(Self::ArpLocalRoute { dst }),
            Self::Deliver { dst: IpAddr::V4(dst), mac, port } => Some(Self::ArpDeliver { dst, mac, port }),
            _ => None,
        }
    }
}

impl Rule {
    /// The port that must be protected for this rule.
    pub(crate) const fn protected(&self) -> Option<Protection> {
        match *self {
            Self::Stream { hop, .. } | Self::Route { hop, .. } | Self::Transit(hop) => hop.protected(),
            _ => None,
        }
    }
}
