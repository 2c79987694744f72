//! TCP segments in captured packets of various link types.

use std::net::{IpAddr, SocketAddr};

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TcpSlice, TransportSlice};
use pcap_parser::Linktype;

use super::file::Packet;

/// Bytes of the header of LINKTYPE_NULL and LINKTYPE_LOOP: an address family, in either byte order.
const NULL_LEN: usize = 4;
/// Bytes of the header of LINKTYPE_LINUX_SLL, of which the last two are the EtherType.
const SLL_LEN: usize = 16;
/// Bytes of the header of LINKTYPE_LINUX_SLL2, of which the first two are the EtherType.
const SLL2_LEN: usize = 20;

/// A TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment<'a> {
    /// The sender.
    pub(super) src: SocketAddr,
    /// The receiver.
    pub(super) dst: SocketAddr,
    /// The sequence number of its first byte.
    pub(super) seq: u32,
    /// The acknowledgement number, if the segment has one.
    pub(super) ack: Option<u32>,
    /// SYN.
    pub(super) syn: bool,
    /// FIN.
    pub(super) fin: bool,
    /// The captured part of its payload.
    pub(super) payload: &'a [u8],
}

/// Reasons for which a packet's content is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SegmentError {
    /// The packet is an IP fragment.
    Fragment,
    /// The link type is not known.
    LinkType(i32),
}

impl<'a> Segment<'a> {
    /// The segment in `packet`; `None` if it carries something else or is cut before its payload.
    pub(super) fn read(packet: &Packet<'a>) -> Result<Option<Self>, SegmentError> {
        let Some(layers) = layers(packet)? else { return Ok(None) };
        let addresses = match &layers.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                (IpAddr::V4(header.source_addr()), IpAddr::V4(header.destination_addr()))
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                (IpAddr::V6(header.source_addr()), IpAddr::V6(header.destination_addr()))
            }
            _ => return Ok(None),
        };
        match &layers.transport {
            Some(TransportSlice::Tcp(tcp)) => Ok(Some(Self::new(addresses, tcp))),
            _ if is_fragment(&layers) => Err(SegmentError::Fragment),
            _ => Ok(None),
        }
    }

    /// Whether one of the ports is among `ports`.
    pub(super) fn concerns(&self, ports: &[u16]) -> bool {
        ports.contains(&self.src.port()) || ports.contains(&self.dst.port())
    }

    fn new((src, dst): (IpAddr, IpAddr), tcp: &TcpSlice<'a>) -> Self {
        Self {
            src: SocketAddr::new(src, tcp.source_port()),
            dst: SocketAddr::new(dst, tcp.destination_port()),
            seq: tcp.sequence_number(),
            ack: tcp.ack().then(|| tcp.acknowledgment_number()),
            syn: tcp.syn(),
            fin: tcp.fin(),
            payload: tcp.payload(),
        }
    }
}

/// The headers above the link layer; `None` if the first one is cut.
fn layers<'a>(packet: &Packet<'a>) -> Result<Option<LaxSlicedPacket<'a>>, SegmentError> {
    let bytes = packet.bytes;
    Ok(match packet.link {
        Linktype::ETHERNET => LaxSlicedPacket::from_ethernet(bytes).ok(),
        // Some systems use 12 and 14 for raw IP.
        Linktype::RAW | Linktype::IPV4 | Linktype::IPV6 | Linktype(12 | 14) => ip(bytes),
        Linktype::NULL | Linktype::LOOP => bytes.get(NULL_LEN..).and_then(ip),
        Linktype::LINUX_SLL => ethertype(bytes, SLL_LEN - 2, SLL_LEN),
        Linktype::LINUX_SLL2 => ethertype(bytes, 0, SLL2_LEN),
        link => return Err(SegmentError::LinkType(link.0)),
    })
}

fn ip(bytes: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    LaxSlicedPacket::from_ip(bytes).ok()
}

/// The payload of a header of `length` bytes with the EtherType at `at`.
fn ethertype(bytes: &[u8], at: usize, length: usize) -> Option<LaxSlicedPacket<'_>> {
    let ethertype = bytes.get(at..)?.first_chunk().copied().map(u16::from_be_bytes)?;
    Some(LaxSlicedPacket::from_ether_type(EtherType(ethertype), bytes.get(length..)?))
}

fn is_fragment(layers: &LaxSlicedPacket<'_>) -> bool {
    layers.net.as_ref().and_then(LaxNetSlice::ip_payload_ref).is_some_and(|payload| payload.fragmented)
}
