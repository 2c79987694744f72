//! Neighbour discovery messages read from ICMPv6, with the checks of RFC 4861 §7.1.

use std::net::Ipv6Addr;

use braid_types::MacAddr;
use etherparse::Icmpv6Slice;

use super::{
    ADVERTISEMENT, Endpoint, HOP_LIMIT, NdMessage, NeighborAdvertisement, NeighborSolicitation, OVERRIDE,
    ROUTER, SOLICITATION, SOLICITED, SOURCE_LINK_LAYER_ADDRESS, TARGET_LINK_LAYER_ADDRESS,
};
use crate::bytes::Reader;

impl NdMessage {
    /// `None` if it is another message of ICMPv6, or one that must be discarded. RFC 4861 §7.1.
    pub(crate) fn parse(bytes: &[u8], src: Ipv6Addr, dst: Ipv6Addr, hop_limit: u8) -> Option<Self> {
        let icmp = Icmpv6Slice::from_slice(bytes).ok()?;
        let kind = icmp.type_u8();
        let plausible = hop_limit == HOP_LIMIT && icmp.code_u8() == 0;
        if !plausible || ![SOLICITATION, ADVERTISEMENT].contains(&kind) {
            return None;
        }
        let valid = icmp.is_checksum_valid(src.octets(), dst.octets());
        let body = Body::parse(icmp.bytes5to8(), icmp.payload()).filter(|_| valid)?;
        match kind {
            SOLICITATION => body.solicitation(src, dst).map(Self::Solicitation),
            _ => body.advertisement(dst).map(Self::Advertisement),
        }
    }
}

/// The common part of solicitations and advertisements.
struct Body {
    flags: u8,
    target: Ipv6Addr,
    source_mac: Option<MacAddr>,
    target_mac: Option<MacAddr>,
}

impl Body {
    fn parse([flags, ..]: [u8; 4], payload: &[u8]) -> Option<Self> {
        let mut reader = Reader(payload);
        let target = Ipv6Addr::from(reader.array::<16>()?);
        let mut body = Self { flags, target, source_mac: None, target_mac: None };
        while !reader.0.is_empty() {
            body.take_option(&mut reader)?;
        }
        (!target.is_multicast()).then_some(body)
    }

    /// `None` if the option has no length or a length of zero, which makes the whole packet invalid.
    fn take_option(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        let (kind, units) = (reader.u8()?, reader.u8()?);
        let len = usize::from(units).checked_mul(8)?.checked_sub(2)?;
        let mac = reader.bytes(len)?.first_chunk().map(|octets| MacAddr::new(*octets));
        match kind {
            SOURCE_LINK_LAYER_ADDRESS => self.source_mac = mac,
            TARGET_LINK_LAYER_ADDRESS => self.target_mac = mac,
            _ => {}
        }
        Some(())
    }

    /// From the unspecified address, only to the solicited-node group and without the sender's MAC address.
    fn solicitation(self, src: Ipv6Addr, dst: Ipv6Addr) -> Option<NeighborSolicitation> {
        let probe = dst == Endpoint::solicited_node(self.target).ip && self.source_mac.is_none();
        let solicitation = NeighborSolicitation { target: self.target, source_mac: self.source_mac };
        (probe || !src.is_unspecified()).then_some(solicitation)
    }

    /// To a group, never as an answer.
    fn advertisement(self, dst: Ipv6Addr) -> Option<NeighborAdvertisement> {
        let advertisement = NeighborAdvertisement {
            target: self.target,
            target_mac: self.target_mac,
            router: self.flags & ROUTER != 0,
            solicited: self.flags & SOLICITED != 0,
            overrides: self.flags & OVERRIDE != 0,
        };
        (!dst.is_multicast() || !advertisement.solicited).then_some(advertisement)
    }
}
