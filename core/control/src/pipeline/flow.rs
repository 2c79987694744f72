//! The OpenFlow match and instructions of a rule.

use std::net::IpAddr;

use braid_openflow::{Action, EthType, Instruction, List, Masked, Metadata, OxmField, TableId, TcpFlags};
use braid_types::{FiveTuple, MacAddr, PortNo};

use super::actions::{leave, set_eth_dst, set_eth_src};
use super::group_ids::FLOOD_GROUP;
use super::hop::{Exit, Hop};
use super::meter;
use super::rule::Rule;
use super::table::Table;
use crate::label::{BYPASSES, GROUP_MASK, Label};

const TCP: u8 = 6;
const ICMPV6: u8 = 58;
const NEIGHBOUR_SOLICITATION: u8 = 135;
const NEIGHBOUR_ADVERTISEMENT: u8 = 136;
const MULTICAST_BIT: MacAddr = MacAddr::new([1, 0, 0, 0, 0, 0]);
/// The metadata of SYN/ACKs: rules that match it are looked at for no other packet.
const ANSWER: Metadata = Metadata(1);
const SYN_OR_ACK: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0);

/// Up to `N` values on the stack.
pub(super) struct FixedVec<T, const N: usize> {
    values: [T; N],
    len: usize,
}

impl<T: Copy, const N: usize> FixedVec<T, N> {
    fn new<const M: usize>(filler: T, values: [T; M]) -> Self {
        const { assert!(M <= N) };
        let mut few = Self { values: [filler; N], len: M };
        few.values[..M].copy_from_slice(&values);
        few
    }

    /// Appends a value if there is room.
    fn push(&mut self, value: T) {
        if let Some(match_key) = self.values.get_mut(self.len) {
            *match_key = value;
            self.len += 1;
        }
    }

    pub(super) fn as_slice(&self) -> &[T] {
        &self.values[..self.len]
    }
}

/// The match fields.
pub(super) type Fields = FixedVec<OxmField<'static>, 8>;
/// The instructions.
type Instructions<'a> = FixedVec<Instruction<'a>, 3>;
/// The applied actions.
pub(super) type Actions = FixedVec<Action<'static>, 2>;

fn fields<const M: usize>(values: [OxmField<'static>; M]) -> Fields {
    FixedVec::new(OxmField::InPort(PortNo::ANY), values)
}

fn actions<const M: usize>(values: [Action<'static>; M]) -> Actions {
    FixedVec::new(Action::PopVlan, values)
}

/// The match of a rule.
pub(super) fn matching(rule: &Rule) -> Fields {
    match *rule {
        Rule::Lldp => fields([OxmField::EthType(EthType::LLDP)]),
        Rule::FromController => fields([OxmField::InPort(PortNo::CONTROLLER)]),
        Rule::FromLink { port } | Rule::FromHost { port } => fields([OxmField::InPort(port)]),
        Rule::Arp | Rule::NoArpRoute => fields([OxmField::EthType(EthType::ARP)]),
        Rule::NeighborCopy { port, traffic } => {
            let mut fields = from_port(port, &matching(&traffic.base()));
            fields.push(OxmField::EthDst(Masked::new(MacAddr::ZERO, MULTICAST_BIT)));
            fields
        }
        Rule::ArpRoute { dst, .. } | Rule::ArpLocalRoute { dst } | Rule::ArpDeliver { dst, .. } => {
            fields([OxmField::EthType(EthType::ARP), OxmField::ArpTpa(Masked::exact(dst))])
        }
        Rule::FromBypass { port } => {
            let [value, mask] = BYPASSES;
            fields([OxmField::InPort(port), OxmField::EthSrc(Masked::new(value, mask))])
        }
        Rule::NeighborSolicitation => icmpv6(NEIGHBOUR_SOLICITATION),
        Rule::NeighborAdvertisement => icmpv6(NEIGHBOUR_ADVERTISEMENT),
        Rule::HeldSynOfLastPort { ipv6 } => {
            let port = OxmField::TcpSrc(Masked::exact(u16::MAX));
            fields([OxmField::EthType(eth_type(ipv6)), OxmField::IpProto(TCP), port])
        }
        Rule::Syn { ipv6 } => tcp_flags(ipv6, TcpFlags::SYN, SYN_OR_ACK),
        Rule::SynAckToLastPort { ipv6 } => fields([
            OxmField::Metadata(Masked::exact(ANSWER)),
            OxmField::EthType(eth_type(ipv6)),
            OxmField::IpProto(TCP),
            OxmField::TcpDst(Masked::exact(u16::MAX)),
        ]),
        Rule::Metered { port, class } => from_port(port, &matching(&class.base())),
        Rule::SynAck { ipv6, port } => from_port(port, &tcp_flags(ipv6, SYN_OR_ACK, SYN_OR_ACK)),
        Rule::Reset { ipv6, port } => from_port(port, &tcp_flags(ipv6, TcpFlags::RST, TcpFlags::RST)),
        Rule::SourceFilter { port, src } => {
            fields([OxmField::InPort(port), OxmField::EthType(eth_type(src.is_ipv6())), ip_src(src)])
        }
        Rule::NoStream | Rule::HeldSyn => fields([]),
        Rule::Broadcast | Rule::FabricBroadcast => {
            fields([OxmField::EthDst(Masked::new(MULTICAST_BIT, MULTICAST_BIT))])
        }
        Rule::NoRoute { ipv6 } => fields([OxmField::EthType(eth_type(ipv6))]),
        Rule::AdvisedHandshake { port, tuple } => {
            let mut fields = from_port(port, &five_tuple(&tuple));
            fields.push(OxmField::TcpFlags(Masked::new(TcpFlags::SYN, TcpFlags::SYN)));
            fields
        }
        Rule::TeardownCopy { port, tuple, reset } => {
            let mut fields = from_port(port, &five_tuple(&tuple));
            let flag = if reset { TcpFlags::RST } else { TcpFlags::FIN };
            fields.push(OxmField::TcpFlags(Masked::new(flag, flag)));
            fields
        }
        Rule::Stream { tuple, .. } | Rule::Resequence { tuple, .. } => five_tuple(&tuple),
        Rule::Route { dst, .. } | Rule::LocalRoute { dst } | Rule::Deliver { dst, .. } => {
            fields([OxmField::EthType(eth_type(dst.is_ipv6())), ip_dst(dst)])
        }
        Rule::Transit(Hop { label, exit: Exit::Protected { from }, .. })
            if label.is_group() && from.0 != 0 =>
        {
            fields([OxmField::InPort(from), labelled(label)])
        }
        Rule::Transit(Hop { label, .. }) | Rule::Egress { label } => fields([labelled(label)]),
        Rule::Hairpin { label, port } => fields([OxmField::InPort(port), labelled(label)]),
        Rule::Bypass { label, .. } | Rule::BypassEnd { label } => {
            fields([OxmField::EthSrc(Masked::exact(label.bypass_mac()))])
        }
    }
}

/// The applied actions of a rule.
pub(super) fn applied(rule: &Rule) -> Actions {
    match *rule {
        Rule::Lldp
        | Rule::Arp
        | Rule::NeighborSolicitation
        | Rule::NeighborAdvertisement
        | Rule::HeldSyn
        | Rule::HeldSynOfLastPort { .. }
        | Rule::SynAck { .. }
        | Rule::Reset { .. }
        | Rule::TeardownCopy { .. }
        | Rule::NeighborCopy { .. }
        | Rule::NoArpRoute
        | Rule::NoRoute { .. } => actions([Action::output(PortNo::CONTROLLER)]),
        Rule::Metered { class, .. } => applied(&class.base()),
        Rule::Broadcast | Rule::FabricBroadcast => actions([Action::Group(FLOOD_GROUP)]),
        Rule::Stream { hop, .. } | Rule::Route { hop, .. } | Rule::ArpRoute { hop, .. }
            if hop.is_over_several_paths() =>
        {
            actions([leave(hop)])
        }
        Rule::Resequence { group, .. } => actions([Action::Group(group.id())]),
        Rule::Stream { hop, .. } | Rule::Route { hop, .. } | Rule::ArpRoute { hop, .. } => {
            actions([set_eth_dst(hop.label.mac()), leave(hop)])
        }
        Rule::Transit(hop) => actions([leave(hop)]),
        Rule::Deliver { mac, port, .. } | Rule::ArpDeliver { mac, port, .. } => {
            actions([set_eth_dst(mac), Action::output(port)])
        }
        Rule::Hairpin { .. } => actions([Action::output(PortNo::IN_PORT)]),
        Rule::Bypass { port, .. } => actions([Action::output(port)]),
        Rule::BypassEnd { .. } => actions([set_eth_src(Label::NONE)]),
        Rule::FromController
        | Rule::FromLink { .. }
        | Rule::FromBypass { .. }
        | Rule::FromHost { .. }
        | Rule::Syn { .. }
        | Rule::AdvisedHandshake { .. }
        | Rule::SourceFilter { .. }
        | Rule::NoStream
        | Rule::SynAckToLastPort { .. }
        | Rule::LocalRoute { .. }
        | Rule::ArpLocalRoute { .. }
        | Rule::Egress { .. } => actions([]),
    }
}

/// The next table for the rule's packets.
pub(super) fn next_table(rule: &Rule) -> Option<Table> {
    match rule {
        Rule::Syn { .. } => Some(Table::Syn),
        Rule::Metered { class, .. } => next_table(&class.base()),
        Rule::FromController
        | Rule::FromHost { .. }
        | Rule::AdvisedHandshake { .. }
        | Rule::TeardownCopy { .. }
        | Rule::SynAck { .. }
        | Rule::Reset { .. }
        | Rule::NeighborCopy { .. } => Some(Table::Stream),
        Rule::NoStream | Rule::SynAckToLastPort { .. } => Some(Table::Route),
        Rule::LocalRoute { .. } | Rule::ArpLocalRoute { .. } | Rule::Egress { .. } => Some(Table::Deliver),
        Rule::FromBypass { .. } => Some(Table::Bypass),
        Rule::FromLink { .. } | Rule::BypassEnd { .. } => Some(Table::Fabric),
        _ => None,
    }
}

/// The rule's instructions; `applied` are its actions.
pub(super) fn instructions<'a>(rule: &Rule, applied: &'a Actions) -> Instructions<'a> {
    let act = Instruction::ApplyActions(List::new(applied.as_slice()));
    let goto = next_table(rule).map(|table| Instruction::GotoTable(TableId(table as u8)));
    match (applied.as_slice().is_empty(), goto, rule) {
        (_, _, Rule::Metered { port, .. }) => {
            let meter = Instruction::Meter(meter::id(*port));
            FixedVec::new(meter, [meter, goto.unwrap_or(act)])
        }
        (_, Some(goto), Rule::SynAck { .. }) => {
            let mark = Instruction::WriteMetadata { metadata: ANSWER, metadata_mask: Metadata(u64::MAX) };
            FixedVec::new(act, [act, mark, goto])
        }
        (true, Some(goto), _) => FixedVec::new(goto, [goto]),
        (true, None, _) => FixedVec::new(act, []),
        (false, Some(goto), _) => FixedVec::new(act, [act, goto]),
        (false, None, _) => FixedVec::new(act, [act]),
    }
}

/// The instructions of a deletion.
pub(super) fn no_instructions<'a>() -> Instructions<'a> {
    FixedVec::new(Instruction::ClearActions, [])
}

/// Matches this label, or all labels of this group.
fn labelled(label: Label) -> OxmField<'static> {
    let mac = label.mac();
    OxmField::EthDst(if label.is_group() { Masked::new(mac, GROUP_MASK) } else { Masked::exact(mac) })
}

fn icmpv6(kind: u8) -> Fields {
    fields([OxmField::EthType(EthType::IPV6), OxmField::IpProto(ICMPV6), OxmField::Icmpv6Type(kind)])
}

fn tcp_flags(ipv6: bool, flags: TcpFlags, among: TcpFlags) -> Fields {
    let flags = OxmField::TcpFlags(Masked::new(flags, among));
    fields([OxmField::EthType(eth_type(ipv6)), OxmField::IpProto(TCP), flags])
}

fn from_port(port: PortNo, more: &Fields) -> Fields {
    let mut fields = fields([OxmField::InPort(port)]);
    for field in more.as_slice() {
        fields.push(*field);
    }
    fields
}

fn five_tuple(tuple: &FiveTuple) -> Fields {
    fields([
        OxmField::EthType(eth_type(tuple.dst.is_ipv6())),
        OxmField::IpProto(TCP),
        ip_src(tuple.src),
        ip_dst(tuple.dst),
        OxmField::TcpSrc(Masked::exact(tuple.src_port)),
        OxmField::TcpDst(Masked::exact(tuple.dst_port)),
    ])
}

fn ip_src(ip: IpAddr) -> OxmField<'static> {
    match ip {
        IpAddr::V4(ip) => OxmField::Ipv4Src(Masked::exact(ip)),
        IpAddr::V6(ip) => OxmField::Ipv6Src(Masked::exact(ip)),
    }
}

fn ip_dst(ip: IpAddr) -> OxmField<'static> {
    match ip {
        IpAddr::V4(ip) => OxmField::Ipv4Dst(Masked::exact(ip)),
        IpAddr::V6(ip) => OxmField::Ipv6Dst(Masked::exact(ip)),
    }
}

const fn eth_type(ipv6: bool) -> EthType {
    if ipv6 { EthType::IPV6 } else { EthType::IPV4 }
}
