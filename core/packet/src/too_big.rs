//! "Packet too big" messages of ICMP and ICMPv6, read and written. RFC 1191, RFC 8201.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::checksum::Sum16BitWords;
use etherparse::icmpv4::DestUnreachableHeader::FragmentationNeeded;
use etherparse::{
    EtherType, Ethernet2Header, Icmpv4Header, Icmpv4Slice, Icmpv4Type, Icmpv6Header, Icmpv6Slice, Icmpv6Type,
    IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv4Slice, Ipv6Header, Ipv6HeaderSlice, Ipv6Slice,
};

use crate::frame::Frame;

const ETHERNET: usize = 14;
const TAG: usize = 4;
const TTL: u8 = 64;
/// The longest reply that passes every path. RFC 1812 §4.3.2.3, RFC 4443 §3.2.
const LONGEST_V4: usize = 576;
const LONGEST_V6: usize = 1_280;
/// No link takes less. RFC 791, RFC 8200 §5.
const LEAST_V4: u32 = 68;
const LEAST_V6: u32 = 1_280;
const ICMP: usize = 8;
/// Kinds of ICMP that are never answered with an error. RFC 1122 §3.2.2.
const ERRORS_V4: [u8; 5] = [3, 4, 5, 11, 12];
const FIRST_QUESTION_V6: u8 = 128;

/// A router's message about a packet longer than the MTU of its next link: ICMP "fragmentation needed" (RFC 1191) or ICMPv6 "packet too big"
/// (RFC 8201).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooBig {
    /// The sender of the packet, which receives the message.
    pub src: IpAddr,
    /// For whom it was.
    pub dst: IpAddr,
    /// Its content.
    pub proto: IpNumber,
    /// The first four bytes behind its IP header, as TCP and UDP have them: the source and the destination port.
    pub ports: Option<(u16, u16)>,
    /// Its length in bytes with its IP header.
    pub length: u32,
    /// The longest packet, in bytes with its IP header, that the link takes.
    pub mtu: u32,
}

impl TooBig {
    /// Reads a frame; `None` if it is no such message, or corrupted, or not for the sender of what it quotes.
    pub fn parse(frame: &[u8]) -> Option<Self> {
        let packet = packet(frame)?;
        match Frame::parse(frame).ok()?.ip()?.src {
            IpAddr::V4(_) => Self::parse_v4(packet),
            IpAddr::V6(_) => Self::parse_v6(packet),
        }
    }

    fn parse_v4(packet: &[u8]) -> Option<Self> {
        let outer = Ipv4Slice::from_slice(packet).ok()?;
        let icmp = outer.payload();
        let whole = icmp.ip_number == IpNumber::ICMP && !icmp.fragmented;
        let icmp = whole.then(|| Icmpv4Slice::from_slice(icmp.payload).ok())??;
        let Icmpv4Type::DestinationUnreachable(FragmentationNeeded { next_hop_mtu }) = icmp.icmp_type()
        else {
            return None;
        };
        let is_right = Sum16BitWords::new().add_slice(icmp.slice()).ones_complement() == 0;
        let quoted = Ipv4HeaderSlice::from_slice(icmp.payload()).ok()?;
        let told = outer.header().destination() == quoted.source();
        // Routers older than RFC 1191 say 0.
        (is_right && told && u32::from(next_hop_mtu) >= LEAST_V4).then(|| Self {
            src: quoted.source_addr().into(),
            dst: quoted.destination_addr().into(),
            proto: quoted.protocol(),
            ports: ports(icmp.payload(), quoted.slice().len()),
            length: quoted.total_len().into(),
            mtu: next_hop_mtu.into(),
        })
    }

    fn parse_v6(packet: &[u8]) -> Option<Self> {
        let outer = Ipv6Slice::from_slice(packet).ok()?;
        let icmp = outer.payload();
        let whole = icmp.ip_number == IpNumber::IPV6_ICMP && !icmp.fragmented;
        let icmp = whole.then(|| Icmpv6Slice::from_slice(icmp.payload).ok())??;
        let Icmpv6Type::PacketTooBig { mtu } = icmp.icmp_type() else { return None };
        let (src, dst) = (outer.header().source(), outer.header().destination());
        let quoted = Ipv6HeaderSlice::from_slice(icmp.payload()).ok()?;
        let is_right = icmp.is_checksum_valid(src, dst) && dst == quoted.source();
        (is_right && mtu >= LEAST_V6).then(|| Self {
            src: quoted.source_addr().into(),
            dst: quoted.destination_addr().into(),
            proto: quoted.next_header(),
            ports: ports(icmp.payload(), Ipv6Header::LEN),
            length: u32::from(quoted.payload_length()).saturating_add(Ipv6Header::LEN as u32),
            mtu,
        })
    }

    /// The ICMP message to the sender of `frame` that packets longer than `mtu` do not fit. Its source is the
    /// destination of `frame`; it has the same VLAN tag.
    ///
    /// `None` where no message may be sent: for packets that may be fragmented, ICMP errors, later fragments and
    /// multicast; also for an `mtu` below the minimum of every link, which the sender would not believe.
    pub fn answer(frame: &[u8], mtu: u32) -> Option<Vec<u8>> {
        let parsed = Frame::parse(frame).ok()?;
        let (ip, packet) = (parsed.ip()?, packet(frame)?);
        let is_for_many =
            parsed.dst.is_multicast() || parsed.src.is_multicast() || parsed.inner_vlan.is_some();
        let (ether_type, answer) = match (ip.src, ip.dst) {
            _ if is_for_many => return None,
            (IpAddr::V4(src), IpAddr::V4(dst)) => (EtherType::IPV4, answer_v4(packet, src, dst, mtu)?),
            (IpAddr::V6(src), IpAddr::V6(dst)) => (EtherType::IPV6, answer_v6(packet, src, dst, mtu)?),
            _ => return None,
        };
        let (source, destination) = (parsed.dst.octets(), parsed.src.octets());
        let ethernet = Ethernet2Header { source, destination, ether_type };
        let mut told = [&ethernet.to_bytes(), answer.as_slice()].concat();
        parsed.vlan.into_iter().for_each(|tag| tag.push(&mut told));
        Some(told)
    }
}

fn ports(quoted: &[u8], header: usize) -> Option<(u16, u16)> {
    let [src, dst] = quoted.get(header..)?.as_chunks::<2>().0.first_chunk()?;
    Some((u16::from_be_bytes(*src), u16::from_be_bytes(*dst)))
}

fn answer_v4(packet: &[u8], src: Ipv4Addr, dst: Ipv4Addr, mtu: u32) -> Option<Vec<u8>> {
    let header = Ipv4HeaderSlice::from_slice(packet).ok()?;
    let is_error = packet.get(header.slice().len()).is_none_or(|kind| ERRORS_V4.contains(kind));
    let answers = header.protocol() == IpNumber::ICMP && is_error;
    let is_later = header.fragments_offset().value() != 0;
    let is_one = |it: Ipv4Addr| !it.is_unspecified() && !it.is_multicast() && !it.is_broadcast();
    let is_told =
        header.dont_fragment() && !is_later && !answers && is_one(src) && is_one(dst) && mtu >= LEAST_V4;
    let next_hop_mtu = u16::try_from(mtu).ok().filter(|_| is_told)?;
    let quoted = packet.get(..packet.len().min(LONGEST_V4 - Ipv4Header::MIN_LEN - ICMP))?;
    let kind = Icmpv4Type::DestinationUnreachable(FragmentationNeeded { next_hop_mtu });
    let icmp = Icmpv4Header::with_checksum(kind, quoted);
    let length = u16::try_from(quoted.len()).ok()?.checked_add(ICMP as u16)?;
    let mut header = Ipv4Header::new(length, TTL, IpNumber::ICMP, dst.octets(), src.octets()).ok()?;
    header.header_checksum = header.calc_header_checksum();
    Some([&header.to_bytes(), icmp.to_bytes().as_slice(), quoted].concat())
}

fn answer_v6(packet: &[u8], src: Ipv6Addr, dst: Ipv6Addr, mtu: u32) -> Option<Vec<u8>> {
    let header = Ipv6HeaderSlice::from_slice(packet).ok()?;
    let is_error = packet.get(Ipv6Header::LEN).is_none_or(|kind| *kind < FIRST_QUESTION_V6);
    let answers = header.next_header() == IpNumber::IPV6_ICMP && is_error;
    let is_for_many = src.is_unspecified() || src.is_multicast() || dst.is_multicast();
    let is_told = !answers && !is_for_many && mtu >= LEAST_V6;
    let quoted = packet.get(..packet.len().min(LONGEST_V6 - Ipv6Header::LEN - ICMP)).filter(|_| is_told)?;
    let kind = Icmpv6Type::PacketTooBig { mtu };
    let icmp = Icmpv6Header::with_checksum(kind, dst.octets(), src.octets(), quoted).ok()?;
    let header = Ipv6Header {
        payload_length: u16::try_from(quoted.len()).ok()?.checked_add(ICMP as u16)?,
        next_header: IpNumber::IPV6_ICMP,
        hop_limit: TTL,
        source: dst.octets(),
        destination: src.octets(),
        ..Ipv6Header::default()
    };
    Some([&header.to_bytes(), icmp.to_bytes().as_slice(), quoted].concat())
}

/// The IP packet of a frame with at most one tag, as long as its header says, or as it is there.
fn packet(frame: &[u8]) -> Option<&[u8]> {
    let tagged = frame.get(12..ETHERNET)? == EtherType::VLAN_TAGGED_FRAME.0.to_be_bytes();
    frame.get(if tagged { ETHERNET + TAG } else { ETHERNET }..)
}
