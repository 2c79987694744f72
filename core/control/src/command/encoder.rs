//! Encoding of commands as OpenFlow messages.

use std::time::Duration;

use braid_openflow::{
    Action, EncodeError, FlowModCommand, GroupModCommand, Message, MeterModCommand, PacketOut,
    PortStatsRequest, RequestBody, Seconds, Xid,
};
use braid_types::PortNo;

use super::{Command, Commands, Target};
use crate::event::UnknownRule;
use crate::pipeline::{
    FLOOD_GROUP, encode_bfd, encode_ecmp, encode_ecmp_removal, encode_flood, encode_protected_port,
    encode_question, encode_removal, encode_resequencer, encode_reset, encode_rule, encode_spray, meter,
    read_streams,
};

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
            Command::Reset { .. } => encode_reset(xid, out),
            Command::Add { rule, .. } => encode_rule(FlowModCommand::Add, rule, self.stream_idle, xid, out),
            Command::Delete { rule, .. } => {
                encode_rule(FlowModCommand::DeleteStrict, rule, self.stream_idle, xid, out)
            }
            Command::AddFlood { .. } => encode_flood(GroupModCommand::Add, &[], xid, out),
            Command::Remove { unknown, .. } => remove(unknown, xid, out),
            Command::Flood { ports, .. } => encode_flood(GroupModCommand::Modify, ports, xid, out),
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
            Command::SetBfd { port, is_on, .. } => encode_bfd(*port, *is_on, xid, out),
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
    Message::PacketOut(PacketOut::new(frame, &[Action::output(port)])).encode(xid, out)
}

fn read_ports(xid: Xid, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let request = RequestBody::Port(PortStatsRequest { port_no: PortNo::ANY });
    Message::MultipartRequest(request.into()).encode(xid, out)
}

#[cfg(test)]
mod tests {
    use braid_openflow::{Cookie, FlowMod, FlowStats, Match, OxmField, TableId};
    use braid_types::DatapathId;

    use super::*;

    #[test]
    fn an_unknown_rule_is_removed_by_its_own_table_priority_and_match() {
        let fields = [OxmField::InPort(PortNo(9)), OxmField::IpDscp(4)];
        let flow = FlowStats {
            table_id: TableId(3),
            duration_sec: 5,
            duration_nsec: 6,
            priority: 77,
            idle_timeout: Seconds::PERMANENT,
            hard_timeout: Seconds::PERMANENT,
            flags: FlowMod::default().flags,
            cookie: Cookie(crate::cookie::OURS.0),
            packet_count: 7,
            byte_count: 8,
            matching: Match::new(&fields),
            instructions: FlowMod::default().instructions,
        };
        assert_eq!(crate::pipeline::decode(&flow), None);
        let command = Command::Remove { dpid: DatapathId(1), unknown: UnknownRule::new(&flow) };
        let (encoder, mut bytes) = (Encoder::new(Duration::from_secs(60)), Vec::new());
        encoder.encode(&command, &Commands::default(), Xid(1), &mut bytes).expect("a short message");
        let Ok((_, Message::FlowMod(deletion))) = Message::decode(&bytes) else { panic!("not a flow") };
        assert_eq!(deletion.command, FlowModCommand::DeleteStrict);
        assert_eq!((deletion.table_id, deletion.priority), (TableId(3), 77));
        assert_eq!(deletion.matching, flow.matching);
    }
}
