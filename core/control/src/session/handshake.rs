//! The handshake, from HELLO to the MASTER role.

use braid_openflow::{
    Bytes, ControllerRole, DecodeError, EncodeError, ErrorCode, ErrorMsg, FragHandling, GroupCapabilities,
    GroupTypes, Hello, HelloFailedCode, MaxLen, Message, MultipartReply, Port, ReplyBody, RequestBody, Role,
    SwitchConfig, VERSION, Xid,
};

use braid_types::{DatapathId, Term};

use super::answers::{Answers, Part};
use super::held::Held;
use super::ports::{PortLiveness, Ports, is_live, port_status};
use super::reading::{METER_XIDS, Reading};
use super::{DiscardReason, SessionError, SessionLimits, standby};
use crate::event::{PortStatus, SwitchPorts};
use crate::pipeline::TABLES;

const FEATURES_XID: Xid = Xid(1);
const CONFIG_XID: Xid = Xid(2);
const DESC_XID: Xid = Xid(3);
const PORT_DESC_XID: Xid = Xid(4);
const GROUP_FEATURES_XID: Xid = Xid(5);
const ROLE_XID: Xid = Xid(6);
const ROLE_BARRIER_XID: Xid = Xid(12);
/// Requests for optional features, which a switch may refuse.
const MAY_BE_REFUSED: [Xid; 3] = [GROUP_FEATURES_XID, METER_XIDS[0], METER_XIDS[1]];
/// The end of a handshake.
#[derive(Debug)]
pub(super) enum Outcome {
    /// We are master, and have read everything.
    Up(Box<SwitchPorts>),
    /// Another controller is master.
    Lost {
        /// The switch.
        dpid: DatapathId,
        /// The newest term that the switch has seen.
        newest: Term,
    },
}

/// What the switch has reported so far.
#[derive(Debug)]
pub(super) struct Handshake {
    limits: SessionLimits,
    answers: Answers,
    features: Option<(DatapathId, u8)>,
    description: String,
    /// With whether each is called live.
    ports: Ports<(PortStatus, bool)>,
    liveness: PortLiveness,
    all_ports: bool,
    /// The number of fast-failover groups; 0 if the switch does not report it.
    failover_groups: u32,
    select_groups: u32,
    /// Whether another controller shall be master.
    is_standby: bool,
    /// The newest term, once the switch has said that another controller is its master.
    lost: Option<Term>,
    /// Whether the switch has made us its master.
    is_master: bool,
    /// Asked for behind the role, so that what is read is what there is once no other controller writes any more.
    reading: Option<Reading>,
    held: Held,
    unusable: Option<DiscardReason>,
}

/// Sends our HELLO, without a version bitmap: of one version it says no more than the header. OpenFlow 1.3.5 §6.3.1.
///
/// No byte of it is 1. Mininet looks with telnet whether a controller listens, takes such a byte of what telnet prints for the
/// mark before a process number, and waits for the number without end.
pub(super) fn greet(out: &mut Vec<u8>) {
    // HELLO has a fixed small size and is never too long.
    let _ = Message::Hello(Hello::of_version(VERSION)).encode(Xid(0), out);
}

impl Handshake {
    /// Handles the switch's HELLO and sends all requests at once.
    pub(super) fn begin(
        message: &Message<'_>,
        term: Option<Term>,
        limits: SessionLimits,
        out: &mut Vec<u8>,
    ) -> Result<Self, SessionError> {
        let Message::Hello(hello) = message else {
            return Err(SessionError::NotHello { found: format!("{:?}", message.message_type()) });
        };
        if !hello.speaks(VERSION) {
            return Err(refuse_version(hello.version, out));
        }
        Ok(Self::ask_for_all(term, limits, out)?)
    }

    /// Sends all requests, to a switch that has greeted.
    pub(super) fn ask_for_all(
        term: Option<Term>,
        limits: SessionLimits,
        out: &mut Vec<u8>,
    ) -> Result<Self, EncodeError> {
        let mut handshake = Self::new(limits);
        handshake.is_standby = term.is_none();
        handshake.ask(term, out)?;
        Ok(handshake)
    }

    /// Asks for the role of master in a newer term.
    pub(super) fn claim(&mut self, term: Term, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        (self.lost, self.is_standby) = (None, false);
        standby::request(ControllerRole::Master, term, ROLE_XID, out)
    }

    pub(super) fn claimed_dpid(&self) -> Option<DatapathId> {
        self.features.map(|(dpid, _)| dpid)
    }

    fn new(limits: SessionLimits) -> Self {
        Self {
            limits,
            answers: Answers::new(limits),
            features: None,
            description: String::new(),
            ports: Ports::new(limits.ports),
            liveness: PortLiveness::UNKNOWN,
            all_ports: false,
            failover_groups: 0,
            select_groups: 0,
            is_standby: false,
            lost: None,
            is_master: false,
            reading: None,
            held: Held::default(),
            unusable: None,
        }
    }

    fn ask(&mut self, term: Option<Term>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let config = SwitchConfig { flags: FragHandling::FragNormal, miss_send_len: MaxLen::NO_BUFFER };
        Message::FeaturesRequest.encode(FEATURES_XID, out)?;
        Message::SetConfig(config).encode(CONFIG_XID, out)?;
        self.answers.ask(DESC_XID, RequestBody::Desc, out)?;
        self.answers.ask(PORT_DESC_XID, RequestBody::PortDesc, out)?;
        self.answers.ask(GROUP_FEATURES_XID, RequestBody::GroupFeatures, out)?;
        let Some(term) = term else { return standby::query_role(out) };
        standby::request(ControllerRole::Master, term, ROLE_XID, out)?;
        // Nothing that follows is answered before the role has changed.
        Message::BarrierRequest.encode(ROLE_BARRIER_XID, out)?;
        self.reading = Some(Reading::begin(self.limits, &mut self.answers, out)?);
        Ok(())
    }

    /// Another controller is master, or is to be: what was read says nothing.
    fn give_up(&mut self) {
        (self.is_master, self.reading, self.held) = (false, None, Held::default());
    }

    /// The switch has made us its master. What was asked for behind an earlier claim that it refused is read again.
    fn become_master(&mut self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.is_master = true;
        if self.reading.is_none() {
            self.reading = Some(Reading::begin(self.limits, &mut self.answers, out)?);
        }
        Ok(())
    }

    /// The packets that arrived before everything was read.
    pub(super) fn take_held(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.held).messages
    }

    /// Another controller shall be master.
    pub(super) fn release(&mut self, newest: Term, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        (self.is_standby, self.lost) = (true, Some(newest));
        self.give_up();
        standby::become_slave(newest, out)
    }

    /// Handles a reply and its `bytes`. Replies may come in any order; the last one completes the handshake.
    pub(super) fn handle(
        &mut self,
        xid: Xid,
        message: &Message<'_>,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Outcome>, SessionError> {
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
            Message::MultipartReply(reply) => match self.answers.take(xid, reply, bytes.len())? {
                Part::Unasked => {}
                Part::Of { is_last, .. } => self.note(reply, is_last)?,
            },
            Message::PortStatus(status) => {
                self.liveness.note(&status.desc);
                self.ports.update(status, described)?;
            }
            Message::RoleReply(role) if self.is_standby || role.role != ControllerRole::Master => {
                self.lose(role, out)?;
            }
            Message::RoleReply(_) => self.become_master(out)?,
            Message::PacketIn(packet) if !self.is_standby => self.held.note(packet, bytes),
            Message::FlowRemoved(removed) => {
                self.reading.iter_mut().for_each(|reading| reading.forget(removed));
            }
            Message::Error(error) if error.error == standby::STALE => {
                self.give_up();
                standby::query_role(out)?;
            }
            Message::Error(error) => return Err(SessionError::Refused(format!("{:?}", error.error))),
            _ => {}
        }
        Ok(self.finish())
    }

    /// Another controller is master. Until we say that we are SLAVE, the switch would treat us as EQUAL.
    fn lose(&mut self, role: &Role, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.lost.is_some() {
            return Ok(());
        }
        let newest = Term(role.generation_id);
        self.lost = Some(newest);
        self.give_up();
        if role.role == ControllerRole::Slave { Ok(()) } else { standby::become_slave(newest, out) }
    }

    fn note(&mut self, reply: &MultipartReply<'_>, is_last: bool) -> Result<(), SessionError> {
        match reply.body {
            ReplyBody::Desc(desc) => {
                self.description = format!("{} {} {}", desc.mfr_desc, desc.hw_desc, desc.sw_desc);
            }
            ReplyBody::PortDesc(ports) => {
                for port in ports.iter() {
                    self.liveness.note(&port);
                    self.ports.set(port.port_no, described(&port))?;
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

    /// What is known of the liveness of ports.
    pub(super) const fn liveness(&self) -> PortLiveness {
        self.liveness
    }

    fn finish(&mut self) -> Option<Outcome> {
        if let (Some(newest), Some((dpid, _))) = (self.lost, self.features) {
            return Some(Outcome::Lost { dpid, newest });
        }
        let (dpid, tables) = self.features.filter(|_| self.all_ports && self.is_master)?;
        let (failover_groups, select_groups) = (self.failover_groups, self.select_groups);
        let found = self.reading.take_if(|reading| reading.is_done())?.finish();
        self.unusable = found.as_ref().err().copied();
        let (description, ports) = (std::mem::take(&mut self.description), self.ports.take());
        let ports = ports.into_iter().map(|(port, is_live)| self.liveness.judge(port, is_live)).collect();
        let installed = found.ok();
        Some(Outcome::Up(Box::new(SwitchPorts {
            dpid,
            tables,
            description,
            ports,
            failover_groups,
            select_groups,
            installed,
        })))
    }
}

fn described(port: &Port<'_>) -> (PortStatus, bool) {
    (port_status(port), is_live(port))
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
