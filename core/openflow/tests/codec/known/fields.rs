//! Every field of a match, as ovs-ofctl encodes it.

use std::net::{Ipv4Addr, Ipv6Addr};

use braid_openflow::{
    Action, EthType, ExperimenterId, Ipv6ExtHeaders, Isid, Masked, Metadata, OxmClass, OxmField, RawOxm,
    TcpFlags, VlanVid,
};
use braid_types::{MacAddr, PortNo};

use super::means;
use crate::support::build::{apply, flow};

const HOST: MacAddr = MacAddr::new([2, 0, 0, 0, 0, 1]);
const GROUP_BIT: MacAddr = MacAddr::new([1, 0, 0, 0, 0, 0]);
const FE80: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0);
const IP_PROTO_TCP: OxmField<'_> = OxmField::IpProto(6);

fn masked_by_prefix(value: Ipv6Addr, prefix: u32) -> Masked<Ipv6Addr> {
    Masked::new(value, Ipv6Addr::from_bits(u128::MAX << (128 - prefix)))
}

#[test]
fn ethernet() {
    let fields = [
        OxmField::InPort(PortNo(1)),
        OxmField::EthSrc(HOST.into()),
        OxmField::EthDst(Masked::new(GROUP_BIT, GROUP_BIT)),
        OxmField::EthType(EthType(0x1234)),
    ];
    means("eth.flow_mod", 6, flow(1, fields, []));
}

#[test]
fn metadata_and_tunnel() {
    let fields = [
        OxmField::TunnelId(Masked::new(Metadata(0x77), Metadata(0xff))),
        OxmField::Metadata(Masked::new(Metadata(0x1200), Metadata(0xff00))),
    ];
    means("metadata.flow_mod", 6, flow(2, fields, []));
}

#[test]
fn vlan() {
    let fields = [OxmField::VlanVid(VlanVid::tagged(100).into()), OxmField::VlanPcp(5)];
    means("vlan.flow_mod", 6, flow(3, fields, []));
    let any = OxmField::VlanVid(Masked::new(VlanVid::PRESENT, VlanVid::PRESENT));
    means("any_vlan.flow_mod", 6, flow(4, [any], []));
}

#[test]
fn tcp_over_ipv4_with_masked_ports() {
    let fields = [
        OxmField::EthType(EthType::IPV4),
        OxmField::Ipv4Src(Ipv4Addr::new(10, 0, 0, 1).into()),
        OxmField::Ipv4Dst(Masked::new(Ipv4Addr::new(10, 0, 0, 0), Ipv4Addr::new(255, 0, 0, 0))),
        OxmField::IpDscp(46),
        OxmField::IpEcn(1),
        IP_PROTO_TCP,
        OxmField::TcpSrc(Masked::new(0x1000, 0xf000)),
        OxmField::TcpDst(443.into()),
    ];
    means("tcp.flow_mod", 6, flow(5, fields, []));
}

#[test]
fn tcp_flags_with_and_without_a_mask() {
    let (syn, syn_ack) = (TcpFlags::SYN, TcpFlags::SYN | TcpFlags::ACK);
    let to_controller = apply([Action::output(PortNo::CONTROLLER)]);
    let opening = OxmField::TcpFlags(Masked::new(syn, syn_ack));
    let fields = [OxmField::EthType(EthType::IPV4), IP_PROTO_TCP, opening];
    means("tcp_flags.flow_mod", 6, flow(6, fields, [to_controller]));
    let fields = [OxmField::EthType(EthType::IPV6), IP_PROTO_TCP, OxmField::TcpFlags(syn_ack.into())];
    means("tcp_flags_exact.flow_mod", 6, flow(6, fields, [to_controller]));
}

#[test]
fn other_transports() {
    let ipv4 = OxmField::EthType(EthType::IPV4);
    let (src, dst) = (OxmField::UdpSrc(53.into()), OxmField::UdpDst(67.into()));
    means("udp.flow_mod", 6, flow(7, [ipv4, OxmField::IpProto(17), src, dst], []));
    let (src, dst) = (OxmField::SctpSrc(1.into()), OxmField::SctpDst(2.into()));
    means("sctp.flow_mod", 6, flow(8, [ipv4, OxmField::IpProto(132), src, dst], []));
    let (kind, code) = (OxmField::Icmpv4Type(8), OxmField::Icmpv4Code(0));
    means("icmp.flow_mod", 6, flow(9, [ipv4, OxmField::IpProto(1), kind, code], []));
}

#[test]
fn arp() {
    let fields = [
        OxmField::EthType(EthType::ARP),
        OxmField::ArpOp(1),
        OxmField::ArpSpa(Ipv4Addr::new(10, 0, 0, 1).into()),
        OxmField::ArpTpa(Masked::new(Ipv4Addr::new(10, 0, 0, 0), Ipv4Addr::new(255, 255, 255, 0))),
        OxmField::ArpSha(HOST.into()),
        OxmField::ArpTha(Masked::new(MacAddr::from_u64(2 << 40), MacAddr::from_u64(0xff << 40))),
    ];
    means("arp.flow_mod", 6, flow(10, fields, []));
}

#[test]
fn ipv6() {
    let net = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0);
    let fields = [
        OxmField::EthType(EthType::IPV6),
        OxmField::Ipv6Src(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into()),
        OxmField::Ipv6Dst(masked_by_prefix(net, 32)),
        OxmField::Ipv6Flabel(0x12345.into()),
    ];
    means("ipv6.flow_mod", 6, flow(11, fields, []));
}

#[test]
fn neighbour_discovery() {
    let fields = [
        OxmField::EthType(EthType::IPV6),
        OxmField::IpProto(58),
        OxmField::Icmpv6Type(135),
        OxmField::Icmpv6Code(0),
        OxmField::Ipv6NdTarget(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1).into()),
        OxmField::Ipv6NdSll(HOST.into()),
    ];
    means("nd.flow_mod", 6, flow(12, fields, []));
    let fields = [
        OxmField::EthType(EthType::IPV6),
        OxmField::IpProto(58),
        OxmField::Icmpv6Type(136),
        OxmField::Icmpv6Code(0),
        OxmField::Ipv6NdTarget(masked_by_prefix(FE80, 64)),
        OxmField::Ipv6NdTll(MacAddr::new([2, 0, 0, 0, 0, 2]).into()),
    ];
    means("na.flow_mod", 6, flow(13, fields, []));
}

#[test]
fn mpls() {
    let fields = [
        OxmField::EthType(EthType::MPLS),
        OxmField::MplsTc(3),
        OxmField::MplsBos(1),
        OxmField::MplsLabel(1000),
    ];
    means("mpls.flow_mod", 6, flow(14, fields, []));
}

const fn raw(class: OxmClass, field: u8, has_mask: bool, body: &'static [u8]) -> OxmField<'static> {
    OxmField::Unknown(RawOxm { class, field, has_mask, body: braid_openflow::Bytes(body) })
}

#[test]
fn fields_of_open_vswitch_are_kept_raw() {
    let fields = [
        OxmField::EthType(EthType::IPV4),
        raw(OxmClass::NXM_1, 26, true, &[1, 1]),
        raw(OxmClass::NXM_1, 31, false, &[192, 0, 2, 1]),
        raw(OxmClass::NXM_1, 3, false, &[0, 0, 0, 7]),
        raw(OxmClass::NXM_1, 105, true, &[0, 0, 0, 0x22, 0, 0, 0, 0x22]),
    ];
    means("foreign_fields.flow_mod", 6, flow(15, fields, []));
}

#[test]
fn rare_fields_and_lookalikes() {
    let dest_or_frag = Ipv6ExtHeaders::DEST | Ipv6ExtHeaders::FRAG;
    assert_eq!(Isid::from_u32(0xff01_0203).to_u32(), 0x01_0203);
    let onf = ExperimenterId::ONF.0.to_be_bytes();
    assert_eq!(onf, *b"ONF\0");
    let fields = [
        OxmField::PbbIsid(Masked::new(Isid::from_u32(0x01_0203), Isid::from_u32(0xff_ff00))),
        OxmField::Ipv6Exthdr(Masked::new(dest_or_frag, Ipv6ExtHeaders(0x1ff))),
        OxmField::Ipv6NdTll(MacAddr::new([2, 0, 0, 0, 0, 1]).into()),
        raw(OxmClass::OPENFLOW_BASIC, 5, true, &[0x08, 0x00, 0xff, 0x00]),
        OxmField::VlanPcp(7),
        raw(OxmClass::EXPERIMENTER, 42, true, b"ONF\0\0\x12"),
        OxmField::TcpFlags(Masked::new(TcpFlags::SYN, TcpFlags::SYN | TcpFlags::ACK)),
        raw(OxmClass::EXPERIMENTER, 42, false, &[0, 0, 0x23, 0x20, 0, 0x12]),
        raw(OxmClass::NXM_1, 5, false, &[0xab, 0xcd]),
    ];
    super::extensions::means_in_rare_flow("by_hand.flow_mod_rare_fields", 8, fields, []);
}
