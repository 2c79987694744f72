//! The match fields that this crate knows, with unknown ones kept as bytes. OpenFlow 1.3.5 §7.2.3.7.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use braid_types::{MacAddr, PortNo};
use serde::Serialize;

use super::header::{OxmClass, OxmHeader, RawOxm};
use super::payload::{Masked, Payload};
use super::value::{EthType, Ipv6ExtHeaders, Isid, TcpFlags, VlanVid};
use crate::error::{DecodeError, EncodeError, Part};
use crate::id::{ExperimenterId, Metadata};
use crate::wire::{Bytes, Reader, Wire};

/// The number of ONF's field of TCP flags within its own fields. ONF extension 109.
const TCP_FLAGS: u8 = 42;

macro_rules! oxm_fields {
    ($($(#[$meta:meta])* $code:literal $variant:ident($type:ty) $name:literal,)*) => {
        /// A field of a match, or the value that a set-field action writes.
        ///
        /// Bits above a field's width, such as the upper two of `ip_dscp`, are neither checked nor cleared.
        /// Fields with [`Masked`] take a mask; one that the specification does not mask, received with a mask,
        /// becomes `Unknown`. TCP, UDP and SCTP ports and the addresses of neighbour discovery take one because
        /// Open vSwitch allows it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum OxmField<'a> {
            $($(#[$meta])* $variant($type),)*
            /// Control bits of TCP: `tcp_flags` of ONF extension 109.
            TcpFlags(Masked<TcpFlags>),
            /// Any other field, kept as it is.
            Unknown(RawOxm<'a>),
        }

        /// The field as `ovs-ofctl` writes it, such as `ip_dst=10.0.0.2`.
        impl fmt::Display for OxmField<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant(payload) => write!(f, concat!($name, "={:?}"), payload),)*
                    Self::TcpFlags(flags) => tcp_flags(*flags, f),
                    Self::Unknown(raw) => write!(f, "oxm_{:#06x}_{}={}", raw.class.0, raw.field, raw.body),
                }
            }
        }

        impl<'a> Wire<'a> for OxmField<'a> {
            #[inline]
            fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                let mut reader = FieldReader::new(reader)?;
                let header = reader.header;
                if header.class != OxmClass::OPENFLOW_BASIC {
                    return reader.foreign();
                }
                match header.field {
                    $($code if reader.fits::<$type>()? => reader.typed().map(Self::$variant),)*
                    _ => Ok(reader.raw()),
                }
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                match self {
                    $(Self::$variant(payload) => write_basic($code, payload, out),)*
                    Self::TcpFlags(flags) => write_tcp_flags(*flags, out),
                    Self::Unknown(raw) => write_raw(raw, out),
                }
            }
        }
    };
}

oxm_fields! {
    /// Port on which the packet came in.
    0 InPort(PortNo) "in_port",
    /// Physical port on which it came in, under a logical one.
    1 InPhyPort(PortNo) "in_phy_port",
    /// The metadata of earlier tables.
    2 Metadata(Masked<Metadata>) "metadata",
    /// Ethernet destination.
    3 EthDst(Masked<MacAddr>) "eth_dst",
    /// Ethernet source.
    4 EthSrc(Masked<MacAddr>) "eth_src",
    /// Ethernet type, after VLAN tags.
    5 EthType(EthType) "eth_type",
    /// VLAN.
    6 VlanVid(Masked<VlanVid>) "vlan_vid",
    /// VLAN priority, 3 bits.
    7 VlanPcp(u8) "vlan_pcp",
    /// Differentiated services, 6 bits.
    8 IpDscp(u8) "ip_dscp",
    /// Congestion notification, 2 bits.
    9 IpEcn(u8) "ip_ecn",
    /// The IP protocol: 6 is TCP.
    10 IpProto(u8) "ip_proto",
    /// IPv4 source.
    11 Ipv4Src(Masked<Ipv4Addr>) "ip_src",
    /// IPv4 destination.
    12 Ipv4Dst(Masked<Ipv4Addr>) "ip_dst",
    /// TCP source port.
    13 TcpSrc(Masked<u16>) "tcp_src",
    /// TCP destination port.
    14 TcpDst(Masked<u16>) "tcp_dst",
    /// UDP source port.
    15 UdpSrc(Masked<u16>) "udp_src",
    /// UDP destination port.
    16 UdpDst(Masked<u16>) "udp_dst",
    /// SCTP source port.
    17 SctpSrc(Masked<u16>) "sctp_src",
    /// SCTP destination port.
    18 SctpDst(Masked<u16>) "sctp_dst",
    /// ICMP type.
    19 Icmpv4Type(u8) "icmp_type",
    /// ICMP code.
    20 Icmpv4Code(u8) "icmp_code",
    /// ARP operation: 1 is a request, 2 a reply.
    21 ArpOp(u16) "arp_op",
    /// ARP's source IPv4 address.
    22 ArpSpa(Masked<Ipv4Addr>) "arp_spa",
    /// ARP's target IPv4 address.
    23 ArpTpa(Masked<Ipv4Addr>) "arp_tpa",
    /// ARP's source Ethernet address.
    24 ArpSha(Masked<MacAddr>) "arp_sha",
    /// ARP's target Ethernet address.
    25 ArpTha(Masked<MacAddr>) "arp_tha",
    /// IPv6 source.
    26 Ipv6Src(Masked<Ipv6Addr>) "ipv6_src",
    /// IPv6 destination.
    27 Ipv6Dst(Masked<Ipv6Addr>) "ipv6_dst",
    /// IPv6 flow label, 20 bits.
    28 Ipv6Flabel(Masked<u32>) "ipv6_label",
    /// ICMPv6 type.
    29 Icmpv6Type(u8) "icmpv6_type",
    /// ICMPv6 code.
    30 Icmpv6Code(u8) "icmpv6_code",
    /// Whom neighbour discovery looks for.
    31 Ipv6NdTarget(Masked<Ipv6Addr>) "nd_target",
    /// Neighbour discovery's source Ethernet address.
    32 Ipv6NdSll(Masked<MacAddr>) "nd_sll",
    /// Neighbour discovery's target Ethernet address.
    33 Ipv6NdTll(Masked<MacAddr>) "nd_tll",
    /// MPLS label, 20 bits.
    34 MplsLabel(u32) "mpls_label",
    /// MPLS traffic class, 3 bits.
    35 MplsTc(u8) "mpls_tc",
    /// MPLS bottom of stack, 1 bit.
    36 MplsBos(u8) "mpls_bos",
    /// Provider backbone service.
    37 PbbIsid(Masked<Isid>) "pbb_isid",
    /// The tunnel metadata of a logical port.
    38 TunnelId(Masked<Metadata>) "tun_id",
    /// IPv6 extension headers.
    39 Ipv6Exthdr(Masked<Ipv6ExtHeaders>) "ipv6_exthdr",
}

fn tcp_flags(flags: Masked<TcpFlags>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Masked { value, mask } = flags;
    f.write_str("tcp_flags=")?;
    match mask {
        Some(mask) => value.write_among(mask, f),
        None => write!(f, "{:#05x}", value.0),
    }
}

/// A field under way: its header, and its value still to read.
struct FieldReader<'a> {
    header: OxmHeader,
    body: Reader<'a>,
}

impl<'a> FieldReader<'a> {
    #[inline]
    fn new(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut head = reader.within(Part::OxmField);
        let header: OxmHeader = head.read()?;
        let mut field = reader.split(Part::OxmField, usize::from(header.length) + 4, 4)?;
        field.skip(4)?;
        Ok(Self { header, body: field })
    }

    /// Whether the value is to be read as a `P`: no mask where there can be none. Fails if its length is wrong.
    #[inline]
    fn fits<P: Payload<'a>>(&self) -> Result<bool, DecodeError> {
        if self.header.has_mask && !P::MASKABLE {
            return Ok(false);
        }
        match self.body.len() == size::<P>(self.header.has_mask) {
            true => Ok(true),
            false => Err(DecodeError::Length { what: Part::OxmField, length: self.body.len() }),
        }
    }

    #[inline]
    fn typed<P: Payload<'a>>(&mut self) -> Result<P, DecodeError> {
        P::read(&mut self.body, self.header.has_mask)
    }

    /// A field of another class than OpenFlow's.
    fn foreign(mut self) -> Result<OxmField<'a>, DecodeError> {
        let whole = self.body;
        let is_tcp_flags = self.header.class == OxmClass::EXPERIMENTER
            && self.header.field == TCP_FLAGS
            && self.body.read() == Ok(ExperimenterId::ONF)
            && self.body.len() == size::<Masked<TcpFlags>>(self.header.has_mask);
        match is_tcp_flags {
            true => self.typed().map(OxmField::TcpFlags),
            false => Ok(Self { body: whole, ..self }.raw()),
        }
    }

    fn raw(mut self) -> OxmField<'a> {
        let OxmHeader { class, field, has_mask, .. } = self.header;
        OxmField::Unknown(RawOxm { class, field, has_mask, body: Bytes(self.body.rest()) })
    }
}

const fn size<'a, P: Payload<'a>>(has_mask: bool) -> usize {
    if has_mask { P::SIZE.saturating_mul(2) } else { P::SIZE }
}

#[inline]
fn write_basic<'a, P: Payload<'a>>(code: u8, payload: &P, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let has_mask = payload.has_mask();
    write_header(OxmClass::OPENFLOW_BASIC, code, has_mask, size::<P>(has_mask), out)?;
    payload.write(out)
}

fn write_tcp_flags(flags: Masked<TcpFlags>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let has_mask = flags.has_mask();
    let length = size::<Masked<TcpFlags>>(has_mask).saturating_add(4);
    write_header(OxmClass::EXPERIMENTER, TCP_FLAGS, has_mask, length, out)?;
    ExperimenterId::ONF.write(out)?;
    Payload::write(&flags, out)
}

fn write_raw(raw: &RawOxm<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    write_header(raw.class, raw.field, raw.has_mask, raw.body.len(), out)?;
    raw.body.write(out)
}

#[inline]
fn write_header(
    class: OxmClass,
    field: u8,
    has_mask: bool,
    length: usize,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let too_long = EncodeError::TooLong { what: Part::OxmField, length };
    let length = u8::try_from(length).map_err(|_| too_long)?;
    OxmHeader { class, field, has_mask, length }.write(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_as_small_as_a_masked_ipv6_address_allows() {
        assert!(size_of::<OxmField<'_>>() <= 40);
    }
}
