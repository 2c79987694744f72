//! Open vSwitch as the reader of messages that this crate writes.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::Command;

use braid_openflow::{
    Action, AsyncConfig, BadActionCode, Bucket, Bytes, ControllerRole, Cookie, DecodeError, ErrorCode,
    ErrorMsg, EthType, FlowMod, FlowModCommand, FlowModFlags, FlowRemovedReasons, FlowStatsRequest, GroupId,
    GroupMod, GroupModCommand, GroupType, Instruction, Masked, Message, Metadata, MeterBand, MeterFlags,
    MeterId, MeterMod, MeterModCommand, MultipartRequest, OxmField, PacketInReasons, PacketOut, PortReasons,
    PortStatsRequest, QueueId, QueueStatsRequest, RequestBody, Role, Seconds, TableId, TcpFlags, VlanVid,
    Xid,
};
use braid_types::{MacAddr, PortNo};

use crate::support::build::{apply, flow, list, matching};
use crate::support::golden;
use crate::support::tool::run;

const LABEL: MacAddr = MacAddr::new([2, 0, 0, 0, 0, 7]);
const SET_LABEL: Action<'_> = Action::SetField(OxmField::EthDst(Masked::exact(LABEL)));

fn print(bytes: &[u8]) -> String {
    run("openvswitch-common", Command::new("ovs-ofctl").args(["ofp-print", &hex::encode(bytes)]))
}

/// Open vSwitch prints `message` as `expected`.
fn prints(message: Message<'_>, expected: &str) {
    let mut bytes = Vec::new();
    message.encode(Xid(1), &mut bytes).expect("encodes");
    assert_eq!(print(&bytes).trim_end(), expected);
}

/// Open vSwitch prints the flow-mod as `expected` after its head. If it adds a flow without more, it reads the flow's
/// text as the same.
fn prints_flow(message: Message<'_>, expected: &str) {
    prints(message, &format!("OFPT_FLOW_MOD (OF1.3) (xid=0x1): {expected}"));
    let Message::FlowMod(flow) = message else { panic!("no flow") };
    let FlowMod { table_id, priority, matching, instructions, .. } = flow;
    if flow != (FlowMod { table_id, priority, matching, instructions, ..FlowMod::default() }) {
        return;
    }
    let fields = if matching.fields.is_empty() { String::new() } else { format!(",{matching}") };
    let text = format!("table={table_id},priority={priority}{fields} actions={instructions}");
    assert_eq!(parse(&text).as_deref(), Some(expected), "{text}");
}

/// What Open vSwitch makes of a flow's text, without the head.
fn parse(text: &str) -> Option<String> {
    let read = run(
        "openvswitch-common",
        Command::new("ovs-ofctl").args(["--protocols=OpenFlow13", "parse-flow", text]),
    );
    let (_, flow) = read.lines().find_map(|line| line.strip_prefix("OFPT_FLOW_MOD ")?.split_once(": "))?;
    Some(flow.to_owned())
}

#[test]
fn flows_that_steer_a_stream() {
    let stream = [
        OxmField::EthType(EthType::IPV4),
        OxmField::IpProto(6),
        OxmField::Ipv4Src(Ipv4Addr::new(10, 0, 0, 1).into()),
        OxmField::Ipv4Dst(Ipv4Addr::new(10, 0, 0, 2).into()),
        OxmField::TcpSrc(40_000.into()),
        OxmField::TcpDst(2811.into()),
    ];
    let actions = apply([SET_LABEL, Action::output(PortNo(3))]);
    prints_flow(
        flow(40, stream, [actions]),
        "ADD table:7 priority=40,tcp,nw_src=10.0.0.1,nw_dst=10.0.0.2,tp_src=40000,tp_dst=2811 \
         actions=set_field:02:00:00:00:00:07->eth_dst,output:3",
    );
    let fields = [OxmField::EthDst(LABEL.into())];
    prints_flow(
        flow(1, fields, [Instruction::GotoTable(TableId(9))]),
        "ADD table:7 priority=1,dl_dst=02:00:00:00:00:07 actions=goto_table:9",
    );
}

#[test]
fn flows_that_watch_connections_open() {
    let opening = OxmField::TcpFlags(Masked::new(TcpFlags::SYN, TcpFlags::SYN | TcpFlags::ACK));
    let fields =
        [OxmField::InPort(PortNo(4)), OxmField::EthType(EthType::IPV6), OxmField::IpProto(6), opening];
    prints_flow(
        flow(50, fields, [apply([Action::output(PortNo::CONTROLLER)])]),
        "ADD table:7 priority=50,tcp6,in_port=4,tcp_flags=+syn-ack actions=CONTROLLER:65535",
    );
    let accepted = OxmField::TcpFlags((TcpFlags::SYN | TcpFlags::ACK).into());
    let fields = [OxmField::EthType(EthType::IPV4), OxmField::IpProto(6), accepted];
    prints_flow(flow(51, fields, []), "ADD table:7 priority=51,tcp,tcp_flags=syn|ack actions=drop");
}

#[test]
fn masks_of_every_width() {
    let prefix = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0);
    let mask = Ipv6Addr::new(0xffff, 0xffff, 0, 0, 0, 0, 0, 0);
    let fields = [
        OxmField::Metadata(Masked::new(Metadata(0x10), Metadata(0xf0))),
        OxmField::VlanVid(VlanVid::tagged(100).into()),
        OxmField::VlanPcp(3),
        OxmField::EthType(EthType::IPV6),
        OxmField::Ipv6Src(Masked::new(prefix, mask)),
        OxmField::Ipv6Flabel(0x12345.into()),
        OxmField::IpDscp(46),
    ];
    prints_flow(
        flow(60, fields, []),
        "ADD table:7 priority=60,ipv6,metadata=0x10/0xf0,dl_vlan=100,dl_vlan_pcp=3,\
         ipv6_src=2001:db8::/32,ipv6_label=0x12345,nw_tos=184 actions=drop",
    );
}

#[test]
fn commands_flags_and_timeouts() {
    let delete = FlowMod {
        command: FlowModCommand::Delete,
        table_id: TableId::ALL,
        cookie: Cookie(0xb0),
        cookie_mask: Cookie(0xff),
        out_port: PortNo(3),
        ..FlowMod::default()
    };
    prints_flow(Message::FlowMod(delete), "DEL table:255 cookie:0xb0/0xff out_port:3 actions=drop");
    let timed = FlowMod {
        idle_timeout: Seconds(10),
        hard_timeout: Seconds(60),
        cookie: Cookie(7),
        flags: FlowModFlags::SEND_FLOW_REM | FlowModFlags::CHECK_OVERLAP,
        instructions: list([Instruction::Meter(MeterId(5)), apply([Action::Group(GroupId(6))])]),
        ..FlowMod::default()
    };
    prints_flow(
        Message::FlowMod(timed),
        "ADD cookie:0x7 idle:10 hard:60 send_flow_rem check_overlap actions=meter:5,group:6",
    );
}

#[test]
fn actions_of_every_kind() {
    let actions = apply([
        Action::PushVlan(EthType::VLAN),
        Action::SetField(OxmField::VlanVid(VlanVid::tagged(5).into())),
        Action::PopVlan,
        Action::PushMpls(EthType::MPLS),
        Action::SetField(OxmField::MplsLabel(16)),
        Action::SetMplsTtl(9),
        Action::DecMplsTtl,
        Action::PopMpls(EthType::IPV4),
        Action::DecNwTtl,
        Action::SetNwTtl(3),
        Action::SetQueue(QueueId(2)),
        Action::output(PortNo::IN_PORT),
    ]);
    prints_flow(
        flow(1, [OxmField::EthType(EthType::IPV4)], [actions]),
        "ADD table:7 priority=1,ip actions=push_vlan:0x8100,set_field:4101->vlan_vid,pop_vlan,push_mpls:0x8847,\
         set_field:16->mpls_label,set_mpls_ttl(9),dec_mpls_ttl,pop_mpls:0x0800,dec_ttl,mod_nw_ttl:3,set_queue:2,\
         IN_PORT",
    );
}

#[test]
fn instructions_of_every_kind() {
    let instructions = [
        apply([Action::output(PortNo(1))]),
        Instruction::ClearActions,
        Instruction::WriteActions(list([Action::output(PortNo(2))])),
        Instruction::WriteMetadata { metadata: Metadata(1), metadata_mask: Metadata(0xf) },
        Instruction::GotoTable(TableId(8)),
    ];
    prints_flow(
        flow(1, [], instructions),
        "ADD table:7 priority=1 actions=output:1,clear_actions,write_actions(output:2),write_metadata:0x1/0xf,\
         goto_table:8",
    );
}

#[test]
fn groups_and_meters() {
    let buckets = [
        Bucket { weight: 3, actions: list([SET_LABEL, Action::output(PortNo(1))]), ..Bucket::new(&[]) },
        Bucket { weight: 2, actions: list([Action::output(PortNo(2))]), ..Bucket::new(&[]) },
    ];
    let group = GroupMod {
        command: GroupModCommand::Add,
        group_type: GroupType::Select,
        group_id: GroupId(8),
        buckets: list(buckets),
    };
    prints(
        Message::GroupMod(group),
        "OFPT_GROUP_MOD (OF1.3) (xid=0x1):\n ADD group_id=8,type=select,\
         bucket=weight:3,actions=set_field:02:00:00:00:00:07->eth_dst,output:1,\
         bucket=weight:2,actions=output:2",
    );
    let meter = MeterMod {
        command: MeterModCommand::Modify,
        flags: MeterFlags::KBPS | MeterFlags::BURST,
        meter_id: MeterId(4),
        bands: list([
            MeterBand::Drop { rate: 100, burst_size: 10 },
            MeterBand::DscpRemark { rate: 50, burst_size: 5, prec_level: 1 },
        ]),
    };
    prints(
        Message::MeterMod(meter),
        "OFPT_METER_MOD (OF1.3) (xid=0x1): MOD meter=4 kbps burst bands=\n\
         type=drop rate=100 burst_size=10\n\
         type=dscp_remark rate=50 burst_size=5 prec_level=1",
    );
}

#[test]
fn requests() {
    let request = |body| Message::MultipartRequest(MultipartRequest::from(body));
    let flows = FlowStatsRequest {
        table_id: TableId(3),
        cookie: Cookie(0xb0),
        cookie_mask: Cookie(0xff),
        matching: matching([OxmField::EthType(EthType::ARP)]),
        ..FlowStatsRequest::default()
    };
    prints(request(RequestBody::Flow(flows)), "OFPST_FLOW request (OF1.3) (xid=0x1): table=3 arp");
    let port = PortStatsRequest { port_no: PortNo(2) };
    prints(request(RequestBody::Port(port)), "OFPST_PORT request (OF1.3) (xid=0x1): port_no=2");
    let queues = QueueStatsRequest { port_no: PortNo::ANY, queue_id: QueueId::ALL };
    prints(request(RequestBody::Queue(queues)), "OFPST_QUEUE request (OF1.3) (xid=0x1): port=ANY queue=ALL");
    prints(request(RequestBody::GroupDesc), "OFPST_GROUP_DESC request (OF1.3) (xid=0x1): group_id=ALL");
    prints(request(RequestBody::TableFeatures(list([]))), "OFPST_TABLE_FEATURES request (OF1.3) (xid=0x1):");
}

#[test]
fn roles_and_what_they_hear() {
    let role = Role { role: ControllerRole::Master, generation_id: 9 };
    prints(Message::RoleRequest(role), "OFPT_ROLE_REQUEST (OF1.3) (xid=0x1): role=primary generation_id=9");
    let none = AsyncConfig {
        packet_in_mask: [PacketInReasons::NO_MATCH, PacketInReasons::NONE],
        port_status_mask: [PortReasons::MODIFY, PortReasons::NONE],
        flow_removed_mask: [FlowRemovedReasons::HARD_TIMEOUT, FlowRemovedReasons::NONE],
    };
    let mut bytes = Vec::new();
    Message::SetAsync(none).encode(Xid(1), &mut bytes).expect("encodes");
    let text = print(&bytes);
    for line in ["PACKET_IN: no_match\n", "PORT_STATUS: modify\n", "FLOW_REMOVED: hard\n"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn packets_to_send() {
    let packet = PacketOut::new(
        &[0xff; 60],
        &[Action::Output { port: PortNo(2), max_len: braid_openflow::MaxLen(0) }],
    );
    let mut bytes = Vec::new();
    Message::PacketOut(packet).encode(Xid(1), &mut bytes).expect("encodes");
    let expected = "OFPT_PACKET_OUT (OF1.3) (xid=0x1): in_port=CONTROLLER actions=output:2 data_len=60\n";
    assert!(print(&bytes).starts_with(expected), "{}", print(&bytes));
}

#[test]
fn refusals() {
    let error = DecodeError::Length { what: braid_openflow::Part::Action, length: 7 };
    assert_eq!(error.error_code(), ErrorCode::BadAction(BadActionCode::BadLen));
    let message =
        Message::Error(ErrorMsg { error: error.error_code(), data: Bytes(&[4, 20, 0, 8, 0, 0, 0, 9]) });
    prints(message, "OFPT_ERROR (OF1.3) (xid=0x1): OFPBAC_BAD_LEN\nOFPT_BARRIER_REQUEST (OF1.3) (xid=0x9):");
}

#[test]
fn recorded_messages_sent_again_read_the_same() {
    for name in ["flows.multipart_reply", "groups.multipart_reply", "table_features.multipart_reply"] {
        let bytes = golden::bytes(name);
        let (xid, message) = Message::decode(&bytes).expect("decodes");
        let mut again = Vec::new();
        crate::support::rebuild::message(message).encode(xid, &mut again).expect("encodes");
        assert_eq!(print(&again), print(&bytes), "{name}");
    }
}
