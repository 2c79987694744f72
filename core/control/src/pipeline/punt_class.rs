//! Classes of host packets that switches punt to the controller.

use serde::{Deserialize, Serialize};

use super::rule::Rule;

/// Unicast ARP and ND between neighbours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeighborTraffic {
    /// ARP.
    Arp,
    /// Neighbour solicitations.
    Solicitation,
    /// Neighbour advertisements.
    Advertisement,
}

impl NeighborTraffic {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Arp, Self::Solicitation, Self::Advertisement];

    /// The rule that punts the same traffic for any destination.
    pub const fn base(self) -> Rule {
        match self {
            Self::Arp => Rule::Arp,
            Self::Solicitation => Rule::NeighborSolicitation,
            Self::Advertisement => Rule::NeighborAdvertisement,
        }
    }
}

/// A class of punted host packets; each has a rule in [`BASE`](super::BASE).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PuntClass {
    /// As [`Rule::Lldp`].
    Lldp,
    /// As [`Rule::Arp`].
    Arp,
    /// As [`Rule::NeighborSolicitation`].
    NeighborSolicitation,
    /// As [`Rule::NeighborAdvertisement`].
    NeighborAdvertisement,
    /// As [`Rule::Syn`] of IPv4.
    Syn,
    /// As [`Rule::Syn`] of IPv6.
    Syn6,
    /// As [`Rule::NoRoute`] of IPv4.
    NoRoute,
    /// As [`Rule::NoRoute`] of IPv6.
    NoRoute6,
    /// As [`Rule::NoArpRoute`].
    NoArpRoute,
}

impl PuntClass {
    /// All classes.
    pub const ALL: [Self; 9] = [
        Self::Lldp,
        Self::Arp,
        Self::NeighborSolicitation,
        Self::NeighborAdvertisement,
        Self::Syn,
        Self::Syn6,
        Self::NoRoute,
        Self::NoRoute6,
        Self::NoArpRoute,
    ];

    /// The rule that punts this class, from any port.
    pub const fn base(self) -> Rule {
        match self {
            Self::Lldp => Rule::Lldp,
            Self::Arp => Rule::Arp,
            Self::NeighborSolicitation => Rule::NeighborSolicitation,
            Self::NeighborAdvertisement => Rule::NeighborAdvertisement,
            Self::Syn => Rule::Syn { ipv6: false },
            Self::Syn6 => Rule::Syn { ipv6: true },
            Self::NoRoute => Rule::NoRoute { ipv6: false },
            Self::NoRoute6 => Rule::NoRoute { ipv6: true },
            Self::NoArpRoute => Rule::NoArpRoute,
        }
    }
}
