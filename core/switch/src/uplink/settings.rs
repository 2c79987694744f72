//! Settings of uplinks and tunnels: addresses, and why they are refused.

use std::collections::BTreeSet;
use std::net::IpAddr;

use braid_types::PortNo;
use ipnet::IpNet;

use braid_edge_protocol::Ends;

/// What an uplink's interface is known by.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UplinkSettings {
    /// Of both families, as many as there are.
    pub addresses: Vec<UplinkAddress>,
}

/// An address of an uplink, in its subnet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UplinkAddress {
    own: IpNet,
    gateway: Option<IpAddr>,
}

/// A tunnel to another edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TunnelSettings {
    /// The port of the switch that it is.
    pub port: PortNo,
    /// An address of an uplink, and the other edge's.
    pub ends: Ends,
    /// Whether TCP crosses it with its addresses instead of in GRE, if the other end does the same.
    pub rewrites: bool,
}

/// Why uplinks cannot be as they are said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UplinkError {
    /// An address is there twice.
    #[error("two uplinks have the address {0}")]
    SameAddress(IpAddr),
    /// A gateway is of another family, or not in its address's subnet.
    #[error("{1} is not next to {0}, so that it cannot be its gateway")]
    Gateway(IpAddr, IpAddr),
    /// No uplink has the address from which a tunnel goes.
    #[error("no uplink has the address {0}, from which a tunnel is to go")]
    NotOurs(IpAddr),
    /// A tunnel's other end is elsewhere and there is no gateway, or it is of another family.
    #[error("there is no gateway by which {0} reaches {1}")]
    NoWay(IpAddr, IpAddr),
    /// Two tunnels have the same ends.
    #[error("two tunnels go from {0} to {1}")]
    SameEnds(IpAddr, IpAddr),
    /// Two tunnels are the same port.
    #[error("two tunnels have the port number {0}")]
    SamePort(PortNo),
}

impl UplinkAddress {
    /// The edge's own address, how many bits of it all have that are reached without a router, and who passes on what goes to
    /// others, of the same family; `None` if no address of the family has so many bits.
    pub fn new(address: IpAddr, prefix: u8, gateway: Option<IpAddr>) -> Option<Self> {
        Some(Self { own: IpNet::new(address, prefix).ok()?, gateway })
    }

    /// The edge's own.
    pub fn address(&self) -> IpAddr {
        self.own.addr()
    }

    /// Who passes on what goes to others.
    pub const fn gateway(&self) -> Option<IpAddr> {
        self.gateway
    }

    /// Who gets what goes to `to`: `to` itself in the same subnet, else the gateway.
    pub(super) fn next_hop(&self, to: IpAddr) -> Option<IpAddr> {
        if self.is_near(to) {
            Some(to)
        } else {
            self.gateway.filter(|_| to.is_ipv4() == self.address().is_ipv4())
        }
    }

    /// Whether `other` is in the same subnet.
    pub(super) fn is_near(&self, other: IpAddr) -> bool {
        self.own.contains(&other)
    }
}

/// Routers speak IPv6 from addresses that are in no subnet of theirs. RFC 4861 §4.2.
fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(it) if it.segments()[0] & 0xffc0 == 0xfe80)
}

pub(super) fn check_addresses(uplinks: &[UplinkSettings]) -> Result<(), UplinkError> {
    let mut seen = BTreeSet::new();
    for own in uplinks.iter().flat_map(|uplink| &uplink.addresses) {
        if !seen.insert(own.address()) {
            return Err(UplinkError::SameAddress(own.address()));
        }
        let strange = |gateway: &IpAddr| {
            let near = own.is_near(*gateway) || is_link_local(*gateway) && own.address().is_ipv6();
            !near || *gateway == own.address()
        };
        if let Some(gateway) = own.gateway.filter(strange) {
            return Err(UplinkError::Gateway(own.address(), gateway));
        }
    }
    Ok(())
}
