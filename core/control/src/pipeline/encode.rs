//! Encoding of commands as OpenFlow messages.

use std::time::Duration;

use braid_openflow::{
    Action, Bucket, Cookie as WireCookie, EncodeError, FlowMod, FlowModCommand, FlowModFlags,
    FlowStatsRequest, GroupId, GroupMod, GroupModCommand, GroupType, List, Match, Message, MeterModCommand,
    MultipartFlags, MultipartRequest, PacketOut, PortStatsRequest, RequestBody, Seconds, TableId, Xid,
};
use braid_steering::StreamId;
use braid_types::PortNo;

use super::ecmp::{encode_ecmp, encode_ecmp_removal};
use super::flow;
use super::group::encode_protected_port;
use super::meter;
use super::rule::{Rule, Table};
use super::spray::{encode_question, encode_removal, encode_resequencer, encode_spray};
use crate::command::{Command, Commands, Target};
use crate::cookie::{Cookie, OURS, OURS_MASK, Purpose};
use crate::event::UnknownRule;

/// The flood group of a switch.
pub const FLOOD_GROUP: GroupId = GroupId(1);

/// Matches the cookies of one purpose by their upper bits.
const PURPOSE_MASK: WireCookie = WireCookie(0xffff_0000_0000_0000);

/// Encodes commands as OpenFlow messages.
#[derive(Clone, Copy, Debug)]
pub struct Encoder {
    stream_idle: Seconds,
}

impl Encoder {
    /// An encoder whose stream rules time out after `stream_idle` without packets, in whole seconds, at least
    /// 1.
    pub fn new(stream_idle: Duration) -> Self {
        let seconds = u16::try_from(stream_idle.as_secs()).unwrap_or(u16::MAX);
        Self { stream_idle: Seconds(seconds.max(1)) }
    }

    /// Appends `command`, which belongs to `batch`, to `out`. A barrier uses its token as xid, other messages
    /// `xid`.
    ///
    /// Errors: a message would exceed 65,535 bytes. `out` may then end with a part of it.
    pub fn encode(
        &self,
        command: &Command,
        batch: &Commands,
        xid: Xid,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        match command {
            Command::Reset { .. } => reset(xid, out),
            Command::Add { rule, .. } => self.flow_mod(FlowModCommand::Add, rule, xid, out),
            Command::Delete { rule, .. } => self.flow_mod(FlowModCommand::DeleteStrict, rule, xid, out),
            Command::AddFlood { .. } => flood(GroupModCommand::Add, &[], xid, out),
            Command::Remove { unknown, .. } => remove(unknown, xid, out),
            Command::Flood { ports, .. } => flood(GroupModCommand::Modify, ports, xid, out),
            Command::AddProtectedPort { protected, .. } => {
                encode_protected_port(GroupModCommand::Add, protected, xid, out)
            }
            Command::SetProtectedPort { protected, .. } => {
                encode_protected_port(GroupModCommand::Modify, protected, xid, out)
            }
            Command::RemoveProtectedPort { protected, .. } => {
                encode_protected_port(GroupModCommand::Delete, protected, xid, out)
            }
            Command::SetEcmp { buckets, known, .. } => encode_ecmp(buckets, *known, xid, out),
            Command::RemoveEcmp { group, .. } => encode_ecmp_removal(*group, xid, out),
            Command::Spray { spray, .. } => encode_spray(spray, xid, out),
            Command::Resequence { resequencer, .. } => encode_resequencer(resequencer, xid, out),
            Command::RemoveEdgeGroup { group, .. } => encode_removal(*group, xid, out),
            Command::Send { target, frame, .. } => send(*target, batch.frame(frame), xid, out),
            Command::SetMeter { port, rate, known, .. } => {
                let command = if *known { MeterModCommand::Modify } else { MeterModCommand::Add };
                meter::set(command, *port, *rate, xid, out)
            }
            Command::DeleteMeter { port, .. } => meter::set(MeterModCommand::Delete, *port, 0, xid, out),
            Command::Barrier { token, .. } => Message::BarrierRequest.encode(Xid(*token), out),
            Command::ReadStreams { .. } => read_streams(xid, out),
            Command::ReadPorts { .. } => read_ports(xid, out),
            Command::ReadEdge { .. } => encode_question(xid, out),
        }
    }

    fn flow_mod(
        &self,
        command: FlowModCommand,
        rule: &Rule,
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
            Rule::Stream { .. } => (self.stream_idle, FlowModFlags::SEND_FLOW_REM),
            Rule::AdvisedHandshake { .. } | Rule::TeardownCopy { .. } => {
                (self.stream_idle, FlowModFlags::NONE)
            }
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
}

fn reset(xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let flows = FlowMod {
        cookie: WireCookie(OURS.0),
        cookie_mask: WireCookie(OURS_MASK),
        table_id: TableId::ALL,
        command: FlowModCommand::Delete,
        ..FlowMod::default()
    };
    Message::FlowMod(flows).encode(xid, out)?;
    flood(GroupModCommand::Delete, &[], xid, out)?;
    flood(GroupModCommand::Add, &[], xid, out)
}

fn remove(unknown: &UnknownRule, xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    // A deletion from elsewhere, such as a recording, may be invalid; it is not sent.
    match Message::decode(&unknown.0) {
        Ok((_, Message::FlowMod(deletion))) if deletion.command == FlowModCommand::DeleteStrict => {
            Message::FlowMod(deletion).encode(xid, out)
        }
        _ => Ok(()),
    }
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

fn flood(command: GroupModCommand, ports: &[PortNo], xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let actions: Vec<[Action<'_>; 1]> = ports.iter().map(|port| flow::output(*port)).collect();
    let buckets: Vec<_> = actions.iter().map(|actions| Bucket::new(actions)).collect();
    let buckets = List::new(&buckets);
    let group = GroupMod { command, group_type: GroupType::All, group_id: FLOOD_GROUP, buckets };
    Message::GroupMod(group).encode(xid, out)
}

fn send(target: Target, frame: &[u8], xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let port = match target {
        Target::Port(port) => port,
        Target::Pipeline => PortNo::TABLE,
        Target::Controller => PortNo::CONTROLLER,
        Target::Flood(in_port) => {
            let packet = PacketOut { in_port, ..PacketOut::new(frame, &[Action::Group(FLOOD_GROUP)]) };
            return Message::PacketOut(packet).encode(xid, out);
        }
    };
    Message::PacketOut(PacketOut::new(frame, &flow::output(port))).encode(xid, out)
}

fn read_streams(xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
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

fn read_ports(xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let request = RequestBody::Port(PortStatsRequest { port_no: PortNo::ANY });
    Message::MultipartRequest(request.into()).encode(xid, out)
}
