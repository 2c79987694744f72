//! IPv4 and IPv6 packets: addresses, fragments, and the transport inside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use braid_types::FiveTuple;
use etherparse::{IpNumber, LaxIpPayloadSlice, LaxIpv4Slice, LaxIpv6Slice};

use crate::PacketError;
use crate::bytes::Reader;
use crate::nd::NdMessage;
use crate::tcp::TcpSegment;

/// An IPv4 or IPv6 packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ip<'a> {
    /// The sender's address.
    pub src: IpAddr,
    /// The receiver's address.
    pub dst: IpAddr,
    /// The payload's protocol: the one after all IPv6 extension headers.
    pub proto: IpNumber,
    /// Whether this is one fragment of a larger packet.
    pub fragment: bool,
    /// The content.
    pub transport: Transport<'a>,
}

/// The content of an IP packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport<'a> {
    /// TCP, with its header whole.
    Tcp(TcpSegment<'a>),
    /// A neighbour discovery message that passes the checks of RFC 4861 §7.1, checksum and hop limit included.
    Icmpv6(NdMessage),
    /// UDP, with its header whole.
    Udp(Udp<'a>),
    /// Any other protocol, any fragment, and what is cut off or malformed.
    Other,
}

/// A UDP datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Udp<'a> {
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's port.
    pub dst_port: u16,
    /// The payload; shorter than sent if the frame was truncated.
    pub payload: &'a [u8],
}

/// The sender and the receiver of the IP packet in an untagged frame, by their places alone; `None` if there is none.
///
/// To look ahead: whether the packet is valid is not known.
#[inline]
pub fn ip_addresses(frame: &[u8]) -> Option<[IpAddr; 2]> {
    const IP: usize = 14;
    let packet = frame.get(IP..)?;
    let v4 = |at: usize| Some(Ipv4Addr::from(*packet.get(at..)?.first_chunk::<4>()?).into());
    let v6 = |at: usize| Some(Ipv6Addr::from(*packet.get(at..)?.first_chunk::<16>()?).into());
    match frame.get(12..14)? {
        [0x08, 0x00] => Some([v4(12)?, v4(16)?]),
        [0x86, 0xdd] => Some([v6(8)?, v6(24)?]),
        _ => None,
    }
}

impl<'a> Ip<'a> {
    /// The five-tuple of a TCP segment; `None` for anything else.
    pub fn five_tuple(&self) -> Option<FiveTuple> {
        match &self.transport {
            Transport::Tcp(segment) => Some(FiveTuple {
                src: self.src,
                dst: self.dst,
                src_port: segment.src_port,
                dst_port: segment.dst_port,
            }),
            _ => None,
        }
    }

    pub(crate) fn parse_v4(bytes: &'a [u8]) -> Result<Self, PacketError> {
        // Where an extension header is broken, `proto` stays at that header and nothing is read beyond it.
        let (packet, _broken) = LaxIpv4Slice::from_slice(bytes)?;
        let header = packet.header();
        let payload = Inner::new(packet.payload(), usize::from(header.total_len()), bytes);
        Ok(Self {
            src: IpAddr::V4(header.source_addr()),
            dst: IpAddr::V4(header.destination_addr()),
            proto: payload.proto,
            fragment: payload.fragment,
            transport: payload.transport(),
        })
    }

    pub(crate) fn parse_v6(bytes: &'a [u8]) -> Result<Self, PacketError> {
        let (packet, _broken) = LaxIpv6Slice::from_slice(bytes)?;
        let header = packet.header();
        let (src, dst) = (header.source_addr(), header.destination_addr());
        let declared = usize::from(header.payload_length()).saturating_add(header.slice().len());
        let payload = Inner::new(packet.payload(), declared, bytes);
        let transport = match payload.proto {
            IpNumber::IPV6_ICMP => payload.neighbour_discovery(src, dst, header.hop_limit()),
            _ => payload.transport(),
        };
        Ok(Self {
            src: IpAddr::V6(src),
            dst: IpAddr::V6(dst),
            proto: payload.proto,
            fragment: payload.fragment,
            transport,
        })
    }
}

/// The IP payload and what the IP header says of it.
struct Inner<'a> {
    proto: IpNumber,
    fragment: bool,
    bytes: &'a [u8],
    /// The bytes of the packet's length beyond the end of `bytes`.
    missing: usize,
}

impl<'a> Inner<'a> {
    fn new(payload: &LaxIpPayloadSlice<'a>, declared: usize, packet: &[u8]) -> Self {
        let missing = if payload.incomplete { declared.saturating_sub(packet.len()) } else { 0 };
        Self { proto: payload.ip_number, fragment: payload.fragmented, bytes: payload.payload, missing }
    }

    /// Fragments are not looked into: all but the first have no ports, and the first may be shaped to lie.
    fn transport(&self) -> Transport<'a> {
        match self.proto {
            _ if self.fragment => Transport::Other,
            IpNumber::TCP => {
                TcpSegment::parse(self.bytes, self.missing).map_or(Transport::Other, Transport::Tcp)
            }
            IpNumber::UDP => Udp::parse(self.bytes).map_or(Transport::Other, Transport::Udp),
            _ => Transport::Other,
        }
    }

    fn neighbour_discovery(&self, src: Ipv6Addr, dst: Ipv6Addr, hop_limit: u8) -> Transport<'a> {
        let whole = !self.fragment && self.missing == 0;
        let message = whole.then(|| NdMessage::parse(self.bytes, src, dst, hop_limit)).flatten();
        message.map_or(Transport::Other, Transport::Icmpv6)
    }
}

impl<'a> Udp<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let (src_port, dst_port) = (reader.u16()?, reader.u16()?);
        let (length, _checksum) = (reader.u16()?, reader.u16()?);
        let declared = usize::from(length).saturating_sub(8);
        let payload = reader.0.get(..declared).unwrap_or(reader.0);
        Some(Self { src_port, dst_port, payload })
    }
}
