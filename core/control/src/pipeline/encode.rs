//! Encoding of rules and of the flood group, and requests for rules.

use braid_openflow::{
    Action, Bucket, Cookie as WireCookie, EncodeError, FlowMod, FlowModCommand, FlowModFlags,
    FlowStatsRequest, GroupMod, GroupModCommand, GroupType, List, Match, Message, MultipartFlags,
    MultipartRequest, RequestBody, Seconds, TableId, Xid,
};
use braid_steering::StreamId;
use braid_types::PortNo;

use super::flow;
use super::group_ids::FLOOD_GROUP;
use super::rule::Rule;
use super::table::Table;
use crate::cookie::{Cookie, OURS, OURS_MASK, Purpose};

/// Matches the cookies of one purpose by their upper bits.
const PURPOSE_MASK: WireCookie = WireCookie(0xffff_0000_0000_0000);

/// Adds or deletes a rule. Stream rules time out after `stream_idle` without packets.
pub(crate) fn encode_rule(
    command: FlowModCommand,
    rule: &Rule,
    stream_idle: Seconds,
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let (fields, applied) = (flow::matching(rule), flow::applied(rule));
    // Switches check the actions of deletions too, though only the match is used.
    let instructions = match command {
        FlowModCommand::DeleteStrict => flow::no_instructions(),
        _ => flow::instructions(rule, &applied),
    };
    let (idle_timeout, flags) = match rule {
        Rule::Stream { .. } => (stream_idle, FlowModFlags::SEND_FLOW_REM),
        Rule::AdvisedHandshake { .. } | Rule::TeardownCopy { .. } => (stream_idle, FlowModFlags::NONE),
        _ => (Seconds::PERMANENT, FlowModFlags::NONE),
    };
    let flow_mod = FlowMod {
        cookie: WireCookie(Cookie::new(rule.purpose()).0),
        table_id: TableId(rule.table() as u8),
        command,
        idle_timeout,
        priority: rule.priority(),
        flags,
        matching: Match::new(fields.as_slice()),
        instructions: List::new(instructions.as_slice()),
        ..FlowMod::default()
    };
    Message::FlowMod(flow_mod).encode(xid, out)
}

/// Removes all of Braid's rules and makes an empty flood group.
pub(crate) fn encode_reset(xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let flows = FlowMod {
        cookie: WireCookie(OURS.0),
        cookie_mask: WireCookie(OURS_MASK),
        table_id: TableId::ALL,
        command: FlowModCommand::Delete,
        ..FlowMod::default()
    };
    Message::FlowMod(flows).encode(xid, out)?;
    encode_flood(GroupModCommand::Delete, &[], xid, out)?;
    encode_flood(GroupModCommand::Add, &[], xid, out)
}

/// A request for the flows with Braid's cookies.
pub(crate) fn our_flows() -> RequestBody<'static> {
    let (cookie, cookie_mask) = (WireCookie(OURS.0), WireCookie(OURS_MASK));
    RequestBody::Flow(FlowStatsRequest { cookie, cookie_mask, ..FlowStatsRequest::default() })
}

/// Appends a request for all rules of a switch, whoever wrote them, or for those of one table.
///
/// Errors: none; the message is short.
pub fn read_rules(table: Option<TableId>, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let table_id = table.unwrap_or(TableId::ALL);
    let request = RequestBody::Flow(FlowStatsRequest { table_id, ..FlowStatsRequest::default() });
    Message::MultipartRequest(request.into()).encode(xid, out)
}

/// Creates, changes or deletes the flood group, with these ports.
pub(crate) fn encode_flood(
    command: GroupModCommand,
    ports: &[PortNo],
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let actions: Vec<[Action<'_>; 1]> = ports.iter().map(|port| [Action::output(*port)]).collect();
    let buckets: Vec<_> = actions.iter().map(|actions| Bucket::new(actions)).collect();
    let buckets = List::new(&buckets);
    let group = GroupMod { command, group_type: GroupType::All, group_id: FLOOD_GROUP, buckets };
    Message::GroupMod(group).encode(xid, out)
}

/// Appends a request for the counters of stream rules.
pub(crate) fn read_streams(xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let request = FlowStatsRequest {
        table_id: TableId(Table::Stream as u8),
        cookie: WireCookie(Cookie::new(Purpose::Stream { id: StreamId(0), reverse: false }).0),
        cookie_mask: PURPOSE_MASK,
        ..FlowStatsRequest::default()
    };
    Message::MultipartRequest(MultipartRequest {
        flags: MultipartFlags::NONE,
        body: RequestBody::Flow(request),
    })
    .encode(xid, out)
}
