//! Packets for tests and benchmarks, of this crate and of those above it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use braid_types::{FiveTuple, MacAddr};
use etherparse::{EtherType, Ethernet2Header, IpNumber, Ipv4Header, Ipv6Header, TcpHeader};

use crate::{TcpFlags, VlanTag};

/// A TCP segment in a frame of its own, with correct lengths and checksums. Start with [`tcp`].
#[derive(Debug, Clone)]
pub struct TcpFrame<'a> {
    tuple: FiveTuple,
    src: MacAddr,
    dst: MacAddr,
    vlan: Option<VlanTag>,
    seq: u32,
    ack: u32,
    flags: TcpFlags,
    options: &'a [u8],
    payload: &'a [u8],
}

/// A segment from `tuple.src` to `tuple.dst` without flags, options or data, between the Ethernet addresses
/// 02:00:00:00:00:01 and 02:00:00:00:00:02.
pub const fn tcp<'a>(tuple: FiveTuple) -> TcpFrame<'a> {
    TcpFrame {
        tuple,
        src: MacAddr::from_u64(0x0200_0000_0001),
        dst: MacAddr::from_u64(0x0200_0000_0002),
        vlan: None,
        seq: 0,
        ack: 0,
        flags: TcpFlags(0),
        options: &[],
        payload: &[],
    }
}

impl<'a> TcpFrame<'a> {
    /// Between these Ethernet addresses.
    pub const fn macs(mut self, src: MacAddr, dst: MacAddr) -> Self {
        self.src = src;
        self.dst = dst;
        self
    }

    /// With this VLAN tag.
    pub const fn vlan(mut self, tag: VlanTag) -> Self {
        self.vlan = Some(tag);
        self
    }

    /// With these sequence and acknowledgement numbers.
    pub const fn numbers(mut self, seq: u32, ack: u32) -> Self {
        self.seq = seq;
        self.ack = ack;
        self
    }

    /// With these control bits.
    pub const fn flags(mut self, flags: TcpFlags) -> Self {
        self.flags = flags;
        self
    }

    /// With these options, at most 40 bytes; padded to a multiple of four.
    pub const fn options(mut self, options: &'a [u8]) -> Self {
        self.options = options;
        self
    }

    /// With this data.
    pub const fn payload(mut self, payload: &'a [u8]) -> Self {
        self.payload = payload;
        self
    }

    /// The bytes of the frame.
    ///
    /// # Panics
    ///
    /// The tuple's addresses are of different families, the options exceed 40 bytes, or the whole exceeds what
    /// one IP packet holds.
    pub fn frame(&self) -> Vec<u8> {
        let (ether_type, packet) = match (self.tuple.src, self.tuple.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => (EtherType::IPV4, self.ipv4(src, dst)),
            (IpAddr::V6(src), IpAddr::V6(dst)) => (EtherType::IPV6, self.ipv6(src, dst)),
            _ => panic!("{} mixes IPv4 and IPv6", self.tuple),
        };
        let (source, destination) = (self.src.octets(), self.dst.octets());
        let ethernet = Ethernet2Header { source, destination, ether_type };
        let mut frame = [&ethernet.to_bytes(), packet.as_slice()].concat();
        if let Some(tag) = self.vlan {
            tag.push(&mut frame);
        }
        frame
    }

    fn ipv4(&self, src: Ipv4Addr, dst: Ipv4Addr) -> Vec<u8> {
        let header = Ipv4Header::new(self.ip_payload_len(), 64, IpNumber::TCP, src.octets(), dst.octets());
        let mut header = header.expect("the segment fits in an IPv4 packet");
        header.header_checksum = header.calc_header_checksum();
        let segment = self.segment(|tcp| tcp.calc_checksum_ipv4(&header, self.payload).ok());
        [&header.to_bytes(), segment.as_slice()].concat()
    }

    fn ipv6(&self, src: Ipv6Addr, dst: Ipv6Addr) -> Vec<u8> {
        let header = Ipv6Header {
            payload_length: self.ip_payload_len(),
            next_header: IpNumber::TCP,
            hop_limit: 64,
            source: src.octets(),
            destination: dst.octets(),
            ..Ipv6Header::default()
        };
        let segment = self.segment(|tcp| tcp.calc_checksum_ipv6(&header, self.payload).ok());
        [&header.to_bytes(), segment.as_slice()].concat()
    }

    fn ip_payload_len(&self) -> u16 {
        let len = self.header().header_len().saturating_add(self.payload.len());
        u16::try_from(len).expect("the segment fits in an IP packet")
    }

    fn header(&self) -> TcpHeader {
        let bit = |flag| self.flags.0 & flag != 0;
        let mut header = TcpHeader::new(self.tuple.src_port, self.tuple.dst_port, self.seq, u16::MAX);
        header.acknowledgment_number = self.ack;
        (header.fin, header.syn, header.rst, header.psh) = (bit(0x01), bit(0x02), bit(0x04), bit(0x08));
        (header.ack, header.urg, header.ece, header.cwr) = (bit(0x10), bit(0x20), bit(0x40), bit(0x80));
        header.set_options_raw(self.options).expect("options of at most 40 bytes");
        header
    }

    fn segment(&self, checksum: impl FnOnce(&TcpHeader) -> Option<u16>) -> Vec<u8> {
        let mut header = self.header();
        header.checksum = checksum(&header).expect("the segment fits in an IP packet");
        [&header.to_bytes(), self.payload].concat()
    }
}
