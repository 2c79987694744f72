//! The six tables of the pipeline and the rules in them, each with its table, priority and purpose.

use std::net::{IpAddr, Ipv4Addr};

use braid_steering::StreamId;
use braid_types::{FiveTuple, MacAddr, PortNo};
use serde::{Deserialize, Serialize};

use super::hop::{Exit, Hop};
use super::punt_class::{NeighborTraffic, PuntClass};
use super::spray::EdgeGroup;
use crate::cookie::Purpose;
use crate::label::Label;

/// A table of the pipeline, in the order in which packets meet them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Table {
    /// What may enter, and what the controller wants to see.
    Admit = 0,
    /// Streams with a path of their own.
    Stream = 1,
    /// Default routes by destination.
    Route = 2,
    /// Round links that are down.
    Bypass = 3,
    /// Labels between switches.
    Fabric = 4,
    /// Attached hosts.
    Deliver = 5,
}

/// How many tables a switch must have.
pub const TABLES: u8 = 6;

/// A rule by what it means; [`encode`](super::encode) says it in OpenFlow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Every LLDP frame goes to the controller.
    Lldp,
    /// Packets of the controller go on to the stream table.
    FromController,
    /// Packets from another switch go on to the fabric table.
    FromLink {
        /// The port where the other switch is.
        port: PortNo,
    },
    /// Packets from another switch that are on a bypass go on to the bypass table.
    FromBypass {
        /// The port where the other switch is.
        port: PortNo,
    },
    /// Packets from hosts go on to the stream table.
    FromHost {
        /// The port where hosts are.
        port: PortNo,
    },
    /// Packets with an address that is another host's are dropped.
    SourceFilter {
        /// The port where they are not to come in.
        port: PortNo,
        /// The address.
        src: IpAddr,
    },
    /// ARP of hosts goes to the controller, and nowhere else.
    Arp,
    /// Neighbour solicitations of hosts go to the controller, and nowhere else.
    NeighbourSolicitation,
    /// Neighbour advertisements of hosts go to the controller, and nowhere else.
    NeighbourAdvertisement,
    /// TCP SYNs of hosts wait at the controller.
    Syn {
        /// Of IPv6, else of IPv4.
        ipv6: bool,
    },
    /// TCP SYN/ACKs of hosts go on, and a copy goes to the controller.
    SynAck {
        /// Of IPv6, else of IPv4.
        ipv6: bool,
        /// The port where hosts are.
        port: PortNo,
    },
    /// TCP resets of hosts go on, and a copy goes to the controller.
    Reset {
        /// Of IPv6, else of IPv4.
        ipv6: bool,
        /// The port where hosts are.
        port: PortNo,
    },
    /// The SYN and the SYN/ACK of a stream that has its rules already go on without the controller.
    Expected {
        /// The port where the host is that sends them.
        port: PortNo,
        /// The packets' addresses and ports.
        tuple: FiveTuple,
    },
    /// ARP and ND of hosts to one neighbour go on as its packets do, and a copy goes to the controller.
    Neighbour {
        /// The port where hosts are.
        port: PortNo,
        /// What it is.
        traffic: NeighborTraffic,
    },
    /// ARP to a neighbour without a route goes to the controller.
    NoArpRoute,
    /// What ends a stream that nobody has announced goes on, and to the controller too.
    Ending {
        /// The port of its sender.
        port: PortNo,
        /// The packets' addresses and ports.
        tuple: FiveTuple,
        /// RST, else FIN.
        reset: bool,
    },
    /// What hosts at a port ask the controller passes the port's meter first.
    Metered {
        /// The port where hosts are.
        port: PortNo,
        /// What they ask.
        class: PuntClass,
    },
    /// What has no stream rule follows the default paths.
    NoStream,
    /// Broadcast and multicast of hosts follows the spanning tree.
    Broadcast,
    /// A destination without a route is asked for at the controller.
    NoRoute {
        /// Of IPv6, else of IPv4.
        ipv6: bool,
    },
    /// Broadcast from another switch follows the spanning tree.
    FabricBroadcast,
    /// One direction of a stream takes a path of its own.
    Stream {
        /// Which stream.
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
    /// Packets of a labelled path that come, on a bypass, from where they are to go are sent back.
    Hairpin {
        /// The path.
        label: Label,
        /// Where it goes on.
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
        /// Where it goes on.
        port: PortNo,
    },
    /// The end of a bypass, from where packets go on as their label says.
    BypassEnd {
        /// The bypass.
        label: Label,
    },
    /// Hands packets to an attached host.
    Deliver {
        /// Its IP address.
        dst: IpAddr,
        /// Its Ethernet address.
        mac: MacAddr,
        /// Its port.
        port: PortNo,
    },
    /// What comes of a stream by several paths is put in order before its host has it.
    Ordered {
        /// Which stream.
        id: StreamId,
        /// Whether `tuple` is the direction of the answering host.
        reverse: bool,
        /// The packets' addresses and ports.
        tuple: FiveTuple,
        /// What puts them in order and hands them over.
        group: EdgeGroup,
    },
    /// As [`Rule::Deliver`], for ARP.
    ArpDeliver {
        /// Its IP address.
        dst: Ipv4Addr,
        /// Its Ethernet address.
        mac: MacAddr,
        /// Its port.
        port: PortNo,
    },
}

/// What every switch has, whatever is attached to it.
pub const BASE: [Rule; 13] = [
    Rule::Lldp,
    Rule::FromController,
    Rule::Arp,
    Rule::NeighbourSolicitation,
    Rule::NeighbourAdvertisement,
    Rule::Syn { ipv6: false },
    Rule::Syn { ipv6: true },
    Rule::NoStream,
    Rule::Broadcast,
    Rule::NoRoute { ipv6: false },
    Rule::NoRoute { ipv6: true },
    Rule::NoArpRoute,
    Rule::FabricBroadcast,
];

impl Rule {
    /// Where the rule stands.
    pub const fn table(&self) -> Table {
        match self {
            Self::Metered { class, .. } => class.base().table(),
            Self::Lldp
            | Self::FromController
            | Self::Neighbour { .. }
            | Self::Expected { .. }
            | Self::Ending { .. }
            | Self::SourceFilter { .. }
            | Self::FromLink { .. }
            | Self::FromBypass { .. }
            | Self::FromHost { .. }
            | Self::Arp
            | Self::NeighbourSolicitation
            | Self::NeighbourAdvertisement
            | Self::Syn { .. }
            | Self::SynAck { .. }
            | Self::Reset { .. } => Table::Admit,
            Self::NoStream | Self::Stream { .. } => Table::Stream,
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
            Self::Deliver { .. } | Self::Ordered { .. } | Self::ArpDeliver { .. } => Table::Deliver,
        }
    }

    /// Its rank among the rules of its table.
    pub const fn priority(&self) -> u16 {
        match self {
            Self::Metered { class, .. } => class.base().priority() + 1,
            Self::Neighbour { traffic, .. } => traffic.base().priority() + 2,
            Self::Lldp => 100,
            Self::FromController => 90,
            Self::FromBypass { .. } => 85,
            Self::FromLink { .. } => 80,
            Self::SourceFilter { .. } => 55,
            Self::Ending { .. } => 54,
            Self::Expected { .. } => 53,
            Self::Arp | Self::NeighbourSolicitation | Self::NeighbourAdvertisement => 60,
            Self::Broadcast | Self::FabricBroadcast => 60,
            Self::Hairpin { .. } | Self::Ordered { .. } => 55,
            Self::Syn { .. } | Self::SynAck { .. } => 50,
            Self::Reset { .. } => 49,
            Self::Stream { .. } | Self::Route { .. } | Self::LocalRoute { .. } => 50,
            Self::ArpRoute { .. } | Self::ArpLocalRoute { .. } | Self::ArpDeliver { .. } => 50,
            Self::Transit(hop) if hop.is_from_one_port_of_group() => 52,
            Self::Transit(_) | Self::Egress { .. } | Self::Deliver { .. } => 50,
            Self::Bypass { .. } | Self::BypassEnd { .. } => 50,
            Self::FromHost { .. } => 10,
            Self::NoStream | Self::NoRoute { .. } | Self::NoArpRoute => 0,
        }
    }

    /// Whether it is one of a labelled path, or of a bypass from one.
    pub const fn is_of_path(&self) -> bool {
        matches!(
            self,
            Self::Transit(_)
                | Self::Hairpin { .. }
                | Self::Ordered { .. }
                | Self::Egress { .. }
                | Self::Bypass { .. }
                | Self::BypassEnd { .. }
        )
    }

    /// What its cookie says.
    pub const fn purpose(&self) -> Purpose {
        match *self {
            Self::Stream { id, reverse, .. } => Purpose::Stream { id, reverse },
            Self::Ordered { id, reverse, .. } => Purpose::Order { id, reverse },
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

    /// The rule that does for ARP what this one does for IPv4. Wherever the one is, the other is too.
    pub const fn twin(&self) -> Option<Self> {
        match *self {
            Self::Route { dst: IpAddr::V4(dst), hop } => Some(Self::ArpRoute { dst, hop }),
            Self::LocalRoute { dst: IpAddr::V4(dst) } => Some(Self::ArpLocalRoute { dst }),
            Self::Deliver { dst: IpAddr::V4(dst), mac, port } => Some(Self::ArpDeliver { dst, mac, port }),
            _ => None,
        }
    }

    /// Equal for two rules of which a switch can have one only, as they have the same match.
    pub const fn slot(&self) -> Slot {
        Slot(match *self {
            Self::Stream { tuple, .. } => {
                Self::Stream { id: StreamId(0), reverse: false, tuple, hop: Hop::NOWHERE }
            }
            Self::Route { dst, .. } | Self::LocalRoute { dst } => Self::LocalRoute { dst },
            Self::ArpRoute { dst, .. } | Self::ArpLocalRoute { dst } => Self::ArpLocalRoute { dst },
            Self::ArpDeliver { dst, .. } => Self::ArpDeliver { dst, mac: MacAddr::ZERO, port: PortNo(0) },
            Self::Transit(hop) if hop.is_from_one_port_of_group() => {
                Self::Transit(Hop { port: PortNo(0), ..hop })
            }
            Self::Transit(Hop { label, .. }) | Self::Egress { label } => Self::Egress { label },
            Self::Bypass { label, .. } | Self::BypassEnd { label } => Self::BypassEnd { label },
            Self::Ordered { tuple, .. } => {
                let (id, reverse, group) = (StreamId(0), false, EdgeGroup::after(None));
                Self::Ordered { id, reverse, tuple, group }
            }
            Self::Deliver { dst, .. } => Self::Deliver { dst, mac: MacAddr::ZERO, port: PortNo(0) },
            other => other,
        })
    }
}

/// The table and the match of a rule: see [`Rule::slot`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot(Rule);

impl Rule {
    /// The port that a protected port must be there for, and where the packets come in.
    pub(crate) const fn protected(&self) -> Option<(PortNo, PortNo)> {
        match *self {
            Self::Stream { hop, .. } | Self::Route { hop, .. } | Self::Transit(hop) => match hop.exit {
                Exit::Protected { from } => Some((hop.port, from)),
                Exit::Plain | Exit::Sprayed { .. } => None,
            },
            _ => None,
        }
    }
}
