//! Which frames match a rule.

use braid_openflow::{Masked, OxmField};
use braid_packet::{Frame, Payload, Transport, nd::NdMessage};
use braid_types::MacAddr;

use super::forwarding::Packet;

/// Whether a packet matches a field.
pub(super) fn fits(field: &OxmField<'_>, packet: &Packet) -> bool {
    let frame = Frame::parse(&packet.frame).expect("readable frame");
    let ip = frame.ip();
    let exact = |wanted: &Masked<u16>, have: Option<u16>| have == Some(wanted.value);
    match field {
        OxmField::InPort(port) => *port == packet.in_port,
        OxmField::Metadata(wanted) => wanted.value.0 == packet.metadata,
        OxmField::EthSrc(wanted) => covers(wanted, frame.src),
        OxmField::EthDst(wanted) => covers(wanted, frame.dst),
        OxmField::ArpTpa(wanted) => {
            matches!(&frame.payload, Payload::Arp(arp) if arp.target_ip == wanted.value)
        }
        OxmField::EthType(wanted) => wanted.0 == frame.ethertype.0,
        OxmField::IpProto(wanted) => ip.is_some_and(|ip| ip.proto.0 == *wanted),
        OxmField::Ipv4Src(wanted) => ip.is_some_and(|ip| ip.src == wanted.value),
        OxmField::Ipv4Dst(wanted) => ip.is_some_and(|ip| ip.dst == wanted.value),
        OxmField::Ipv6Src(wanted) => ip.is_some_and(|ip| ip.src == wanted.value),
        OxmField::Ipv6Dst(wanted) => ip.is_some_and(|ip| ip.dst == wanted.value),
        OxmField::TcpSrc(wanted) => exact(wanted, frame.tcp().map(|tcp| tcp.src_port)),
        OxmField::TcpDst(wanted) => exact(wanted, frame.tcp().map(|tcp| tcp.dst_port)),
        OxmField::TcpFlags(wanted) => {
            let mask = wanted.mask.map_or(u16::MAX, |mask| mask.0);
            frame.tcp().is_some_and(|tcp| u16::from(tcp.flags.0) & mask == wanted.value.0)
        }
        OxmField::Icmpv6Type(wanted) => icmpv6_type(&frame.payload) == Some(*wanted),
        other => panic!("unexpected {other:?}"),
    }
}

fn icmpv6_type(payload: &Payload<'_>) -> Option<u8> {
    let Payload::Ip(ip) = payload else { return None };
    match ip.transport {
        Transport::Icmpv6(NdMessage::Solicitation(_)) => Some(135),
        Transport::Icmpv6(NdMessage::Advertisement(_)) => Some(136),
        _ => None,
    }
}

fn covers(wanted: &Masked<MacAddr>, have: MacAddr) -> bool {
    let mask = wanted.mask.unwrap_or(MacAddr::BROADCAST).to_u64();
    have.to_u64() & mask == wanted.value.to_u64() & mask
}
