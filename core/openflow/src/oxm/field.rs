//! The match fields that this crate knows, with unknown ones kept as bytes. OpenFlow 1.3.5 §7.2.3.7.

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
    ($($(#[$meta:meta])* $code:literal $variant:ident($type:ty),)*) => {
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
    0 InPort(PortNo),
    /// Physical port on which it came in, under a logical one.
    1 InPhyPort(PortNo),
    /// The metadata of earlier tables.
    2 Metadata(Masked<Metadata>),
    /// Ethernet destination.
    3 EthDst(Masked<MacAddr>),
    /// Ethernet source.
    4 EthSrc(Masked<MacAddr>),
    /// Ethernet type, after VLAN tags.
    5 EthType(EthType),
    /// VLAN.
    6 VlanVid(Masked<VlanVid>),
    /// VLAN priority, 3 bits.
    7 VlanPcp(u8),
    /// Differentiated services, 6 bits.
    8 IpDscp(u8),
    /// Congestion notification, 2 bits.
    9 IpEcn(u8),
    /// The IP protocol: 6 is TCP.
    10 IpProto(u8),
    /// IPv4 source.
    11 Ipv4Src(Masked<Ipv4Addr>),
    /// IPv4 destination.
    12 Ipv4Dst(Masked<Ipv4Addr>),
    /// TCP source port.
    13 TcpSrc(Masked<u16>),
    /// TCP destination port.
    14 TcpDst(Masked<u16>),
    /// UDP source port.
    15 UdpSrc(Masked<u16>),
    /// UDP destination port.
    16 UdpDst(Masked<u16>),
    /// SCTP source port.
    17 SctpSrc(Masked<u16>),
    /// SCTP destination port.
    18 SctpDst(Masked<u16>),
    /// ICMP type.
    19 Icmpv4Type(u8),
    /// ICMP code.
    20 Icmpv4Code(u8),
    /// ARP operation: 1 is a request, 2 a reply.
    21 ArpOp(u16),
    /// ARP's source IPv4 address.
    22 ArpSpa(Masked<Ipv4Addr>),
    /// ARP's target IPv4 address.
    23 ArpTpa(Masked<Ipv4Addr>),
    /// ARP's source Ethernet address.
    24 ArpSha(Masked<MacAddr>),
    /// ARP's target Ethernet address.
    25 ArpTha(Masked<MacAddr>),
    /// IPv6 source.
    26 Ipv6Src(Masked<Ipv6Addr>),
    /// IPv6 destination.
    27 Ipv6Dst(Masked<Ipv6Addr>),
    /// IPv6 flow label, 20 bits.
    28 Ipv6Flabel(Masked<u32>),
    /// ICMPv6 type.
    29 Icmpv6Type(u8),
    /// ICMPv6 code.
    30 Icmpv6Code(u8),
    /// Whom neighbour discovery looks for.
    31 Ipv6NdTarget(Masked<Ipv6Addr>),
    /// Neighbour discovery's source Ethernet address.
    32 Ipv6NdSll(Masked<MacAddr>),
    /// Neighbour discovery's target Ethernet address.
    33 Ipv6NdTll(Masked<MacAddr>),
    /// MPLS label, 20 bits.
    34 MplsLabel(u32),
    /// MPLS traffic class, 3 bits.
    35 MplsTc(u8),
    /// MPLS bottom of stack, 1 bit.
    36 MplsBos(u8),
    /// Provider backbone service.
    37 PbbIsid(Masked<Isid>),
    /// The tunnel metadata of a logical port.
    38 TunnelId(Masked<Metadata>),
    /// IPv6 extension headers.
    39 Ipv6Exthdr(Masked<Ipv6ExtHeaders>),
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
