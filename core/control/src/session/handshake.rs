//! From the greeting to the MASTER role.

use braid_openflow::{
    Bytes, ControllerRole, DecodeError, ErrorCode, ErrorMsg, FragHandling, GroupTypes, Hello,
    HelloFailedCode, MaxLen, Message, MultipartFlags, MultipartReply, MultipartRequest, PortReason,
    PortStatus as PortStatusMsg, ReplyBody, RequestBody, Role, SwitchConfig, VERSION, Xid,
};

use braid_types::DatapathId;

use super::reading::Reading;
use super::{SessionError, port_status};
use crate::event::{PortStatus, SwitchPorts};
use crate::pipeline::TABLES;

/// After those of the first requests.
const READ_XID: Xid = Xid(7);
/// Of the request for what groups can do, which a switch may refuse.
const GROUP_FEATURES_XID: Xid = Xid(5);

/// What the switch has said of itself so far.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    features: Option<(DatapathId, u8)>,
    description: String,
    ports: Vec<PortStatus>,
    all_ports: bool,
    /// How many groups of type fast failover there can be; none if the switch does not say.
    failover_groups: u32,
    /// Begins with the MASTER role, so that no other controller writes any more.
    reading: Option<Reading>,
}

/// Sends our HELLO.
pub(super) fn greet(out: &mut Vec<u8>) {
    // A message of a fixed few bytes is never too long.
    let _ = Message::Hello(Hello::V1_3).encode(Xid(0), out);
}

impl Handshake {
    /// Takes the switch's HELLO and asks for everything else at once.
    pub(super) fn begin(
        message: &Message<'_>,
        generation: u64,
        out: &mut Vec<u8>,
    ) -> Result<Self, SessionError> {
        let Message::Hello(hello) = message else {
            return Err(SessionError::NotHello { found: format!("{:?}", message.message_type()) });
        };
        if !hello.speaks(VERSION) {
            return Err(refuse_version(hello.version, out));
        }
        let config = SwitchConfig { flags: FragHandling::FragNormal, miss_send_len: MaxLen::NO_BUFFER };
        let requests = [
            Message::FeaturesRequest,
            Message::SetConfig(config),
            Message::MultipartRequest(request(RequestBody::Desc)),
            Message::MultipartRequest(request(RequestBody::PortDesc)),
            Message::MultipartRequest(request(RequestBody::GroupFeatures)),
            Message::RoleRequest(Role { role: ControllerRole::Master, generation_id: generation }),
        ];
        for (xid, request) in (1..).zip(requests) {
            request.encode(Xid(xid), out)?;
        }
        Ok(Self::default())
    }

    /// Takes an answer, in whatever order they come; the last one gives the whole.
    pub(super) fn handle(
        &mut self,
        xid: Xid,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<SwitchPorts>, SessionError> {
        match message {
            Message::Error(_) if xid == GROUP_FEATURES_XID => {}
            Message::FeaturesReply(features) if features.auxiliary_id != 0 => {
                return Err(SessionError::Auxiliary(features.auxiliary_id));
            }
            Message::FeaturesReply(features) if features.n_tables < TABLES => {
                return Err(SessionError::Tables { have: features.n_tables });
            }
            Message::FeaturesReply(features) => {
                self.features = Some((features.datapath_id, features.n_tables));
            }
            Message::MultipartReply(reply) => self.note(reply),
            Message::PortStatus(status) => self.update(status),
            Message::RoleReply(role) if role.role != ControllerRole::Master => {
                return Err(SessionError::NotMaster { role: format!("{:?}", role.role) });
            }
            Message::RoleReply(_) if self.reading.is_none() => {
                self.reading = Some(Reading::begin(READ_XID, out)?);
            }
            Message::FlowRemoved(removed) => {
                self.reading.iter_mut().for_each(|reading| reading.forget(removed));
            }
            Message::Error(error) => return Err(SessionError::Refused(format!("{:?}", error.error))),
            _ => {}
        }
        Ok(self.finish())
    }

    fn note(&mut self, reply: &MultipartReply<'_>) {
        match reply.body {
            ReplyBody::Desc(desc) => {
                self.description = format!("{} {} {}", desc.mfr_desc, desc.hw_desc, desc.sw_desc);
            }
            ReplyBody::PortDesc(ports) => {
                self.ports.extend(ports.iter().map(|port| port_status(&port)));
                self.all_ports = !reply.flags.contains(MultipartFlags::MORE);
            }
            ReplyBody::GroupFeatures(features) => {
                let [.., most] = features.max_groups;
                let has = features.types.contains(GroupTypes::FF);
                self.failover_groups = if has { most } else { 0 };
            }
            _ => self.reading.iter_mut().for_each(|reading| reading.note(reply)),
        }
    }

    /// A port that changes before the handshake is done.
    fn update(&mut self, status: &PortStatusMsg<'_>) {
        self.ports.retain(|port| port.port != status.desc.port_no);
        if status.reason != PortReason::Delete {
            self.ports.push(port_status(&status.desc));
        }
    }

    fn finish(&mut self) -> Option<SwitchPorts> {
        let (dpid, tables) = self.features.filter(|_| self.all_ports)?;
        let failover_groups = self.failover_groups;
        let found = self.reading.take_if(|reading| reading.is_done())?.finish();
        let (description, ports) = (std::mem::take(&mut self.description), std::mem::take(&mut self.ports));
        Some(SwitchPorts { dpid, tables, description, ports, failover_groups, found })
    }
}

const fn request(body: RequestBody<'_>) -> MultipartRequest<'_> {
    MultipartRequest { flags: MultipartFlags::NONE, body }
}

/// Answers a message that cannot be read with an error.
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
