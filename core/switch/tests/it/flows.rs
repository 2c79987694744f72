//! Flow-mods: dumps, counters, timeouts, changes, deletions and refusals.

use std::time::Duration;

use braid_openflow::{
    Action, EthType, FlowMod, FlowModCommand, FlowModFlags, FlowStatsRequest, Instruction, List, Match,
    Message, MultipartRequest, OxmField, RequestBody, Seconds, TableId,
};
use braid_types::PortNo;

use crate::bench::{Bench, output, tcp_v4};

fn dump(bench: &mut Bench) -> Vec<serde_json::Value> {
    let request = MultipartRequest::from(RequestBody::Flow(FlowStatsRequest::default()));
    let replies = bench.say(&Message::MultipartRequest(request));
    replies.iter().flat_map(|reply| reply["body"]["flow"].as_array().unwrap().clone()).collect()
}

#[test]
fn flows_say_what_made_them_and_count() {
    let mut bench = Bench::new();
    bench.all_do(&[output(2)]);
    let frame = tcp_v4(0);
    (0..3).for_each(|_| _ = bench.passes(1, &frame));
    let flows = dump(&mut bench);
    assert_eq!(flows.len(), 1);
    assert_eq!((&flows[0]["packet_count"], &flows[0]["byte_count"]), (&3.into(), &(3 * frame.len()).into()));
    assert_eq!(flows[0]["instructions"][0]["apply_actions"][0]["output"]["port"], 2);
}

#[test]
fn many_flows_come_in_parts() {
    let mut bench = Bench::new();
    for port in 0..2_000_u16 {
        let fields = [OxmField::EthType(EthType::IPV4), OxmField::IpProto(6), OxmField::TcpSrc(port.into())];
        bench.flow(1, 1, &fields, &[]);
    }
    assert_eq!(dump(&mut bench).len(), 2_000);
}

#[test]
fn flows_end_by_time_and_say_so() {
    let mut bench = Bench::new();
    let flow = |idle, hard, priority| FlowMod {
        idle_timeout: Seconds(idle),
        hard_timeout: Seconds(hard),
        priority,
        flags: FlowModFlags::SEND_FLOW_REM,
        ..FlowMod::default()
    };
    bench.tell(&Message::FlowMod(flow(0, 5, 1)));
    bench.tell(&Message::FlowMod(flow(3, 0, 2)));
    bench.tell(&Message::FlowMod(flow(0, 0, 3)));
    for seconds in [2, 3, 6] {
        bench.switch.handle_timeout(bench.now + Duration::from_secs(seconds));
    }
    let heard: Vec<_> = bench.heard().iter().map(|it| it["reason"].as_str().unwrap().to_owned()).collect();
    assert_eq!(heard, ["idle_timeout", "hard_timeout"]);
    assert_eq!(dump(&mut bench).len(), 1);
}

#[test]
fn changes_and_deletions_reach_what_they_name() {
    let mut bench = Bench::new();
    let v4 = [OxmField::EthType(EthType::IPV4)];
    let tcp = [OxmField::EthType(EthType::IPV4), OxmField::IpProto(6)];
    let to = |port: &'static [Action<'static>]| [Instruction::ApplyActions(List::new(port))];
    bench.flow(0, 5, &v4, &to(&const { [output(2)] }));
    bench.flow(0, 6, &tcp, &to(&const { [output(2)] }));
    let three = to(&const { [output(3)] });
    let change = FlowMod {
        command: FlowModCommand::ModifyStrict,
        priority: 5,
        matching: Match::new(&v4),
        instructions: List::from(&three),
        ..FlowMod::default()
    };
    bench.tell(&Message::FlowMod(change));
    assert_eq!(bench.ports(1, &tcp_v4(0)), [2]);
    let delete = FlowMod {
        command: FlowModCommand::Delete,
        table_id: TableId::ALL,
        out_port: PortNo(2),
        matching: Match::new(&v4),
        ..FlowMod::default()
    };
    bench.tell(&Message::FlowMod(delete));
    assert_eq!(bench.ports(1, &tcp_v4(0)), [3]);
    bench.tell(&Message::FlowMod(FlowMod { out_port: PortNo::ANY, ..delete }));
    assert!(dump(&mut bench).is_empty());
}

#[test]
fn what_cannot_be_done_is_refused_with_its_reason() {
    let mut bench = Bench::new();
    let refused =
        |bench: &mut Bench, flow_mod| bench.say(&Message::FlowMod(flow_mod))[0]["error"].to_string();
    let without_type = [OxmField::TcpDst(80.into())];
    let flow = FlowMod { matching: Match::new(&without_type), ..FlowMod::default() };
    assert_eq!(refused(&mut bench, flow), r#"{"bad_match":"bad_prereq"}"#);
    let mpls = [OxmField::MplsLabel(7)];
    let flow = FlowMod { matching: Match::new(&mpls), ..FlowMod::default() };
    assert_eq!(refused(&mut bench, flow), r#"{"bad_match":"bad_field"}"#);
    let back = [Instruction::GotoTable(TableId(0))];
    let flow = FlowMod { instructions: List::from(&back), ..FlowMod::default() };
    assert_eq!(refused(&mut bench, flow), r#"{"bad_instruction":"bad_table_id"}"#);
    let meter = [Instruction::Meter(braid_openflow::MeterId(1))];
    let flow = FlowMod { instructions: List::from(&meter), ..FlowMod::default() };
    assert_eq!(refused(&mut bench, flow), r#"{"bad_instruction":"unsup_inst"}"#);
    let normal = [Action::output(PortNo::NORMAL)];
    let todo = [Instruction::ApplyActions(List::from(&normal))];
    let flow = FlowMod { instructions: List::from(&todo), ..FlowMod::default() };
    assert_eq!(refused(&mut bench, flow), r#"{"bad_action":"bad_out_port"}"#);
    let flow = FlowMod { table_id: TableId(8), ..FlowMod::default() };
    assert_eq!(refused(&mut bench, flow), r#"{"flow_mod_failed":"bad_table_id"}"#);
    bench.tell(&Message::FlowMod(FlowMod::default()));
    let flow = FlowMod { flags: FlowModFlags::CHECK_OVERLAP, ..FlowMod::default() };
    assert_eq!(refused(&mut bench, flow), r#"{"flow_mod_failed":"overlap"}"#);
}

#[test]
fn packets_find_what_is_there_now_and_not_what_was() {
    let mut bench = Bench::new();
    let (two, three) = ([output(2)], [output(3)]);
    let to = |actions| [Instruction::ApplyActions(List::new(actions))];
    let flow = [OxmField::EthType(EthType::IPV4), OxmField::IpProto(6), OxmField::TcpDst(5_201.into())];
    bench.flow(0, 1, &[], &to(&two));
    bench.flow(0, 3, &[OxmField::InPort(PortNo(4))], &[]);
    assert_eq!(bench.ports(1, &tcp_v4(0)), [2]);
    bench.flow(0, 2, &flow, &to(&three));
    (0..3).for_each(|seq| assert_eq!(bench.ports(1, &tcp_v4(seq)), [3]));
    // What differs only where no flow looks is the same to the table; what differs where one looks is not.
    assert_eq!(bench.ports(4, &tcp_v4(0)), [0; 0]);
    let delete =
        FlowMod { command: FlowModCommand::Delete, matching: Match::new(&flow), ..FlowMod::default() };
    bench.tell(&Message::FlowMod(FlowMod { out_port: PortNo::ANY, ..delete }));
    assert_eq!(bench.ports(1, &tcp_v4(0)), [2]);
    assert_eq!(bench.ports(4, &tcp_v4(0)), [0; 0]);
}
