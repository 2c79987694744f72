//! GRE encapsulation with key and sequence number. RFC 2784, RFC 2890.

use std::net::IpAddr;

use super::{Ends, Numbered};
use crate::packets::key::{self, Key, Layout};
use crate::packets::{Packet, put_ipv4_checksum};

const PROTOCOL: u8 = 47;
/// A key and a number, no checksum, version 0.
const FLAGS: [u8; 2] = [0x30, 0];
/// Flags, protocol, key, number.
const HEADER: usize = 12;
const TTL: u8 = 64;
const DONT_FRAGMENT: [u8; 2] = [0x40, 0];
const IPV4: [u8; 2] = [0x08, 0];
const IPV6: [u8; 2] = [0x86, 0xdd];

/// How much longer it makes a packet.
pub(crate) const fn added(ends: Ends) -> usize {
    HEADER + if ends.src.is_ipv4() { 20 } else { 40 }
}

/// Puts a packet that is none of many into GRE, between `ends`; whether it is one that can be.
///
/// The tag and Ethernet addresses stay, and the class of traffic is copied. RFC 2784, RFC 2890.
pub(crate) fn encapsulate(
    packet: &mut Packet,
    layout: &Layout,
    ends: Ends,
    number: impl FnOnce() -> Numbered,
) -> bool {
    packet.finish_checksum();
    let Some(network) = layout.network.filter(|_| packet.offload.gso_type == 0) else { return false };
    let (Some(ethernet), Some(inner)) =
        (packet.data.get(..network - 2), packet.data.get(network..layout.end))
    else {
        return false;
    };
    let Some(kind) = packet.data.get(network - 2..network) else { return false };
    // Without the marks of congestion, which would be lost on the way out: routers drop instead. RFC 6040, 4.3.
    let Some(class) = class(inner).map(|class| class & !3) else { return false };
    let Ok(length) = u16::try_from(HEADER + inner.len()) else { return false };
    let Some((outer_kind, outer)) = header(ends, class, length) else { return false };
    let numbered = number();
    let gre = [&FLAGS[..], kind, &numbered.key.to_be_bytes(), &numbered.number.to_be_bytes()].concat();
    packet.data = [ethernet, &outer_kind, &outer, &gre, inner].concat();
    packet.offload = crate::Offload::default();
    true
}

/// The addresses of a packet's outermost IP header.
pub(crate) fn ends_of(packet: &Packet, layout: &Layout) -> Option<Ends> {
    let header = packet.data.get(layout.network?..)?;
    match header.first()? >> 4 {
        4 => Some(Ends { src: address::<4>(header, 12)?.into(), dst: address::<4>(header, 16)?.into() }),
        6 => Some(Ends { src: address::<16>(header, 8)?.into(), dst: address::<16>(header, 24)?.into() }),
        _ => None,
    }
}

fn address<const LENGTH: usize>(header: &[u8], start: usize) -> Option<[u8; LENGTH]> {
    header.get(start..start + LENGTH)?.try_into().ok()
}

/// Takes a packet out of GRE, if it is in there with key and number.
pub(crate) fn decapsulate(packet: &mut Packet, key: &Key, layout: &Layout) -> Option<Numbered> {
    let network = layout.network.filter(|_| key.get(key::IP_PROTO) == u64::from(PROTOCOL))?;
    let start = layout.transport?;
    let is_v4 = packet.data.get(network)? >> 4 == 4;
    let fragment = u16::from_be_bytes(packet.data.get(network + 6..network + 8)?.try_into().ok()?);
    let header = packet.data.get(start..start.checked_add(HEADER)?)?;
    let (flags, rest) = header.split_first_chunk::<2>()?;
    let (kind, rest) = rest.split_first_chunk::<2>()?;
    let (gre_key, number) = rest.split_first_chunk::<4>()?;
    if *flags != FLAGS || ![IPV4, IPV6].contains(kind) || is_v4 && fragment & 0x3fff != 0 {
        return None;
    }
    let numbered =
        Numbered { key: u32::from_be_bytes(*gre_key), number: u32::from_be_bytes(number.try_into().ok()?) };
    let inner = packet.data.get(start + HEADER..layout.end)?;
    let ethernet = packet.data.get(..network - 2)?;
    packet.data = [ethernet, kind, inner].concat();
    packet.offload = crate::Offload::default();
    Some(numbered)
}

/// The traffic class of an IP packet.
pub(crate) fn class(inner: &[u8]) -> Option<u8> {
    let [first, second, ..] = inner else { return None };
    Some(if first >> 4 == 4 { *second } else { first << 4 | second >> 4 })
}

/// The outer header, for `length` bytes behind it, and its EtherType; `None` for ends of two families.
pub(crate) fn header(ends: Ends, class: u8, length: u16) -> Option<([u8; 2], Vec<u8>)> {
    match (ends.src, ends.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let total = length.checked_add(20)?.to_be_bytes();
            let mut header = [[0x45, class], total, [0, 0], DONT_FRAGMENT, [TTL, PROTOCOL], [0, 0]].concat();
            header.extend(src.octets().into_iter().chain(dst.octets()));
            put_ipv4_checksum(&mut header)?;
            Some((IPV4, header))
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let start = [0x60 | class >> 4, class << 4, 0, 0];
            let mut header = [&start[..], &length.to_be_bytes(), &[PROTOCOL, TTL]].concat();
            header.extend(src.octets().into_iter().chain(dst.octets()));
            Some((IPV6, header))
        }
        _ => None,
    }
}
