//! Fragmentation of IPv4 packets that are too big and whose senders allow it. RFC 791 §3.2.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

use crate::packets::key::{self, Key, Layout};
use crate::packets::numbers::IPV4;
use crate::packets::{Packet, fold, put_ipv4_checksum, sum, u16_at};

const DONT_FRAGMENT: u16 = 0x4000;
const MORE: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;
/// The unit of fragment offsets, in bytes.
const UNIT: usize = 8;
const HEADER: usize = 20;
/// The least MTU of a link: RFC 791 §3.2.
const LEAST: usize = 68;
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
/// The flag of an option's kind that every fragment copies.
const COPIED: u8 = 0x80;

/// The fragments of a packet, or of a GSO packet's parts, each with at most `mtu` bytes from its IP header on. `None`
/// if it must not or cannot be fragmented. Corrupted packets are not, as their fragments would look valid.
pub(crate) fn fragments(packet: &Packet, key: &Key, layout: &Layout, mtu: usize) -> Option<Vec<Packet>> {
    let network = layout.network.filter(|_| key.get(key::ETH_TYPE) == IPV4)?;
    if mtu < LEAST || u16_at(&packet.data, network + 6)? & DONT_FRAGMENT != 0 {
        return None;
    }
    let mut all = Vec::new();
    for part in packet.cut()? {
        all.extend(of_one(&part.data, network, mtu)?);
    }
    Some(all).filter(|all| !all.is_empty())
}

fn of_one(data: &[u8], network: usize, mtu: usize) -> Option<Vec<Packet>> {
    let length = usize::from(data.get(network)? & 0xf) * 4;
    let total = usize::from(u16_at(data, network + 2)?);
    let (headers, rest) = data.split_at_checked(network + length)?;
    let payload = rest.get(..total.checked_sub(length)?)?;
    let most = Some(mtu.checked_sub(length)? / UNIT * UNIT).filter(|it| *it > 0)?;
    let is_whole = fold(sum(headers.get(network..)?)) == 0xffff;
    let place = u16_at(headers, network + 6).filter(|_| is_whole)?;
    let count = payload.len().div_ceil(most);
    let parts = payload.chunks(most).enumerate();
    let part = |(number, payload): (usize, &[u8])| {
        let offset = usize::from(place & OFFSET) + number * most / UNIT;
        let offset = u16::try_from(offset).ok().filter(|it| *it <= OFFSET)?;
        let more = if number + 1 < count { MORE } else { place & MORE };
        fragment(headers, network, payload, more | offset)
    };
    parts.map(part).collect()
}

fn fragment(headers: &[u8], network: usize, payload: &[u8], place: u16) -> Option<Packet> {
    let mut data = [headers, payload].concat();
    let total = u16::try_from(data.len() - network).ok()?;
    let header = data.get_mut(network..headers.len())?;
    header.get_mut(2..4)?.copy_from_slice(&total.to_be_bytes());
    header.get_mut(6..8)?.copy_from_slice(&place.to_be_bytes());
    if place & OFFSET != 0 {
        forget_options(header.get_mut(HEADER..)?);
    }
    put_ipv4_checksum(header)?;
    Some(Packet::complete(data))
}

/// Keeps only the options that every fragment has; the length of the header does not change.
fn forget_options(mut options: &mut [u8]) {
    while let [kind, rest @ ..] = options {
        let length = match *kind {
            END => return,
            NO_OPERATION => 1,
            _ => usize::from(rest.first().copied().unwrap_or_default()).max(2),
        };
        let Some((option, rest)) = std::mem::take(&mut options).split_at_mut_checked(length) else { return };
        if option.first().is_some_and(|kind| kind & COPIED == 0) {
            option.fill(NO_OPERATION);
        }
        options = rest;
    }
}
