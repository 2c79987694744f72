//! Neighbour discovery messages as whole Ethernet frames. RFC 4861 §4.

use std::net::Ipv6Addr;

use braid_types::MacAddr;
use etherparse::checksum::Sum16BitWords;
use etherparse::{EtherType, Ethernet2Header, IpNumber, Ipv6Header};

use super::{
    ADVERTISEMENT, Endpoint, HOP_LIMIT, NdMessage, NeighborAdvertisement, OVERRIDE, ROUTER, SOLICITATION,
    SOLICITED, SOURCE_LINK_LAYER_ADDRESS, TARGET_LINK_LAYER_ADDRESS,
};

/// Checksum included. Always longer than the shortest Ethernet frame.
pub(super) fn frame(message: &NdMessage, from: Endpoint, to: Endpoint) -> Vec<u8> {
    let body = match message {
        NdMessage::Solicitation(message) => {
            let option = option(SOURCE_LINK_LAYER_ADDRESS, message.source_mac);
            icmp(SOLICITATION, 0, message.target, &option)
        }
        NdMessage::Advertisement(message) => {
            let option = option(TARGET_LINK_LAYER_ADDRESS, message.target_mac);
            icmp(ADVERTISEMENT, flags(message), message.target, &option)
        }
    };
    let ethernet = Ethernet2Header {
        source: from.mac.octets(),
        destination: to.mac.octets(),
        ether_type: EtherType::IPV6,
    };
    let mut frame = ethernet.to_bytes().to_vec();
    frame.extend(ip_header(body.len(), from.ip, to.ip).to_bytes());
    frame.extend(with_checksum(body, from.ip, to.ip));
    frame
}

fn flags(message: &NeighborAdvertisement) -> u8 {
    let flag = |set, bit| if set { bit } else { 0 };
    flag(message.router, ROUTER) | flag(message.solicited, SOLICITED) | flag(message.overrides, OVERRIDE)
}

fn option(kind: u8, mac: Option<MacAddr>) -> Vec<u8> {
    let bytes = |mac: MacAddr| [&[kind, 1], mac.octets().as_slice()].concat();
    mac.map(bytes).unwrap_or_default()
}

fn icmp(kind: u8, flags: u8, target: Ipv6Addr, option: &[u8]) -> Vec<u8> {
    [&[kind, 0, 0, 0, flags, 0, 0, 0], target.octets().as_slice(), option].concat()
}

fn ip_header(payload: usize, src: Ipv6Addr, dst: Ipv6Addr) -> Ipv6Header {
    Ipv6Header {
        payload_length: u16::try_from(payload).unwrap_or(u16::MAX),
        next_header: IpNumber::IPV6_ICMP,
        hop_limit: HOP_LIMIT,
        source: src.octets(),
        destination: dst.octets(),
        ..Ipv6Header::default()
    }
}

fn with_checksum(mut icmp: Vec<u8>, src: Ipv6Addr, dst: Ipv6Addr) -> Vec<u8> {
    let len = u32::try_from(icmp.len()).unwrap_or(u32::MAX);
    let sum = Sum16BitWords::new()
        .add_16bytes(src.octets())
        .add_16bytes(dst.octets())
        .add_4bytes(len.to_be_bytes())
        .add_2bytes([0, IpNumber::IPV6_ICMP.0])
        .add_slice(&icmp);
    if let Some(field) = icmp.get_mut(2..4) {
        // The sum is over words in memory order, and so is its result.
        field.copy_from_slice(&sum.ones_complement().to_ne_bytes());
    }
    icmp
}
