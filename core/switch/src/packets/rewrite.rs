//! Actions that change a packet. Checksums are updated by difference (RFC 1624), also partial ones for the network card.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

use crate::action::{Act, SetField};
use crate::packets::key::{self, Key, Layout};
use crate::packets::numbers::{ICMPV6, IPV4, IPV6, TCP, UDP};
use crate::packets::{Packet, fold, sum};

/// Applies `act` to a packet; `false` if its time to live is over.
///
/// Fields that the packet does not have are not written.
pub(crate) fn apply(act: &Act, packet: &mut Packet, key: &Key, layout: &Layout) -> bool {
    match act {
        Act::PushVlan(kind) => push_vlan(packet, *kind, key),
        Act::PopVlan => pop_vlan(packet, key),
        Act::DecTtl => return dec_ttl(packet, key, layout),
        Act::Set(field) => set(field, packet, key, layout),
        Act::Output { .. } | Act::Group(_) => {}
    }
    true
}

fn push_vlan(packet: &mut Packet, kind: u16, key: &Key) {
    if packet.data.len() < 14 {
        return;
    }
    // The new tag has the old one's values. OpenFlow 1.3.5 §5.12.1.
    let control = (key.get(key::VLAN_PCP) as u16) << 13 | key.get(key::VLAN_VID) as u16 & 0xfff;
    let tag = kind.to_be_bytes().into_iter().chain(control.to_be_bytes());
    packet.data.splice(12..12, tag);
    packet.offload.shift(4);
}

fn pop_vlan(packet: &mut Packet, key: &Key) {
    if key.get(key::VLAN_VID) != 0 && packet.data.len() >= 18 {
        packet.data.drain(12..16);
        packet.offload.shift(-4);
    }
}

fn dec_ttl(packet: &mut Packet, key: &Key, layout: &Layout) -> bool {
    let Some(network) = layout.network else { return true };
    let at = network + if key.get(key::ETH_TYPE) == IPV4 { 8 } else { 7 };
    let Some(ttl) = packet.data.get(at).copied().filter(|ttl| *ttl > 1) else { return false };
    set_ttl(packet, key, layout, ttl - 1);
    true
}

/// Sets the time to live, or hop limit.
pub(crate) fn set_ttl(packet: &mut Packet, key: &Key, layout: &Layout, ttl: u8) {
    let Some(network) = layout.network else { return };
    let is_v4 = key.get(key::ETH_TYPE) == IPV4;
    let at = network + if is_v4 { 8 } else { 7 };
    match read::<2>(packet, at).filter(|_| is_v4) {
        // The header's checksum covers 16-bit words: the protocol is the other half of this one.
        Some([_, protocol]) => write(packet, at, &[ttl, protocol], &[network + 10], None),
        None => plain(packet, at, &[ttl]),
    }
}

fn set(field: &SetField, packet: &mut Packet, key: &Key, layout: &Layout) {
    match field {
        SetField::EthDst(mac) => plain(packet, 0, &mac.octets()),
        SetField::EthSrc(mac) => plain(packet, 6, &mac.octets()),
        SetField::VlanVid(vid) if key.get(key::VLAN_VID) != 0 => control(packet, 0xfff, *vid),
        SetField::VlanPcp(pcp) if key.get(key::VLAN_VID) != 0 => {
            control(packet, 0xe000, u16::from(*pcp) << 13);
        }
        SetField::Ipv4Src(address) => network(packet, key, layout, Field(IPV4, 12), &address.octets()),
        SetField::Ipv4Dst(address) => network(packet, key, layout, Field(IPV4, 16), &address.octets()),
        SetField::Ipv6Src(address) => network(packet, key, layout, Field(IPV6, 8), &address.octets()),
        SetField::Ipv6Dst(address) => network(packet, key, layout, Field(IPV6, 24), &address.octets()),
        SetField::TcpSrc(port) => transport(packet, key, layout, Field(TCP, 0), *port),
        SetField::TcpDst(port) => transport(packet, key, layout, Field(TCP, 2), *port),
        SetField::UdpSrc(port) => transport(packet, key, layout, Field(UDP, 0), *port),
        SetField::UdpDst(port) => transport(packet, key, layout, Field(UDP, 2), *port),
        SetField::VlanVid(_) | SetField::VlanPcp(_) => {}
    }
}

/// A field of a header: the header's EtherType or protocol, and the position of the field.
#[derive(Clone, Copy)]
struct Field(u64, usize);

fn plain(packet: &mut Packet, at: usize, bytes: &[u8]) {
    if let Some(place) = packet.data.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

fn control(packet: &mut Packet, mask: u16, bits: u16) {
    if let Some(old) = read::<2>(packet, 14) {
        let control = u16::from_be_bytes(old) & !mask | bits & mask;
        plain(packet, 14, &control.to_be_bytes());
    }
}

fn network(packet: &mut Packet, key: &Key, layout: &Layout, field: Field, bytes: &[u8]) {
    let Field(family, offset) = field;
    let Some(network) = layout.network.filter(|_| key.get(key::ETH_TYPE) == family) else { return };
    let header: &[usize] = if family == IPV4 { &[network + 10] } else { &[] };
    write(packet, network + offset, bytes, header, checksum_place(packet, key, layout));
}

fn transport(packet: &mut Packet, key: &Key, layout: &Layout, field: Field, port: u16) {
    let Field(protocol, offset) = field;
    let Some(start) = layout.transport.filter(|_| key.get(key::IP_PROTO) == protocol) else { return };
    // A partial checksum covers the addresses only so far; the network card adds the ports.
    let place = checksum_place(packet, key, layout).filter(|_| !packet.offload.needs_checksum);
    write(packet, start + offset, &port.to_be_bytes(), &[], place);
}

/// The position of the checksum over addresses, if there is one.
fn checksum_place(packet: &Packet, key: &Key, layout: &Layout) -> Option<usize> {
    let start = layout.transport?;
    match key.get(key::IP_PROTO) {
        TCP => Some(start + 16),
        UDP => Some(start + 6).filter(|place| read::<2>(packet, *place) != Some([0, 0])),
        ICMPV6 => Some(start + 2),
        _ => None,
    }
}

/// Writes `bytes`, and adds the difference to the checksums that cover them.
fn write(packet: &mut Packet, at: usize, bytes: &[u8], header: &[usize], transport: Option<usize>) {
    let Some(place) = packet.data.get_mut(at..at + bytes.len()) else { return };
    let difference = sum(bytes) + place.as_chunks::<2>().0.iter().map(complement).sum::<u64>();
    place.copy_from_slice(bytes);
    for place in header {
        adjust(packet, *place, difference, false);
    }
    if let Some(place) = transport {
        adjust(packet, place, difference, packet.offload.needs_checksum);
    }
}

fn complement(word: &[u8; 2]) -> u64 {
    u64::from(!u16::from_be_bytes(*word))
}

/// Adds `difference` to a checksum. `bare`: the position holds the sum itself, not its complement.
pub(crate) fn adjust(packet: &mut Packet, at: usize, difference: u64, bare: bool) {
    let Some(old) = read::<2>(packet, at).map(u16::from_be_bytes) else { return };
    let new = match bare {
        true => fold(u64::from(old) + difference),
        false => !fold(u64::from(!old) + difference),
    };
    plain(packet, at, &new.to_be_bytes());
}

fn read<const N: usize>(packet: &Packet, at: usize) -> Option<[u8; N]> {
    packet.data.get(at..at + N)?.try_into().ok()
}
