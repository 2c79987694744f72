//! Messages of controllers, and replies.

use braid_edge_protocol::extension::{BRAID, Extension};
use braid_openflow::{
    BadRequestCode, Capabilities, ControllerRole, ErrorCode, ErrorMsg, Experimenter, FragHandling, Header,
    Hello, HelloFailedCode, MaxLen, Message, MeterModFailedCode, QueueGetConfigReply, Role,
    RoleRequestFailedCode, SwitchConfig, SwitchConfigFailedCode, SwitchFeatures, TableModFailedCode, VERSION,
};
use braid_openflow::{List, Xid};
use braid_types::Time;

use super::Switch;
use crate::connections::ConnectionId;
use crate::flows::TABLES;
use crate::multipart::Statistics;

const fn bad(code: BadRequestCode) -> ErrorCode {
    ErrorCode::BadRequest(code)
}

/// The origin of a message, and its bytes.
#[derive(Clone, Copy)]
struct Request<'a> {
    from: ConnectionId,
    xid: Xid,
    bytes: &'a [u8],
}

impl Switch {
    /// Handles one whole message of a controller. The reply is in [`Self::poll_bytes`]: the specification's error if
    /// the request is refused.
    pub fn handle_message(&mut self, now: Time, from: ConnectionId, bytes: &[u8]) {
        let xid = Header::decode(bytes).map_or(Xid(0), |header| header.xid);
        let result = match Message::decode(bytes) {
            Ok((xid, message)) => self.answer(now, Request { from, xid, bytes }, &message),
            Err(error) => Err(error.error_code()),
        };
        if let Err(error) = result {
            self.connections.reply(from, xid, &Message::Error(ErrorMsg::refusing(error, bytes)));
        }
    }

    fn answer(&mut self, now: Time, request: Request<'_>, message: &Message<'_>) -> Result<(), ErrorCode> {
        let Request { from, xid, bytes } = request;
        if changes(message)
            && self.connections.get_mut(from).is_some_and(|it| it.role == ControllerRole::Slave)
        {
            return Err(bad(BadRequestCode::IsSlave));
        }
        match message {
            Message::Hello(hello) => return agree(hello),
            Message::EchoRequest(echo) => self.connections.reply(from, xid, &Message::EchoReply(*echo)),
            Message::FeaturesRequest => {
                let features = Message::FeaturesReply(self.features());
                self.connections.reply(from, xid, &features);
            }
            Message::BarrierRequest => self.connections.reply(from, xid, &Message::BarrierReply),
            Message::FlowMod(_) | Message::GroupMod(_) | Message::PortMod(_) | Message::PacketOut(_) => {
                return self.change(now, message, bytes);
            }
            Message::MultipartRequest(it) => {
                let Self { identity, pipeline, .. } = self;
                let replies = Statistics { now, identity, pipeline }.answer(xid, it)?;
                self.connections.output(from).into_iter().for_each(|out| out.extend_from_slice(&replies));
            }
            Message::RoleRequest(it) => return self.role(from, xid, it),
            Message::Experimenter(it) => return self.extension(now, it),
            Message::TableMod(it) if it.table_id.0 >= TABLES && it.table_id.0 != 0xff => {
                return Err(ErrorCode::TableModFailed(TableModFailedCode::BadTable));
            }
            Message::MeterMod(_) => return Err(ErrorCode::MeterModFailed(MeterModFailedCode::OutOfMeters)),
            Message::TableMod(_) | Message::EchoReply(_) | Message::Error(_) => {}
            _ => return self.configure(from, xid, message),
        }
        Ok(())
    }

    /// Changes flows, groups or ports, or sends a packet.
    fn change(&mut self, now: Time, message: &Message<'_>, bytes: &[u8]) -> Result<(), ErrorCode> {
        let (pipeline, mut env) = self.at(now);
        match message {
            Message::FlowMod(it) => pipeline.handle_flow_mod(&mut env, it, bytes),
            Message::GroupMod(it) => pipeline.handle_group_mod(&mut env, it, bytes),
            Message::PortMod(it) => pipeline.ports.handle_port_mod(&mut env, it),
            Message::PacketOut(it) => pipeline.handle_packet_out(&mut env, it),
            _ => Ok(()),
        }
    }

    fn configure(&mut self, from: ConnectionId, xid: Xid, message: &Message<'_>) -> Result<(), ErrorCode> {
        let Some(connection) = self.connections.get_mut(from) else { return Ok(()) };
        let reply = match message {
            Message::GetConfigRequest => Message::GetConfigReply(SwitchConfig {
                flags: FragHandling::FragNormal,
                miss_send_len: connection.miss_send_len,
            }),
            Message::SetConfig(config) if config.flags == FragHandling::FragNormal => {
                connection.miss_send_len = MaxLen(config.miss_send_len.0);
                return Ok(());
            }
            Message::SetConfig(_) => {
                return Err(ErrorCode::SwitchConfigFailed(SwitchConfigFailedCode::BadFlags));
            }
            Message::GetAsyncRequest => Message::GetAsyncReply(connection.asynchronous),
            Message::SetAsync(config) => {
                connection.asynchronous = *config;
                return Ok(());
            }
            Message::QueueGetConfigRequest(request) => {
                let (port, queues) = (request.port, List::EMPTY);
                Message::QueueGetConfigReply(QueueGetConfigReply { port, queues })
            }
            _ => return Err(bad(BadRequestCode::BadType)),
        };
        self.connections.reply(from, xid, &reply);
        Ok(())
    }

    const fn features(&self) -> SwitchFeatures {
        SwitchFeatures {
            datapath_id: self.identity.dpid,
            n_buffers: 0,
            n_tables: TABLES,
            auxiliary_id: 0,
            capabilities: Capabilities(
                Capabilities::FLOW_STATS.0
                    | Capabilities::TABLE_STATS.0
                    | Capabilities::PORT_STATS.0
                    | Capabilities::GROUP_STATS.0,
            ),
            reserved: 0,
        }
    }

    fn role(&mut self, from: ConnectionId, xid: Xid, request: &Role) -> Result<(), ErrorCode> {
        if matches!(request.role, ControllerRole::Unknown(_)) {
            return Err(ErrorCode::RoleRequestFailed(RoleRequestFailedCode::BadRole));
        }
        if !self.connections.take_role(from, request.role, request.generation_id) {
            return Err(ErrorCode::RoleRequestFailed(RoleRequestFailedCode::Stale));
        }
        let generation_id = self.connections.generation();
        let role = self.connections.get_mut(from).map_or(request.role, |connection| connection.role);
        self.connections.reply(from, xid, &Message::RoleReply(Role { role, generation_id }));
        Ok(())
    }

    fn extension(&mut self, now: Time, message: &Experimenter<'_>) -> Result<(), ErrorCode> {
        if message.experimenter != BRAID {
            return Err(bad(BadRequestCode::BadExperimenter));
        }
        let (pipeline, mut env) = self.at(now);
        let extension = Extension::decode(message).map_err(|_| bad(BadRequestCode::BadLen))?;
        match extension.ok_or(bad(BadRequestCode::BadExpType))? {
            Extension::SetSpray { group, policy } => pipeline.groups.set_spray(group, policy),
            Extension::SetPaths { group, paths } => pipeline.groups.set_paths(group, &paths),
            Extension::SetResequence { group, settings } => {
                pipeline.set_resequencing(&mut env, group, settings)
            }
            Extension::SetProbing { group, probing } => pipeline.groups.set_probing(&env, group, &probing),
            Extension::SetTunnel { group, ends } => pipeline.groups.set_tunnel(&env, group, ends.as_deref()),
            Extension::SetBfd { port, is_on } => pipeline.ports.set_bfd(&mut env, port, is_on),
        }
    }
}

/// Whether a message changes the switch, which a slave may not.
const fn changes(message: &Message<'_>) -> bool {
    matches!(
        message,
        Message::FlowMod(_)
            | Message::GroupMod(_)
            | Message::PortMod(_)
            | Message::TableMod(_)
            | Message::MeterMod(_)
            | Message::PacketOut(_)
            | Message::Experimenter(_)
    )
}

fn agree(hello: &Hello<'_>) -> Result<(), ErrorCode> {
    match hello.speaks(VERSION) {
        true => Ok(()),
        false => Err(ErrorCode::HelloFailed(HelloFailedCode::Incompatible)),
    }
}
