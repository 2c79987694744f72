//! The ends of a tunnel.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The outer addresses of encapsulated packets on one path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The sending edge's address.
    pub src: IpAddr,
    /// The receiving edge's address, of the same family.
    pub dst: IpAddr,
}

impl Ends {
    /// Stand for any ends, of either family: unspecified addresses, which no packet has.
    pub const ANY: [Self; 2] = [
        Self { src: IpAddr::V4(Ipv4Addr::UNSPECIFIED), dst: IpAddr::V4(Ipv4Addr::UNSPECIFIED) },
        Self { src: IpAddr::V6(Ipv6Addr::UNSPECIFIED), dst: IpAddr::V6(Ipv6Addr::UNSPECIFIED) },
    ];

    /// Whether they stand for any ends of their family.
    #[must_use]
    pub fn is_any(&self) -> bool {
        Self::ANY.contains(self)
    }

    /// Whether packets between `outer` are between these.
    #[must_use]
    pub fn includes(&self, outer: Self) -> bool {
        *self == outer || self.is_any() && self.src.is_ipv4() == outer.src.is_ipv4()
    }
}
