//! Segmentation of GSO packets of TCP and UDP.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

use crate::packets::key::{self, Key, Layout};
use crate::packets::{GSO_ECN, GSO_TCPV4, GSO_TCPV6, GSO_UDP, Offload, Packet, fold, put_ipv4_checksum, sum};

const TCP: u64 = 6;
const TCP_CHECKSUM: u16 = 16;
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;
const UDP: u64 = 17;
const UDP_CHECKSUM: u16 = 6;
const UDP_HEADER: usize = 8;

/// The positions of the headers that every part has.
#[derive(Clone, Copy)]
struct Headers {
    network: usize,
    transport: usize,
}

/// The place of a segment among those of its GSO packet.
#[derive(Clone, Copy)]
struct Place {
    number: u16,
    is_last: bool,
    /// The bytes of payload before it.
    before: u32,
}

/// The datagrams of a GSO packet, with pending checksums; `None` if it is not a GSO packet of UDP.
pub(crate) fn cut_datagrams(packet: &Packet, key: &Key, layout: &Layout) -> Option<Vec<Packet>> {
    let Offload { gso_type, gso_size, .. } = packet.offload;
    if gso_type != GSO_UDP || gso_size == 0 || key.get(key::IP_PROTO) != UDP {
        return None;
    }
    let places = Headers { network: layout.network?, transport: layout.transport? };
    let (headers, rest) = packet.data.split_at_checked(places.transport + UDP_HEADER)?;
    let payload = rest.get(..layout.end.checked_sub(headers.len())?)?;
    let parts = payload.chunks(gso_size.into()).zip(0..);
    parts.map(|(payload, number)| datagram(headers, payload, number, places)).collect()
}

/// The segments of a GSO packet of TCP, with pending checksums; `None` if it is not one. As Linux does:
/// `tcp_gso_segment`.
pub(crate) fn cut_segments(packet: &Packet, key: &Key, layout: &Layout) -> Option<Vec<Packet>> {
    let Offload { gso_type, gso_size, .. } = packet.offload;
    let is_tcp = [GSO_TCPV4, GSO_TCPV6].contains(&(gso_type & !GSO_ECN)) && key.get(key::IP_PROTO) == TCP;
    if !is_tcp || gso_size == 0 {
        return None;
    }
    let places = Headers { network: layout.network?, transport: layout.transport? };
    let offset = usize::from(packet.data.get(places.transport + 12)? >> 4) * 4;
    let (headers, rest) = packet.data.split_at_checked(places.transport + offset.max(20))?;
    let payload = rest.get(..layout.end.checked_sub(headers.len())?)?;
    let count = u16::try_from(payload.len().div_ceil(gso_size.into())).ok()?;
    let parts = payload.chunks(gso_size.into()).zip(0..);
    let part = |(payload, number): (&[u8], u16)| {
        let before = u32::from(number) * u32::from(gso_size);
        let place = Place { number, is_last: number + 1 == count, before };
        segment(headers, payload, place, places)
    };
    parts.map(part).collect()
}

fn segment(headers: &[u8], payload: &[u8], place: Place, places: Headers) -> Option<Packet> {
    let Place { number, is_last, before } = place;
    let (mut data, transport) = ([headers, payload].concat(), places.transport);
    let seq = u32::from_be_bytes(data.get(transport + 4..transport + 8)?.try_into().ok()?);
    data.get_mut(transport + 4..transport + 8)?.copy_from_slice(&seq.wrapping_add(before).to_be_bytes());
    let flags = data.get_mut(transport + 13)?;
    if !is_last {
        *flags &= !FIN_PSH;
    }
    if number > 0 {
        *flags &= !CWR;
    }
    part(data, number, places, TCP, TCP_CHECKSUM)
}

fn datagram(headers: &[u8], payload: &[u8], number: u16, places: Headers) -> Option<Packet> {
    let mut data = [headers, payload].concat();
    let length = u16::try_from(UDP_HEADER + payload.len()).ok()?;
    put(&mut data, places.transport + 4, length)?;
    part(data, number, places, UDP, UDP_CHECKSUM)
}

/// The common part of all parts: the lengths and numbers of IP, and the sum over the addresses in the checksum's
/// position.
fn part(mut data: Vec<u8>, number: u16, places: Headers, proto: u64, csum_offset: u16) -> Option<Packet> {
    let Headers { network, transport } = places;
    let is_v4 = data.get(network)? >> 4 == 4;
    let length = u16::try_from(data.len() - transport).ok()?;
    if is_v4 {
        let total = u16::try_from(data.len() - network).ok()?;
        put(&mut data, network + 2, total)?;
        let id = u16::from_be_bytes(data.get(network + 4..network + 6)?.try_into().ok()?);
        put(&mut data, network + 4, id.wrapping_add(number))?;
        put_ipv4_checksum(data.get_mut(network..transport)?)?;
    } else {
        let length = u16::try_from(data.len() - network - 40).ok()?;
        put(&mut data, network + 4, length)?;
    }
    let addresses = data.get(network + if is_v4 { 12 } else { 8 }..)?.get(..if is_v4 { 8 } else { 32 })?;
    let pseudo = fold(sum(addresses) + proto + u64::from(length));
    put(&mut data, transport + usize::from(csum_offset), pseudo)?;
    let csum_start = u16::try_from(transport).ok()?;
    let offload = Offload { needs_checksum: true, csum_start, csum_offset, ..Offload::default() };
    Some(Packet { data, offload })
}

fn put(data: &mut [u8], at: usize, value: u16) -> Option<()> {
    data.get_mut(at..at + 2)?.copy_from_slice(&value.to_be_bytes());
    Some(())
}
