//! The handshake, from HELLO to the MASTER role.

use braid_openflow::{
    Bytes, ControllerRole, DecodeError, ErrorCode, ErrorMsg, FragHandling, GroupCapabilities, GroupTypes,
    Hello, HelloFailedCode, MaxLen, Message, MultipartReply, ReplyBody, RequestBody, Role, SwitchConfig,
    VERSION, Xid,
};

use braid_types::DatapathId;

use super::answers::{Answers, Part};
use super::ports::{Ports, port_status};
use super::reading::{METER_XIDS, Reading};
use super::{DiscardReason, SessionError, SessionLimits};
use crate::event::{PortStatus, SwitchPorts};
use crate::pipeline::TABLES;

const FEATURES_XID: Xid = Xid(1);
const CONFIG_XID: Xid = Xid(2);
const DESC_XID: Xid = Xid(3);
const PORT_DESC_XID: Xid = Xid(4);
const GROUP_FEATURES_XID: Xid = Xid(5);
const ROLE_XID: Xid = Xid(6);
/// Requests for optional features, which a switch may refuse.
const MAY_BE_REFUSED: [Xid; 3] = [GROUP_FEATURES_XID, METER_XIDS[0], METER_XIDS[1]];

/// What the switch has reported so far.
#[derive(Debug)]
pub(super) struct Handshake {
    limits: SessionLimits,
    answers: Answers,
    features: Option<(DatapathId, u8)>,
    description: String,
    ports: Ports<PortStatus>,
    all_ports: bool,
    /// The number of fast-failover groups; 0 if the switch does not report it.
    failover_groups: u32,
    select_groups: u32,
    /// Starts once we are MASTER, when no other controller writes any more.
    reading: Option<Reading>,
    unusable: Option<DiscardReason>,
}

/// Sends our HELLO.
pub(super) fn greet(out: &mut Vec<u8>) {
    // HELLO has a fixed small size and is never too long.
    let _ = Message::Hello(Hello::V1_3).encode(Xid(0), out);
}

impl Handshake {
    /// Handles the switch's HELLO and sends all requests at once.
    pub(super) fn begin(
        message: &Message<'_>,
        generation: u64,
        limits: SessionLimits,
        out: &mut Vec<u8>,
    ) -> Result<Self, SessionError> {
        let Message::Hello(hello) = message else {
            return Err(SessionError::NotHello { found: format!("{:?}", message.message_type()) });
        };
        if !hello.speaks(VERSION) {
            return Err(refuse_version(hello.version, out));
        }
        let mut handshake = Self::new(limits);
        handshake.ask(generation, out)?;
        Ok(handshake)
    }

    pub(super) fn claimed_dpid(&self) -> Option<DatapathId> {
        self.features.map(|(dpid, _)| dpid)
    }

    const fn new(limits: SessionLimits) -> Self {
        Self {
            limits,
            answers: Answers::new(limits),
            features: None,
            description: String::new(),
            ports: Ports::new(limits.ports),
            all_ports: false,
            failover_groups: 0,
            select_groups: 0,
            reading: None,
            unusable: None,
        }
    }

    fn ask(&mut self, generation: u64, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let config = SwitchConfig { flags: FragHandling::FragNormal, miss_send_len: MaxLen::NO_BUFFER };
        let role = Role { role: ControllerRole::Master, generation_id: generation };
        Message::FeaturesRequest.encode(FEATURES_XID, out)?;
        Message::SetConfig(config).encode(CONFIG_XID, out)?;
        self.answers.ask(DESC_XID, RequestBody::Desc, out)?;
        self.answers.ask(PORT_DESC_XID, RequestBody::PortDesc, out)?;
        self.answers.ask(GROUP_FEATURES_XID, RequestBody::GroupFeatures, out)?;
        Message::RoleRequest(role).encode(ROLE_XID, out)?;
        Ok(())
    }

    /// Handles a reply of `length` bytes. Replies may come in any order; the last one completes the
    /// handshake.
    pub(super) fn handle(
        &mut self,
        xid: Xid,
        message: &Message<'_>,
        length: usize,
        out: &mut Vec<u8>,
    ) -> Result<Option<SwitchPorts>, SessionError> {
        match message {
            Message::Error(_) if MAY_BE_REFUSED.contains(&xid) => {}
            Message::FeaturesReply(features) if features.auxiliary_id != 0 => {
                return Err(SessionError::Auxiliary(features.auxiliary_id));
            }
            Message::FeaturesReply(features) if features.n_tables < TABLES => {
                return Err(SessionError::Tables { have: features.n_tables });
            }
            Message::FeaturesReply(features) => {
                self.features = Some((features.datapath_id, features.n_tables));
            }
            Message::MultipartReply(reply) => match self.answers.take(xid, reply, length)? {
                Part::Unasked => {}
                part => self.note(reply, part == Part::Last)?,
            },
            Message::PortStatus(status) => self.ports.update(status, port_status)?,
            Message::RoleReply(role) if role.role != ControllerRole::Master => {
                return Err(SessionError::NotMaster { role: format!("{:?}", role.role) });
            }
            Message::RoleReply(_) if self.reading.is_none() => {
                self.reading = Some(Reading::begin(self.limits, &mut self.answers, out)?);
            }
            Message::FlowRemoved(removed) => {
                self.reading.iter_mut().for_each(|reading| reading.forget(removed));
            }
            Message::Error(error) => return Err(SessionError::Refused(format!("{:?}", error.error))),
            _ => {}
        }
        Ok(self.finish())
    }

    fn note(&mut self, reply: &MultipartReply<'_>, is_last: bool) -> Result<(), SessionError> {
        match reply.body {
            ReplyBody::Desc(desc) => {
                self.description = format!("{} {} {}", desc.mfr_desc, desc.hw_desc, desc.sw_desc);
            }
            ReplyBody::PortDesc(ports) => {
                for port in ports.iter() {
                    self.ports.set(port.port_no, port_status(&port))?;
                }
                self.all_ports |= is_last;
            }
            ReplyBody::GroupFeatures(features) => {
                let [_, select, _, failover] = features.max_groups;
                let has = |wanted| features.types.contains(wanted);
                let chains = features.capabilities.contains(GroupCapabilities::CHAINING);
                self.failover_groups = if has(GroupTypes::FF) { failover } else { 0 };
                self.select_groups = if has(GroupTypes::SELECT) && chains { select } else { 0 };
            }
            _ => self.reading.iter_mut().for_each(|reading| reading.note(reply, is_last)),
        }
        Ok(())
    }

    /// Why the switch is set up anew, if it is. Known after the handshake.
    pub(super) const fn unusable(&self) -> Option<DiscardReason> {
        self.unusable
    }

    fn finish(&mut self) -> Option<SwitchPorts> {
        let (dpid, tables) = self.features.filter(|_| self.all_ports)?;
        let (failover_groups, select_groups) = (self.failover_groups, self.select_groups);
        let found = self.reading.take_if(|reading| reading.is_done())?.finish();
        self.unusable = found.as_ref().err().copied();
        let (description, ports) = (std::mem::take(&mut self.description), self.ports.take());
        let installed = found.ok();
        Some(SwitchPorts { dpid, tables, description, ports, failover_groups, select_groups, installed })
    }
}

/// Replies with an error to a malformed message.
pub(super) fn refuse_malformed(message: &[u8], error: DecodeError, out: &mut Vec<u8>) -> SessionError {
    if let DecodeError::Version { version } = error {
        return refuse_version(version, out);
    }
    let _ = Message::Error(ErrorMsg::refusing(error.error_code(), message)).encode(Xid(0), out);
    SessionError::Malformed(error)
}

fn refuse_version(wire: u8, out: &mut Vec<u8>) -> SessionError {
    let error = ErrorCode::HelloFailed(HelloFailedCode::Incompatible);
    let _ = Message::Error(ErrorMsg { error, data: Bytes(b"OpenFlow 1.3 is needed") }).encode(Xid(0), out);
    SessionError::Version { wire }
}
