//! Statistics of a switch.

use braid_openflow::{
    Action, ActionTypes, AggregateStats, BandTypes, BucketCounter, Cookie, Desc, EthType, FlowStatsRequest,
    GroupCapabilities, GroupFeatures, GroupId, GroupStats, GroupStatsRequest, GroupTypes, Instruction,
    Masked, MaxLen, Message, MeterBand, MeterBandStats, MeterConfig, MeterFeatures, MeterFlags, MeterId,
    MeterRequest, MeterStats, MultipartReply, MultipartRequest, OxmField, PortStatsRequest, QueueId,
    QueueStatsRequest, ReplyBody, RequestBody, TableId, TcpFlags, Text,
};
use braid_types::PortNo;

use super::means;
use crate::support::build::{list, matching};
use crate::support::golden;

fn request(name: &str, xid: u32, body: RequestBody<'static>) {
    means(name, xid, Message::MultipartRequest(MultipartRequest::from(body)));
}

fn reply(name: &str, xid: u32, body: ReplyBody<'_>) {
    means(name, xid, Message::MultipartReply(MultipartReply::from(body)));
}

/// The body of a reply whose counters and times are the recording's business.
fn body(bytes: &[u8]) -> ReplyBody<'_> {
    match Message::decode(bytes) {
        Ok((_, Message::MultipartReply(reply))) => reply.body,
        other => panic!("{other:?}"),
    }
}

#[test]
fn description() {
    let text = |text| Text::new(text).expect("short");
    let desc = Desc {
        mfr_desc: text("Nicira, Inc."),
        hw_desc: text("Open vSwitch"),
        sw_desc: text("3.1.0"),
        serial_num: Text::new("None").expect("short"),
        dp_desc: text("None"),
    };
    request("desc.multipart_request", 2, RequestBody::Desc);
    reply("desc.multipart_reply", 2, ReplyBody::Desc(desc));
}

#[test]
fn flow_requests() {
    request("flows.multipart_request", 2, RequestBody::Flow(FlowStatsRequest::default()));
    let of_table = FlowStatsRequest { table_id: TableId(7), ..FlowStatsRequest::default() };
    request("aggregate.multipart_request", 6, RequestBody::Aggregate(of_table));
    let selected = FlowStatsRequest {
        out_port: PortNo(1),
        cookie: Cookie(1),
        cookie_mask: Cookie(0xf),
        matching: matching([OxmField::EthType(EthType::IPV4), OxmField::IpProto(6)]),
        ..of_table
    };
    request("flows_of_match.multipart_request", 6, RequestBody::Flow(selected));
}

#[test]
fn flows() {
    let bytes = golden::bytes("flows.multipart_reply");
    let ReplyBody::Flow(flows) = body(&bytes) else { panic!("not flows") };
    assert_eq!(flows.iter().filter(|flow| flow.table_id == TableId(7)).count(), 26);
    let opening = OxmField::TcpFlags(Masked::new(TcpFlags::SYN, TcpFlags::SYN | TcpFlags::ACK));
    let is_opening = |fields: braid_openflow::Match<'_>| fields.fields.iter().any(|field| field == opening);
    let flow = flows.iter().find(|flow| is_opening(flow.matching)).expect("the flow of tcp_flags is there");
    assert_eq!((flow.priority, flow.cookie, flow.packet_count), (6, Cookie(0), 0));
    let out = [Action::Output { port: PortNo(1), max_len: MaxLen(0) }];
    assert_eq!(flow.instructions, list([Instruction::ApplyActions(list(out))]));
}

#[test]
fn sums_of_flows() {
    let sum = AggregateStats { packet_count: 0, byte_count: 0, flow_count: 26 };
    reply("aggregate.multipart_reply", 6, ReplyBody::Aggregate(sum));
}

#[test]
fn tables() {
    request("tables.multipart_request", 2, RequestBody::Table);
    let bytes = golden::bytes("tables.multipart_reply");
    let ReplyBody::Table(tables) = body(&bytes) else { panic!("not tables") };
    assert_eq!(tables.iter().count(), 10);
    let active = tables.iter().filter(|table| table.active_count > 0);
    let active: Vec<_> = active.map(|table| (table.table_id, table.active_count)).collect();
    assert_eq!(active, [(TableId(0), 1), (TableId(7), 26)]);
}

#[test]
fn ports() {
    request("ports.multipart_request", 2, RequestBody::Port(PortStatsRequest { port_no: PortNo::ANY }));
    request("port.multipart_request", 2, RequestBody::Port(PortStatsRequest { port_no: PortNo(1) }));
    let bytes = golden::bytes("ports.multipart_reply");
    let ReplyBody::Port(ports) = body(&bytes) else { panic!("not ports") };
    let numbers: Vec<_> = ports.iter().map(|port| port.port_no).collect();
    assert_eq!(numbers, [PortNo::LOCAL, PortNo(1), PortNo(2)]);
    assert!(ports.iter().all(|port| port.duration().as_secs() > 0));
}

#[test]
fn port_descriptions() {
    request("show.multipart_request", 3, RequestBody::PortDesc);
    let bytes = golden::bytes("show.multipart_reply");
    let ReplyBody::PortDesc(ports) = body(&bytes) else { panic!("not ports") };
    let names: Vec<_> = ports.iter().map(|port| port.name.to_string()).collect();
    assert_eq!(names, ["br0", "s1", "s2"]);
}

#[test]
fn queues() {
    let all = QueueStatsRequest { port_no: PortNo(1), queue_id: QueueId(0) };
    request("queues.multipart_request", 2, RequestBody::Queue(all));
    let bytes = golden::bytes("queues.multipart_reply");
    let ReplyBody::Queue(queues) = body(&bytes) else { panic!("not queues") };
    let queue = queues.iter().next().expect("one queue");
    assert_eq!((queue.port_no, queue.queue_id, queue.tx_bytes), (PortNo(1), QueueId(0), 0));
    assert!(queue.duration().as_secs() > 0);
}

#[test]
fn groups() {
    let of = |group| RequestBody::Group(GroupStatsRequest { group_id: GroupId(group) });
    request("groups_stats.multipart_request", 6, of(0xffff_fffc));
    request("group_stats.multipart_request", 6, of(2));
    let counter = BucketCounter { packet_count: 100, byte_count: 10_000 };
    let stats = GroupStats {
        group_id: GroupId(17),
        ref_count: 2,
        packet_count: 100,
        byte_count: 10_000,
        duration_sec: 60,
        duration_nsec: 1000,
        bucket_stats: list([counter]),
    };
    reply("by_hand.group_stats_reply", 18, ReplyBody::Group(list([stats])));
    let bytes = golden::bytes("groups_stats.multipart_reply");
    let ReplyBody::Group(groups) = body(&bytes) else { panic!("not groups") };
    let bucket_count = |group: GroupStats<'_>| (group.group_id.0, group.bucket_stats.iter().count());
    let mut buckets: Vec<_> = groups.iter().map(bucket_count).collect();
    buckets.sort_unstable();
    assert_eq!(buckets, [(1, 2), (2, 1), (3, 1), (4, 2)]);
}

#[test]
fn group_features() {
    let features = GroupFeatures {
        types: GroupTypes::ALL | GroupTypes::SELECT | GroupTypes::INDIRECT | GroupTypes::FF,
        capabilities: GroupCapabilities::SELECT_WEIGHT
            | GroupCapabilities::SELECT_LIVENESS
            | GroupCapabilities::CHAINING,
        max_groups: [0xffff_ff00; 4],
        actions: [ActionTypes(0x03ff_8001); 4],
    };
    request("group_features.multipart_request", 2, RequestBody::GroupFeatures);
    reply("group_features.multipart_reply", 2, ReplyBody::GroupFeatures(features));
    assert!(features.actions[0].contains(ActionTypes::SET_FIELD | ActionTypes::GROUP));
}

#[test]
fn meters() {
    let all = MeterRequest { meter_id: MeterId::ALL };
    request("meter_stats.multipart_request", 2, RequestBody::Meter(all));
    let stats = MeterStats {
        meter_id: MeterId(4),
        flow_count: 2,
        packet_in_count: 100,
        byte_in_count: 10_000,
        duration_sec: 60,
        duration_nsec: 1000,
        band_stats: list([MeterBandStats { packet_band_count: 5, byte_band_count: 500 }]),
    };
    reply("by_hand.meter_stats_reply", 19, ReplyBody::Meter(list([stats])));
    request("meter_config.multipart_request", 2, RequestBody::MeterConfig(all));
    // Open vSwitch makes up a burst size where none was given.
    let bands = list([MeterBand::Drop { rate: 2000, burst_size: 2000 }]);
    let config = MeterConfig { flags: MeterFlags::KBPS, meter_id: MeterId(1), bands };
    reply("meter_config.multipart_reply", 2, ReplyBody::MeterConfig(list([config])));
}

#[test]
fn meter_features() {
    let features = MeterFeatures {
        max_meter: 0x40000,
        band_types: BandTypes::DROP,
        capabilities: 0xf,
        max_bands: 8,
        max_color: 0,
    };
    request("meter_features.multipart_request", 2, RequestBody::MeterFeatures);
    reply("meter_features.multipart_reply", 2, ReplyBody::MeterFeatures(features));
}
