//! Segmentation of GSO packets of TCP and UDP into packets with all their checksums.

use crate::checksum::{complete, fold, put_ipv4_checksum, put_u16, sum, u16_at};
use crate::packet::{GSO_ECN, GSO_TCPV4, GSO_TCPV6, GSO_UDP, Offload, Packet, UDP_CHECKSUM};
use crate::start::Start;

const TCP: u8 = 6;
const TCP_CHECKSUM: usize = 16;
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
/// Extension headers of IPv6 that a packet may have before its transport header. RFC 8200, 4.1.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const DESTINATION: u8 = 60;

/// The packets that a card would make of one that the kernel has left to it, one after the other. As Linux does:
/// `tcp_gso_segment`, `__udp_gso_segment`.
///
/// ```
/// use braid_offload::{Offload, Segments, Start};
///
/// let mut segments = Segments::new(&[1, 2, 3], Offload::default(), Start::Ip).unwrap();
/// let mut buffer = Vec::new();
/// assert!(segments.write_next(&mut buffer) && buffer == [1, 2, 3]);
/// assert!(!segments.write_next(&mut buffer));
/// ```
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    kind: Kind,
    headers: &'a [u8],
    /// What is left of the payload.
    rest: &'a [u8],
    number: u16,
    is_done: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// No GSO packet: the positions of what its checksum covers, and of the checksum.
    Whole(Option<(usize, usize)>),
    Gso(Layout),
}

/// How the packets of a GSO packet look.
#[derive(Clone, Copy, Debug)]
struct Layout {
    network: usize,
    transport: usize,
    is_v4: bool,
    is_tcp: bool,
    /// The payload of each packet but the last.
    size: usize,
}

impl<'a> Segments<'a> {
    /// Those of a packet; `None` if it is of a kind that is not known, or broken.
    pub fn new(data: &'a [u8], offload: Offload, start: Start) -> Option<Self> {
        if offload.gso_type == 0 {
            let covered = usize::from(offload.csum_start);
            let checksum = (covered, covered + usize::from(offload.csum_offset));
            let kind = Kind::Whole(offload.needs_checksum.then_some(checksum));
            return Some(Self { kind, headers: data, rest: &[], number: 0, is_done: false });
        }
        let layout = Layout::of(data, offload, start)?;
        let (headers, rest) = data.split_at_checked(layout.headers(data)?)?;
        Some(Self { kind: Kind::Gso(layout), headers, rest, number: 0, is_done: rest.is_empty() })
    }

    /// Puts the next packet into `buffer`, in the place of what was there; whether there was one.
    pub fn write_next(&mut self, buffer: &mut Vec<u8>) -> bool {
        if self.is_done {
            return false;
        }
        buffer.clear();
        buffer.extend_from_slice(self.headers);
        let written = match self.kind {
            Kind::Whole(checksum) => {
                self.is_done = true;
                checksum.map_or(Some(()), |(covered, place)| complete(buffer, covered, place))
            }
            Kind::Gso(layout) => self.write_segment(layout, buffer),
        };
        self.is_done |= written.is_none();
        written.is_some()
    }

    fn write_segment(&mut self, layout: Layout, buffer: &mut Vec<u8>) -> Option<()> {
        let (payload, rest) = self.rest.split_at(layout.size.min(self.rest.len()));
        buffer.extend_from_slice(payload);
        layout.set_lengths(buffer, self.number)?;
        if layout.is_tcp {
            layout.set_sequence(buffer, self.number, rest.is_empty())?;
        }
        layout.set_checksum(buffer)?;
        (self.rest, self.number, self.is_done) = (rest, self.number.checked_add(1)?, rest.is_empty());
        Some(())
    }
}

impl Packet {
    /// The frames that a card would make of it, with all their checksums; `None` if it is of a kind that is not known,
    /// or broken.
    pub fn cut(&self) -> Option<Vec<Self>> {
        let mut segments = Segments::new(&self.data, self.offload, Start::Ethernet)?;
        let mut frames = Vec::new();
        let mut data = Vec::new();
        while segments.write_next(&mut data) {
            frames.push(Self::complete(std::mem::take(&mut data)));
        }
        (segments.rest.is_empty() && !frames.is_empty()).then_some(frames)
    }
}

impl Layout {
    fn of(data: &[u8], offload: Offload, start: Start) -> Option<Self> {
        let Offload { gso_type, gso_size, csum_start, needs_checksum, .. } = offload;
        let (network, is_v4) = start.network_behind_tags(data)?;
        let is_tcp = match gso_type & !GSO_ECN {
            GSO_TCPV4 if is_v4 => true,
            GSO_TCPV6 if !is_v4 => true,
            GSO_UDP => false,
            _ => return None,
        };
        // What is inside of a tunnel, to which the checksum may belong, is not cut.
        let transport = transport_of(data, network, is_v4, if is_tcp { TCP } else { UDP })?;
        let is_outermost = !needs_checksum || transport == usize::from(csum_start);
        let layout = Self { network, transport, is_v4, is_tcp, size: gso_size.into() };
        (is_outermost && gso_size > 0).then_some(layout)
    }

    /// The length of the headers. What the kernel says of it may be longer: by a segment, if a card has made the packet.
    fn headers(&self, data: &[u8]) -> Option<usize> {
        let length =
            if self.is_tcp { usize::from(data.get(self.transport + 12)? >> 4) * 4 } else { UDP_HEADER };
        (!self.is_tcp || length >= 20).then_some(self.transport + length)
    }

    fn set_lengths(&self, data: &mut [u8], number: u16) -> Option<()> {
        let (network, whole) = (self.network, data.len() - self.network);
        if self.is_v4 {
            put_u16(data, network + 2, u16::try_from(whole).ok()?)?;
            let id = u16_at(data, network + 4)?;
            put_u16(data, network + 4, id.wrapping_add(number))?;
            put_ipv4_checksum(data.get_mut(network..self.transport)?)?;
        } else {
            put_u16(data, network + 4, u16::try_from(whole - 40).ok()?)?;
        }
        let length = u16::try_from(data.len() - self.transport).ok()?;
        if self.is_tcp { Some(()) } else { put_u16(data, self.transport + 4, length) }
    }

    fn set_sequence(&self, data: &mut [u8], number: u16, is_last: bool) -> Option<()> {
        let place = data.get_mut(self.transport + 4..)?.first_chunk_mut()?;
        let before = u32::from(number) * self.size as u32;
        *place = u32::from_be_bytes(*place).wrapping_add(before).to_be_bytes();
        let flags = data.get_mut(self.transport + 13)?;
        *flags &= if is_last { 0xff } else { !FIN_PSH };
        *flags &= if number == 0 { 0xff } else { !CWR };
        Some(())
    }

    fn set_checksum(&self, data: &mut [u8]) -> Option<()> {
        let (protocol, place) = if self.is_tcp { (TCP, TCP_CHECKSUM) } else { (UDP, UDP_CHECKSUM) };
        let addresses = if self.is_v4 { 12..20 } else { 8..40 };
        let addresses = sum(data.get(self.network..)?.get(addresses)?);
        let length = (data.len() - self.transport) as u64;
        put_u16(data, self.transport + place, fold(addresses + u64::from(protocol) + length))?;
        complete(data, self.transport, self.transport + place)
    }
}

/// The position of the header of this protocol, if it is what the IP header at `network` carries.
fn transport_of(data: &[u8], network: usize, is_v4: bool, protocol: u8) -> Option<usize> {
    if is_v4 {
        let length = usize::from(data.get(network)? & 0xf) * 4;
        return (length >= 20 && *data.get(network + 9)? == protocol).then_some(network + length);
    }
    let (mut next, mut at) = (*data.get(network + 6)?, network + 40);
    while [HOP_BY_HOP, ROUTING, DESTINATION].contains(&next) {
        let [after, length] = *data.get(at..)?.first_chunk()?;
        (next, at) = (after, at + (usize::from(length) + 1) * 8);
    }
    (next == protocol).then_some(at)
}
