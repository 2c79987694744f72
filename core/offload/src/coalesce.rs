//! Coalescing of successive TCP segments of one flow into a GSO packet, as a receiver's GRO does. TSO reverses it.

use crate::checksum::{fold, sum, u16_at};
use crate::packet::{GSO_TCPV4, GSO_TCPV6, Offload, Packet};
use crate::start::Start;

/// The greatest number of segments of a GSO packet.
const MAX_SEGMENTS: usize = 64;
/// The greatest number of bytes of a GSO packet after the Ethernet header.
const MAX_LENGTH: usize = 65_535;

const TCP_CHECKSUM: usize = 16;
const FIN_SYN_RST_URG_CWR: u8 = 0b1010_0111;
const ACK: u8 = 0x10;
const PSH: u8 = 0x08;

/// Packets that leave as one GSO packet: the first whole, and the payloads of the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coalesced {
    /// The number of packets; 1: the first leaves as it is.
    pub packets: usize,
    /// The length of each packet's headers.
    pub headers: usize,
}

/// The positions of a full TCP segment's headers in its frame, and the fields that change from one segment to the next.
#[derive(Clone, Copy, Debug)]
struct SegmentHeaders {
    network: usize,
    transport: usize,
    headers: usize,
    payload: usize,
    is_v4: bool,
    id: u16,
    seq: u32,
    flags: u8,
}

impl Coalesced {
    /// Coalesces the first of `packets` with as many others as possible, and sets the headers of the first for all of
    /// them.
    ///
    /// Cut at [`Offload::gso_size`], the GSO packet gives exactly the original frames. So only full segments are
    /// coalesced, and a last one that may be shorter. They may differ only as a sender's own segmentation makes them
    /// differ. Their checksums must be valid or not yet computed: corrupted packets stay corrupted.
    pub fn coalesce(packets: &mut [Packet]) -> Self {
        let is_known =
            |packet: &Packet, _: &_| packet.offload.needs_checksum || packet.offload.checksum_valid;
        Self::of(packets, Start::Ethernet, is_known)
    }

    /// As [`Self::coalesce`], for packets of whose checksums nothing is known: it computes them.
    pub fn verify_and_coalesce(packets: &mut [Packet], start: Start) -> Self {
        Self::of(packets, start, SegmentHeaders::is_intact)
    }

    fn of(packets: &mut [Packet], start: Start, is_valid: impl Fn(&Packet, &SegmentHeaders) -> bool) -> Self {
        let alone = Self { packets: 1, headers: 0 };
        let Some((first, others)) = packets.split_first_mut() else { return alone };
        let Some(lead) = SegmentHeaders::read(first, start) else { return alone };
        let (mut last, mut count, mut payload) = (lead, 1, lead.payload);
        for packet in others.iter().take(MAX_SEGMENTS - 1) {
            let Some(next) = SegmentHeaders::read(packet, start) else { break };
            let fits = lead.headers - lead.network + payload + next.payload <= MAX_LENGTH;
            if !fits || !last.is_followed_by(&next, &lead) || !lead.looks_like(&next, first, packet) {
                break;
            }
            // Of the first only now: most packets that are no segments of data are followed by nothing of theirs.
            if count == 1 && !is_valid(first, &lead) || !is_valid(packet, &next) {
                break;
            }
            (last, count, payload) = (next, count + 1, payload + next.payload);
        }
        if count > 1 {
            lead.head(first, payload, last.flags);
        }
        Self { packets: count, headers: lead.headers }
    }
}

impl SegmentHeaders {
    /// A packet's headers; `None` if it cannot be a part of a GSO packet.
    fn read(packet: &Packet, start: Start) -> Option<Self> {
        let (data, offload) = (packet.data.as_slice(), &packet.offload);
        if offload.gso_type != 0 {
            return None;
        }
        let (network, is_v4) = start.network(data)?;
        let header = data.get(network..)?;
        let (length, id, end) = if is_v4 {
            (20, u16_at(header, 4)?, usize::from(u16_at(header, 2)?))
        } else {
            (40, 0, 40 + usize::from(u16_at(header, 4)?))
        };
        let plain =
            if is_v4 { is_plain_v4(header) } else { header.first()? >> 4 == 6 && *header.get(6)? == 6 };
        let transport = network + length;
        let (offset, flags) = (*data.get(transport + 12)?, *data.get(transport + 13)?);
        let headers = transport + usize::from(offset >> 4) * 4;
        let payload = (network + end).checked_sub(headers).filter(|it| *it > 0)?;
        let is_data = flags & FIN_SYN_RST_URG_CWR == 0 && flags & ACK != 0 && offset & 0xf == 0;
        let whole = data.len() == network + end && headers >= transport + 20;
        let place = (usize::from(offload.csum_start), usize::from(offload.csum_offset));
        let checked = !offload.needs_checksum || place == (transport, TCP_CHECKSUM);
        let seq = u32::from_be_bytes(data.get(transport + 4..transport + 8)?.try_into().ok()?);
        let segment = Self { network, transport, headers, payload, is_v4, id, seq, flags };
        (plain && is_data && whole && checked).then_some(segment)
    }

    /// Whether the checksum of TCP is right.
    fn is_intact(packet: &Packet, headers: &Self) -> bool {
        let addresses = headers.network + if headers.is_v4 { 12 } else { 8 };
        let addresses = packet.data.get(addresses..headers.transport).unwrap_or_default();
        let segment = packet.data.get(headers.transport..).unwrap_or_default();
        fold(sum(addresses) + 6 + segment.len() as u64 + sum(segment)) == u16::MAX
    }

    fn is_followed_by(&self, next: &Self, lead: &Self) -> bool {
        next.seq == self.seq.wrapping_add(self.payload as u32)
            && (!self.is_v4 || next.id == self.id.wrapping_add(1))
            && self.payload == lead.payload
            && next.payload <= lead.payload
            && self.flags & PSH == 0
            && (self.flags ^ next.flags) & !PSH == 0
    }

    /// Whether the headers differ only in the fields of [`Self::is_followed_by`], lengths and checksums.
    fn looks_like(&self, other: &Self, one: &Packet, another: &Packet) -> bool {
        let same = |from: usize, to: usize| one.data.get(from..to) == another.data.get(from..to);
        let (network, transport) = (self.network, self.transport);
        let places = (self.network, self.transport, self.headers, self.is_v4);
        places == (other.network, other.transport, other.headers, other.is_v4)
            && one.offload.needs_checksum == another.offload.needs_checksum
            && same(0, network)
            && match self.is_v4 {
                true => {
                    same(network, network + 2)
                        && same(network + 6, network + 10)
                        && same(network + 12, network + 20)
                }
                false => same(network, network + 4) && same(network + 6, network + 40),
            }
            && same(transport, transport + 4)
            && same(transport + 8, transport + 13)
            && same(transport + 14, transport + 16)
            && same(transport + 18, self.headers)
    }

    /// Sets `packet`'s headers for a GSO packet with `payload`.
    fn head(&self, packet: &mut Packet, payload: usize, last_flags: u8) {
        let (network, transport) = (self.network, self.transport);
        let segment = (self.headers - transport + payload) as u32;
        let length = self.headers - network + payload - if self.is_v4 { 0 } else { 40 };
        put(packet, network + if self.is_v4 { 2 } else { 4 }, (length as u16).to_be_bytes());
        if self.is_v4 {
            put(packet, network + 10, [0, 0]);
            let header = packet.data.get(network..transport).unwrap_or_default();
            let checksum = !fold(sum(header));
            put(packet, network + 10, checksum.to_be_bytes());
        }
        let addresses = network + if self.is_v4 { 12 } else { 8 };
        let addresses = packet.data.get(addresses..transport).unwrap_or_default();
        let pseudo = fold(sum(addresses) + 6 + u64::from(segment >> 16) + u64::from(segment & 0xffff));
        put(packet, transport + TCP_CHECKSUM, pseudo.to_be_bytes());
        put(packet, transport + 13, [last_flags]);
        packet.offload = Offload {
            needs_checksum: true,
            checksum_valid: false,
            gso_type: if self.is_v4 { GSO_TCPV4 } else { GSO_TCPV6 },
            header_len: self.headers as u16,
            gso_size: self.payload as u16,
            csum_start: transport as u16,
            csum_offset: TCP_CHECKSUM as u16,
        };
    }
}

/// Whether an IPv4 header has no options, belongs to an unfragmented TCP segment, and is not corrupted.
fn is_plain_v4(header: &[u8]) -> bool {
    let (Some(fragment), Some(whole)) = (u16_at(header, 6), header.get(..20)) else { return false };
    whole.first() == Some(&0x45)
        && whole.get(9) == Some(&6)
        && fragment & !0x4000 == 0
        && fold(sum(whole)) == u16::MAX
}

fn put<const N: usize>(packet: &mut Packet, at: usize, bytes: [u8; N]) {
    if let Some(place) = packet.data.get_mut(at..at + N) {
        place.copy_from_slice(&bytes);
    }
}
