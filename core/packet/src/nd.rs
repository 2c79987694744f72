//! Neighbour discovery: ARP's counterpart in IPv6. RFC 4861; detection of duplicate addresses: RFC 4862.

mod emit;
mod parse;

use std::net::Ipv6Addr;

use braid_types::MacAddr;
use serde::{Deserialize, Serialize};

/// The hop limit of every ND packet: one that has crossed a router is refused. RFC 4861 §7.1.
const HOP_LIMIT: u8 = 255;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
const SOURCE_LINK_LAYER_ADDRESS: u8 = 1;
const TARGET_LINK_LAYER_ADDRESS: u8 = 2;
const ROUTER: u8 = 0x80;
const SOLICITED: u8 = 0x40;
const OVERRIDE: u8 = 0x20;

/// ff02::1.
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// A neighbour discovery message that passed the checks of RFC 4861 §7.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum NdMessage {
    /// Asks who has an address.
    Solicitation(NeighborSolicitation),
    /// Says who has an address.
    Advertisement(NeighborAdvertisement),
}

/// Asks who has `target`. RFC 4861 §4.3.
///
/// In a packet from the unspecified address it asks whether the sender may take `target`. RFC 4862 §5.4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NeighborSolicitation {
    /// The address that is asked for.
    pub target: Ipv6Addr,
    /// The source link-layer address option: where the packet's source is found.
    pub source_mac: Option<MacAddr>,
}

/// Says who has `target`. RFC 4861 §4.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NeighborAdvertisement {
    /// The advertised address.
    pub target: Ipv6Addr,
    /// The target link-layer address option: where `target` is found.
    pub target_mac: Option<MacAddr>,
    /// The target is a router. A host that learns otherwise removes it from its routers.
    pub router: bool,
    /// Answers a solicitation.
    pub solicited: bool,
    /// Replaces what the receiver knew.
    pub overrides: bool,
}

/// Where a packet comes from or goes to, at both layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The Ethernet address.
    pub mac: MacAddr,
    /// The IPv6 address.
    pub ip: Ipv6Addr,
}

impl Endpoint {
    /// The multicast group at `ip`, at the Ethernet address that belongs to it. RFC 2464 §7.
    pub const fn group(ip: Ipv6Addr) -> Self {
        let [.., a, b, c, d] = ip.octets();
        Self { mac: MacAddr::new([0x33, 0x33, a, b, c, d]), ip }
    }

    /// The group that listens for solicitations of `target`. RFC 4291 §2.7.1.
    pub const fn solicited_node(target: Ipv6Addr) -> Self {
        let [.., a, b, c] = target.octets();
        let low = u16::from_be_bytes([b, c]);
        Self::group(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | a as u16, low))
    }
}

impl NeighborSolicitation {
    /// The question in a frame to all that may have the answer. From the unspecified address it probes for a
    /// duplicate, and `source_mac` must be `None`.
    pub fn frame(&self, from: Endpoint) -> Vec<u8> {
        self.frame_to(from, Endpoint::solicited_node(self.target))
    }

    /// The question in a frame to `to`: asks a known host whether it is still there.
    pub fn frame_to(&self, from: Endpoint, to: Endpoint) -> Vec<u8> {
        emit::frame(&NdMessage::Solicitation(*self), from, to)
    }

    /// The advertisement to `asker` that `mac` has the target; `router` if that is a router.
    ///
    /// An asker at the unspecified address probes for a duplicate: the advertisement goes to all nodes.
    pub fn answer(&self, asker: Endpoint, mac: MacAddr, router: bool) -> Vec<u8> {
        let solicited = !asker.ip.is_unspecified();
        let to = if solicited { asker } else { Endpoint::group(ALL_NODES) };
        let advertisement = NeighborAdvertisement {
            target: self.target,
            target_mac: Some(mac),
            router,
            solicited,
            overrides: true,
        };
        advertisement.frame(Endpoint { mac, ip: self.target }, to)
    }
}

impl NeighborAdvertisement {
    /// The answer in a frame.
    pub fn frame(&self, from: Endpoint, to: Endpoint) -> Vec<u8> {
        emit::frame(&NdMessage::Advertisement(*self), from, to)
    }
}
