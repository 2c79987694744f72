//! A session after the handshake: messages as events.

use std::borrow::Cow;
use std::time::Duration;

use braid_edge_protocol::extension::BRAID;
use braid_edge_protocol::telemetry::{self, TELEMETRY};
use braid_openflow::{
    BadRequestCode, ControllerRole, EncodeError, ErrorCode, ErrorMsg, Experimenter, ExperimenterId,
    FlowRemoved, FlowRemovedReason, Message, MultipartReply, MultipartType, PacketIn, PortReason,
    PortStatus as PortStatusMsg, ReplyBody, Xid,
};
use braid_types::{DatapathId, Term, Time};

use super::answers::{Answers, Part, Reader};
use super::echo::EchoTimer;
use super::handshake::Handshake;
use super::ports::{PortLiveness, Ports};
use super::{DiscardReason, SessionError, SessionEvent, SessionLimits, standby};
use crate::cookie::Cookie;
use crate::event::{Event, GroupReport, SwitchPorts};
use crate::pipeline::EdgeGroup;
use crate::port_counters::PortCounters;

/// A claim of the role after the handshake; a number that no barrier has.
const CLAIM_XID: Xid = Xid(u32::MAX);
/// The experimenter id of the Open Networking Foundation, and the type of its role status.
const ONF: ExperimenterId = ExperimenterId(0x4f4e_4600);
const ROLE_STATUS: u32 = 1911;
/// Where a role status has its generation id: behind the role, a reason and padding.
const ROLE_STATUS_GENERATION: usize = 8;
/// The time between two questions for the role, for switches that nothing is written to.
const ROLE_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The OpenFlow connection of a switch that has joined.
#[derive(Debug)]
pub(super) struct Up {
    dpid: DatapathId,
    unusable: Option<DiscardReason>,
    echoes: EchoTimer,
    ports: Ports<()>,
    liveness: PortLiveness,
    answers: Answers,
    role_checked_at: Option<Time>,
}

impl Up {
    pub(super) fn new(switch: &SwitchPorts, handshake: &Handshake, limits: SessionLimits) -> Self {
        Self {
            dpid: switch.dpid,
            unusable: handshake.unusable(),
            echoes: EchoTimer::default(),
            ports: Ports::of(limits.ports, switch.ports.iter().map(|port| port.port)),
            liveness: handshake.liveness(),
            answers: Answers::new(limits),
            role_checked_at: None,
        }
    }

    pub(super) const fn dpid(&self) -> DatapathId {
        self.dpid
    }

    pub(super) const fn unusable(&self) -> Option<DiscardReason> {
        self.unusable
    }

    /// Expects the reply to a request that was sent.
    pub(super) fn expect(&mut self, xid: Xid, kind: MultipartType) {
        self.answers.expect(xid, kind, Reader::Controller);
    }

    /// Expects the reply to a request for rules that somebody wants to see.
    pub(super) fn expect_rules(&mut self, xid: Xid) {
        self.answers.expect(xid, MultipartType::Flow, Reader::Observer);
    }

    /// Sends an echo request and a question for the role, if they are due.
    pub(super) fn ask_if_due(&mut self, now: Time, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let checked_at = *self.role_checked_at.get_or_insert(now);
        if now.since(checked_at) >= ROLE_CHECK_INTERVAL {
            self.role_checked_at = Some(now);
            standby::query_role(out)?;
        }
        self.echoes.ask(now, out)
    }

    /// Asks for the role of master in a newer term.
    pub(super) fn claim(term: Term, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        standby::request(ControllerRole::Master, term, CLAIM_XID, out)
    }

    /// Whether the message says that we are not master any more.
    pub(super) fn loses_role(message: &Message<'_>) -> bool {
        const IS_SLAVE: ErrorCode = ErrorCode::BadRequest(BadRequestCode::IsSlave);
        match message {
            Message::RoleReply(role) => role.role != ControllerRole::Master,
            Message::Error(error) => [IS_SLAVE, standby::STALE].contains(&error.error),
            Message::Experimenter(message) => is_status_of_slave(message),
            _ => false,
        }
    }

    /// The switch's newest term, if the message with which the role is lost says it.
    pub(super) fn newest_term(message: &Message<'_>) -> Option<Term> {
        match message {
            Message::RoleReply(role) => Some(Term(role.generation_id)),
            Message::Experimenter(status) => {
                let (_, generation) = status.data.0.split_at_checked(ROLE_STATUS_GENERATION)?;
                generation.first_chunk().map(|bytes| Term(u64::from_be_bytes(*bytes)))
            }
            _ => None,
        }
    }

    /// Handles a message, and its `bytes`.
    pub(super) fn handle<'a>(
        &mut self,
        xid: Xid,
        message: Message<'a>,
        bytes: &'a [u8],
    ) -> Result<Option<SessionEvent<'a>>, SessionError> {
        let dpid = self.dpid;
        match &message {
            Message::PortStatus(status) => {
                self.ports.update(status, |_| ())?;
                self.liveness.note(&status.desc);
            }
            Message::MultipartReply(reply) => match self.answers.take(xid, reply, bytes.len())? {
                Part::Unasked => return Ok(None),
                Part::Of { reader: Reader::Observer, is_last } => {
                    return Ok(Some(SessionEvent::Rules { dpid, xid, part: bytes, is_last }));
                }
                Part::Of { reader: Reader::Controller, .. } => {}
            },
            _ => {}
        }
        Ok(match message {
            Message::Error(error) => Some(refusal(dpid, xid, &error)),
            Message::EchoReply(reply) => {
                let echo = |sent_at| SessionEvent::Other(Event::Echo { dpid, sent_at });
                self.echoes.answered(&reply).map(echo)
            }
            message => event(dpid, xid, message, self.liveness).map(SessionEvent::Other),
        })
    }
}

/// A role status of the ONF's extension 191 for OpenFlow 1.3, that says SLAVE.
fn is_status_of_slave(message: &Experimenter<'_>) -> bool {
    let slave = u32::from(ControllerRole::Slave).to_be_bytes();
    (message.experimenter, message.exp_type) == (ONF, ROLE_STATUS) && message.data.0.starts_with(&slave)
}

fn event<'a>(dpid: DatapathId, xid: Xid, message: Message<'a>, liveness: PortLiveness) -> Option<Event<'a>> {
    match message {
        Message::PacketIn(packet) => packet_in(dpid, &packet),
        Message::PortStatus(status) => Some(port_event(dpid, &status, liveness)),
        Message::BarrierReply => Some(Event::Barrier { dpid, token: xid.0 }),
        Message::FlowRemoved(flow) => flow_removed(dpid, &flow),
        Message::MultipartReply(reply) => counters(dpid, &reply),
        _ => None,
    }
}

fn packet_in<'a>(dpid: DatapathId, packet: &PacketIn<'a>) -> Option<Event<'a>> {
    let in_port = packet.in_port()?;
    Some(Event::PacketIn { dpid, in_port, table: packet.table_id.0, data: Cow::Borrowed(packet.data.0) })
}

/// Only timeouts are reported. A deleted rule was deleted by this controller, and may have been added again.
fn flow_removed(dpid: DatapathId, flow: &FlowRemoved<'_>) -> Option<Event<'static>> {
    let timed_out = [FlowRemovedReason::IdleTimeout, FlowRemovedReason::HardTimeout].contains(&flow.reason);
    timed_out.then_some(Event::FlowRemoved { dpid, cookie: Cookie(flow.cookie.0), bytes: flow.byte_count })
}

fn port_event(dpid: DatapathId, status: &PortStatusMsg<'_>, liveness: PortLiveness) -> Event<'static> {
    match status.reason {
        PortReason::Delete => Event::PortGone { dpid, port: status.desc.port_no },
        _ => Event::PortUp { dpid, port: liveness.status(&status.desc) },
    }
}

fn counters(dpid: DatapathId, reply: &MultipartReply<'_>) -> Option<Event<'static>> {
    match reply.body {
        ReplyBody::Flow(flows) => {
            let rules = flows.iter().map(|flow| (Cookie(flow.cookie.0), flow.byte_count)).collect();
            Some(Event::StreamCounters { dpid, rules })
        }
        ReplyBody::Port(ports) => {
            let ports = ports.iter().map(|stats| PortCounters::from(&stats)).collect();
            Some(Event::PortCounters { dpid, ports })
        }
        ReplyBody::Experimenter(message)
            if message.experimenter == BRAID && message.exp_type == TELEMETRY =>
        {
            let reports = telemetry::decode(&message).ok()?.into_iter();
            let reports = reports
                .filter_map(|(group, report)| Some(GroupReport { group: EdgeGroup::of(group)?, report }))
                .collect();
            Some(Event::EdgeReports { dpid, reports })
        }
        _ => None,
    }
}

fn refusal(dpid: DatapathId, xid: Xid, error: &ErrorMsg<'_>) -> SessionEvent<'static> {
    SessionEvent::Refused { dpid, xid, reason: format!("{:?}", error.error) }
}
