//! Rules read from switches for people who want to see them.

use std::io::{BufReader, Read};
use std::net::TcpStream;

use braid_openflow::{
    Action, BadRequestCode, Bytes, Cookie, ErrorCode, ErrorMsg, EthType, FlowModFlags, FlowStats,
    FlowStatsRequest, Instruction, List, Match, Message, MultipartFlags, MultipartReply, OxmField, ReplyBody,
    RequestBody, Seconds, TableId, Xid,
};
use braid_types::PortNo;
use serde_json::{Value, json};

use crate::support::{Running, Switch, wait_for};

/// A rule that no controller of Braid has written.
fn foreign(priority: u16) -> FlowStats<'static> {
    FlowStats {
        table_id: TableId(9),
        duration_sec: 60,
        duration_nsec: 0,
        priority,
        idle_timeout: Seconds(0),
        hard_timeout: Seconds(0),
        flags: FlowModFlags::NONE,
        cookie: Cookie(5),
        packet_count: u64::MAX,
        byte_count: 99,
        matching: Match::ANY,
        instructions: List::EMPTY,
    }
}

/// Braid's rule for discovery frames.
fn lldp() -> FlowStats<'static> {
    const FIELDS: &[OxmField<'_>] = &[OxmField::EthType(EthType::LLDP)];
    const ACTIONS: &[Action<'_>] = &[Action::output(PortNo::CONTROLLER)];
    const INSTRUCTIONS: &[Instruction<'_>] = &[Instruction::ApplyActions(List::new(ACTIONS))];
    FlowStats {
        table_id: TableId(0),
        cookie: Cookie(0xb7 << 56),
        packet_count: 7,
        matching: Match::new(FIELDS),
        instructions: List::new(INSTRUCTIONS),
        ..foreign(100)
    }
}

fn part<'a>(flags: MultipartFlags, rules: &'a [FlowStats<'a>]) -> Message<'a> {
    Message::MultipartReply(MultipartReply { flags, body: ReplyBody::Flow(List::new(rules)) })
}

/// A controller and switch 1, which has joined.
fn joined() -> (Running, Switch) {
    let controller = Running::start(None);
    let switch = Switch::join(controller.openflow, 1);
    controller.wait_for_switches(1);
    (controller, switch)
}

/// The next request for all rules of a switch, and its table.
fn asked(switch: &mut Switch) -> (Xid, TableId) {
    loop {
        let bytes = switch.receive().expect("open channel");
        let Ok((xid, Message::MultipartRequest(request))) = Message::decode(&bytes) else { continue };
        if let RequestBody::Flow(FlowStatsRequest { table_id, cookie_mask: Cookie(0), .. }) = request.body {
            return (xid, table_id);
        }
    }
}

/// Begins to ask.
fn ask(controller: &Running, switch: &str) -> BufReader<TcpStream> {
    controller.open("GET", &format!("/api/v1/switches/{switch}"), &["Host: localhost", "Connection: close"])
}

/// The status and the document of the answer.
fn answer(mut asking: BufReader<TcpStream>) -> (u16, Value) {
    let mut text = String::new();
    asking.read_to_string(&mut text).expect("an answer");
    let (head, body) = text.split_once("\r\n\r\n").expect("head and body");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, serde_json::from_str(body).expect("JSON"))
}

fn assert_refused(told: (u16, Value), status: u16, code: &str, words: &str) {
    let (found, problem) = told;
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(found == status && problem["code"] == code && detail.contains(words), "{found}: {problem}");
}

#[test]
fn rules_come_in_parts_and_are_told_with_their_purpose() {
    let (controller, mut switch) = joined();
    let asking = ask(&controller, "1/rules");
    let (xid, table) = asked(&mut switch);
    assert_eq!(table, TableId::ALL);
    switch.reply(Xid(xid.0 + 1_000), &part(MultipartFlags::NONE, &[foreign(3)]));
    switch.reply(xid, &part(MultipartFlags::MORE, &[foreign(1), foreign(2)]));
    switch.reply(xid, &part(MultipartFlags::NONE, &[lldp()]));
    let (status, told) = answer(asking);
    assert_eq!((status, &told["dpid"], &told["truncated"]), (200, &json!("0000000000000001"), &json!(false)));
    let rules = told["rules"].as_array().expect("rules");
    let places: Vec<_> =
        rules.iter().map(|rule| (rule["table"].as_u64(), rule["priority"].as_u64())).collect();
    assert_eq!(places, [(Some(0), Some(100)), (Some(9), Some(2)), (Some(9), Some(1))]);
    let discovery = json!({
        "table": 0, "table_name": "admit", "priority": 100, "match": "eth_type=0x88cc",
        "actions": "output:CONTROLLER", "group": null, "packets": 7, "bytes": 99, "age_seconds": 60,
        "cookie": "0xb700000000000000", "kind": "admission", "purpose": "discovery frames, to the controller",
        "stream": null, "transfer": null, "reverse": null, "label": null, "path": [], "path_names": [],
    });
    assert_eq!(rules[0], discovery);
    let other = &rules[1];
    assert!(
        other["kind"] == "foreign" && other["packets"].is_null() && other["table_name"].is_null(),
        "{other}"
    );
    assert_eq!((&other["match"], &other["actions"]), (&json!("any"), &json!("drop")));
}

#[test]
fn one_table_is_asked_for_alone() {
    let (controller, mut switch) = joined();
    let asking = ask(&controller, "0000000000000001/rules?table=9");
    let (xid, table) = asked(&mut switch);
    assert_eq!(table, TableId(9));
    switch.reply(xid, &part(MultipartFlags::NONE, &[]));
    assert_eq!(answer(asking).1["rules"], json!([]));
}

#[test]
fn a_switch_that_does_not_answer_is_given_up_and_can_be_asked_again() {
    let (controller, mut switch) = joined();
    let asking = ask(&controller, "1/rules");
    let (late, _) = asked(&mut switch);
    assert_refused(answer(asking), 504, "timeout", "switch 1 has not told its rules within 3 s");
    let asking = ask(&controller, "1/rules");
    let (xid, _) = asked(&mut switch);
    switch.reply(late, &part(MultipartFlags::NONE, &[foreign(1)]));
    switch.reply(xid, &part(MultipartFlags::NONE, &[foreign(2)]));
    let (status, told) = answer(asking);
    assert_eq!((status, &told["rules"][0]["priority"]), (200, &json!(2)));
}

#[test]
fn readers_of_the_same_share_an_answer_and_others_are_put_off() {
    let (controller, mut switch) = joined();
    let readers = [(); 2].map(|()| ask(&controller, "1/rules"));
    let (xid, _) = asked(&mut switch);
    assert_refused(answer(ask(&controller, "1/rules?table=1")), 503, "unavailable", "switch 1");
    switch.reply(xid, &part(MultipartFlags::NONE, &[foreign(1)]));
    for reader in readers {
        let (status, told) = answer(reader);
        assert_eq!((status, told["rules"].as_array().map(Vec::len)), (200, Some(1)));
    }
}

#[test]
fn a_switch_that_leaves_or_refuses_is_named() {
    let (controller, mut switch) = joined();
    let asking = ask(&controller, "1/rules");
    let (xid, _) = asked(&mut switch);
    let error = ErrorCode::BadRequest(BadRequestCode::BadMultipart);
    switch.reply(xid, &Message::Error(ErrorMsg { error, data: Bytes(&[]) }));
    assert_refused(answer(asking), 502, "refused", "BadMultipart");
    let asking = ask(&controller, "1/rules");
    asked(&mut switch);
    drop(switch);
    assert_refused(answer(asking), 503, "unavailable", "switch 1 has left");
    let told = || answer(ask(&controller, "1/rules"));
    wait_for(|| told().0 == 404, || format!("{:?}", told()));
    assert_refused(told(), 404, "not_found", "no switch 1 is connected");
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let (controller, mut switch) = joined();
    let told = |question| answer(ask(&controller, question));
    assert_refused(told("west/rules"), 404, "not_found", "\"west\" is no name");
    assert_refused(told("1/rules?table=255"), 400, "invalid", "from 0 to 254");
    assert_refused(told("1/rules?table=x"), 400, "invalid", "digit");
    let error = ErrorCode::BadRequest(BadRequestCode::IsSlave);
    switch.send(&Message::Error(ErrorMsg { error, data: Bytes(&[]) }));
    wait_for(|| controller.list("switches")[0]["role"] == "slave", || "still master".to_owned());
    assert_refused(told("1/rules"), 409, "not_master", "another controller");
}

#[test]
fn more_rules_than_are_listed_are_left_out_and_the_switch_stays() {
    let (controller, mut switch) = joined();
    let rules = [foreign(1); 1_000];
    let asking = ask(&controller, "1/rules");
    let (xid, _) = asked(&mut switch);
    (0..80).for_each(|_| switch.reply(xid, &part(MultipartFlags::MORE, &rules)));
    let (status, told) = answer(asking);
    let count = told["rules"].as_array().map(Vec::len);
    assert_eq!((status, &told["truncated"], count), (200, &json!(true), Some(5_000)));
    assert!(switch.is_served());
}
