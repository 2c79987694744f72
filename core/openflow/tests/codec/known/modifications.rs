//! Modification messages: flows, groups, meters, ports and tables.

use std::net::{Ipv4Addr, Ipv6Addr};

use braid_openflow::{
    Action, Bucket, Bytes, Cookie, EthType, ExperimenterId, FlowMod, FlowModCommand, FlowModFlags, GroupId,
    GroupMod, GroupModCommand, GroupType, Instruction, MaxLen, Message, Metadata, MeterBand, MeterFlags,
    MeterId, MeterMod, MeterModCommand, OxmField, PacketOut, PortConfig, PortFeatures, PortMod, QueueId,
    Seconds, TableId, TableMod, VlanVid,
};
use braid_types::{MacAddr, PortNo};

use super::means;
use crate::support::build::{apply, flow, list, matching};

const IPV4: OxmField<'_> = OxmField::EthType(EthType::IPV4);
const IPV6: OxmField<'_> = OxmField::EthType(EthType::IPV6);
const TCP: OxmField<'_> = OxmField::IpProto(6);
const LABEL: Action<'_> = Action::SetField(OxmField::EthDst(braid_openflow::Masked::exact(MAC)));
const MAC: MacAddr = MacAddr::new([2, 0, 0, 0, 0, 7]);

const fn out(port: u32) -> Action<'static> {
    output(PortNo(port))
}

// ovs-ofctl says 0 where the port is not the controller.
const fn output(port: PortNo) -> Action<'static> {
    Action::Output { port, max_len: MaxLen(0) }
}

#[test]
fn outputs() {
    let actions = [
        out(2),
        output(PortNo::IN_PORT),
        Action::Output { port: PortNo::CONTROLLER, max_len: MaxLen(128) },
        output(PortNo::LOCAL),
        output(PortNo::NORMAL),
        output(PortNo::FLOOD),
        output(PortNo::ALL),
    ];
    means("outputs.flow_mod", 6, flow(20, [], [apply(actions)]));
}

#[test]
fn set_fields() {
    let actions = [
        LABEL,
        Action::SetField(OxmField::Ipv4Dst(Ipv4Addr::new(10, 0, 0, 9).into())),
        Action::SetField(OxmField::TcpDst(80.into())),
        Action::SetField(OxmField::IpDscp(12)),
        Action::SetField(OxmField::TunnelId(Metadata(5).into())),
        out(1),
    ];
    means("set_fields.flow_mod", 6, flow(21, [IPV4, TCP], [apply(actions)]));
    let dst = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 9);
    let actions = [Action::SetField(OxmField::Ipv6Dst(dst.into())), Action::DecNwTtl, out(1)];
    means("set_fields6.flow_mod", 6, flow(22, [IPV6, TCP], [apply(actions)]));
}

#[test]
fn tags() {
    let actions = [
        Action::PushVlan(EthType::VLAN),
        Action::SetField(OxmField::VlanVid(VlanVid::tagged(100).into())),
        Action::PushMpls(EthType::MPLS),
        Action::SetField(OxmField::MplsLabel(7)),
        Action::SetMplsTtl(9),
        Action::DecMplsTtl,
        out(1),
    ];
    means("tags.flow_mod", 6, flow(23, [IPV4], [apply(actions)]));
    let actions = [Action::PopMpls(EthType::IPV4), Action::SetQueue(QueueId(1)), out(1)];
    means("untag.flow_mod", 6, flow(24, [OxmField::EthType(EthType::MPLS)], [apply(actions)]));
}

#[test]
fn instructions_flags_and_timeouts() {
    let instructions = [
        apply([out(1)]),
        Instruction::ClearActions,
        Instruction::WriteActions(list([out(2)])),
        Instruction::WriteMetadata { metadata: Metadata(0xab), metadata_mask: Metadata(0xff) },
        Instruction::GotoTable(TableId(9)),
    ];
    let Message::FlowMod(plain) = flow(26, [], instructions) else { unreachable!() };
    let expected = FlowMod {
        cookie: Cookie(0x1234_5678_90ab_cdef),
        idle_timeout: Seconds(30),
        hard_timeout: Seconds(300),
        flags: FlowModFlags::SEND_FLOW_REM
            | FlowModFlags::CHECK_OVERLAP
            | FlowModFlags::RESET_COUNTS
            | FlowModFlags::NO_PKT_COUNTS
            | FlowModFlags::NO_BYT_COUNTS,
        ..plain
    };
    means("instructions.flow_mod", 6, Message::FlowMod(expected));
}

#[test]
fn deletion_by_cookie_and_output() {
    let delete = FlowMod {
        cookie: Cookie(0x10),
        cookie_mask: Cookie(0xf0),
        table_id: TableId(7),
        command: FlowModCommand::Delete,
        out_port: PortNo(3),
        out_group: GroupId(4),
        ..FlowMod::default()
    };
    means("delete.flow_mod", 6, Message::FlowMod(delete));
}

#[test]
fn strict_commands() {
    let Message::FlowMod(plain) = flow(1, [OxmField::EthType(EthType(0x1234))], []) else { unreachable!() };
    let delete = FlowMod { command: FlowModCommand::DeleteStrict, ..plain };
    means("delete_strict.flow_mod", 6, Message::FlowMod(delete));
    let icmp = matching([IPV4, OxmField::IpProto(1), OxmField::Icmpv4Type(8), OxmField::Icmpv4Code(0)]);
    let Message::FlowMod(plain) = flow(9, [], [apply([out(2)])]) else { unreachable!() };
    let modify = FlowMod { command: FlowModCommand::ModifyStrict, matching: icmp, ..plain };
    means("modify_strict.flow_mod", 6, Message::FlowMod(modify));
}

#[test]
fn groups() {
    let buckets = [
        Bucket { weight: 3, actions: list([SET_8, out(1)]), ..Bucket::new(&[]) },
        Bucket { weight: 1, actions: list([out(2)]), ..Bucket::new(&[]) },
    ];
    means("group_select.group_mod", 6, group(GroupModCommand::Add, GroupType::Select, 2, buckets));
    let buckets = [
        Bucket { watch_port: PortNo(1), actions: list([out(1)]), ..Bucket::new(&[]) },
        Bucket { watch_group: GroupId(2), actions: list([Action::Group(GroupId(2))]), ..Bucket::new(&[]) },
    ];
    means("group_ff.group_mod", 6, group(GroupModCommand::Add, GroupType::Ff, 4, buckets));
    let one = [Bucket { actions: list([out(1)]), ..Bucket::new(&[]) }];
    means("group_indirect.group_mod", 6, group(GroupModCommand::Add, GroupType::Indirect, 3, one));
    means("group_may_create.group_mod", 6, group(GroupModCommand::AddOrMod, GroupType::All, 5, one));
    means("group_delete.group_mod", 6, group(GroupModCommand::Delete, GroupType::All, 5, []));
}

const SET_8: Action<'_> =
    Action::SetField(OxmField::EthDst(braid_openflow::Masked::exact(MacAddr::new([2, 0, 0, 0, 0, 8]))));

fn group<const N: usize>(
    command: GroupModCommand,
    group_type: GroupType,
    id: u32,
    buckets: [Bucket<'static>; N],
) -> Message<'static> {
    Message::GroupMod(GroupMod { command, group_type, group_id: GroupId(id), buckets: list(buckets) })
}

#[test]
fn meters() {
    let bands = list([MeterBand::Drop { rate: 1000, burst_size: 100 }]);
    let flags = MeterFlags::KBPS | MeterFlags::BURST | MeterFlags::STATS;
    means("meter_kbps.meter_mod", 2, meter(MeterModCommand::Add, flags, 1, bands));
    let bands = list([
        MeterBand::DscpRemark { rate: 10, burst_size: 0, prec_level: 1 },
        MeterBand::Drop { rate: 20, burst_size: 0 },
    ]);
    means("meter_remark_error.meter_mod", 2, meter(MeterModCommand::Add, MeterFlags::PKTPS, 2, bands));
    means("meter_delete.meter_mod", 2, meter(MeterModCommand::Delete, MeterFlags::NONE, 2, list([])));
    let flow = flow(31, [], [Instruction::Meter(MeterId(1)), apply([out(1)])]);
    means("meter_flow.flow_mod", 6, flow);
}

#[test]
fn meter_bands_of_every_kind() {
    let data = Bytes(&[0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
    let bands = list([
        MeterBand::Drop { rate: 1000, burst_size: 100 },
        MeterBand::DscpRemark { rate: 500, burst_size: 50, prec_level: 1 },
        MeterBand::Experimenter { rate: 1, burst_size: 2, experimenter: ExperimenterId::ONF, data },
        MeterBand::Unknown { band_type: 5, body: Bytes(&[0, 0, 0, 1, 0, 0, 0, 2]) },
    ]);
    let flags = MeterFlags::KBPS | MeterFlags::BURST | MeterFlags::STATS;
    means("by_hand.meter_mod", 12, meter(MeterModCommand::Modify, flags, 4, bands));
}

fn meter(
    command: MeterModCommand,
    flags: MeterFlags,
    id: u32,
    bands: braid_openflow::List<'static, MeterBand<'static>>,
) -> Message<'static> {
    Message::MeterMod(MeterMod { command, flags, meter_id: MeterId(id), bands })
}

#[test]
fn ports_and_tables() {
    let port_down = PortMod {
        port_no: PortNo(1),
        hw_addr: MacAddr::new([2, 0, 0, 0, 1, 1]),
        config: PortConfig::PORT_DOWN,
        mask: PortConfig::PORT_DOWN,
        advertise: PortFeatures::NONE,
    };
    means("port_down.port_mod", 4, Message::PortMod(port_down));
    let by_hand = PortMod {
        port_no: PortNo(3),
        hw_addr: MacAddr::new([2, 0, 0, 0, 0, 3]),
        mask: PortConfig::PORT_DOWN | PortConfig::NO_PACKET_IN,
        advertise: PortFeatures::ONE_GB_FD | PortFeatures::AUTONEG,
        ..port_down
    };
    means("by_hand.port_mod", 11, Message::PortMod(by_hand));
    let table = TableMod { table_id: TableId(1), config: 0 };
    means("requests.table_mod", 0x14, Message::TableMod(table));
}

#[test]
fn a_packet_to_send() {
    let bytes = crate::support::golden::bytes("packet_out.packet_out");
    let frame = &bytes[bytes.len() - 42..];
    let actions = [out(1), LABEL, out(2)];
    means("packet_out.packet_out", 6, Message::PacketOut(PacketOut::new(frame, &actions)));
}
