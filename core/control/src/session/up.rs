//! A session after the handshake: messages as events.

use std::borrow::Cow;

use braid_edge_protocol::extension::BRAID;
use braid_edge_protocol::telemetry::{self, TELEMETRY};
use braid_openflow::{
    EncodeError, ErrorMsg, FlowRemoved, FlowRemovedReason, Message, MultipartReply, MultipartType, PacketIn,
    PortReason, PortStatus as PortStatusMsg, ReplyBody, Xid,
};
use braid_types::{DatapathId, Time};

use super::answers::{Answers, Part};
use super::echo::EchoTimer;
use super::handshake::Handshake;
use super::ports::{PortLiveness, Ports};
use super::{DiscardReason, SessionError, SessionEvent, SessionLimits};
use crate::cookie::Cookie;
use crate::event::{Event, SwitchPorts};
use crate::pipeline::EdgeGroup;
use crate::port_counters::PortCounters;

/// The OpenFlow connection of a switch that has joined.
#[derive(Debug)]
pub(super) struct Up {
    dpid: DatapathId,
    unusable: Option<DiscardReason>,
    echoes: EchoTimer,
    ports: Ports<()>,
    liveness: PortLiveness,
    answers: Answers,
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
        self.answers.expect(xid, kind);
    }

    /// Sends an echo request if one is due.
    pub(super) fn ask_for_echo(&mut self, now: Time, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.echoes.ask(now, out)
    }

    /// Handles a message of `length` bytes.
    pub(super) fn handle<'a>(
        &mut self,
        xid: Xid,
        message: Message<'a>,
        length: usize,
    ) -> Result<Option<SessionEvent<'a>>, SessionError> {
        match &message {
            Message::PortStatus(status) => {
                self.ports.update(status, |_| ())?;
                self.liveness.note(&status.desc);
            }
            Message::MultipartReply(reply) if self.answers.take(xid, reply, length)? == Part::Unasked => {
                return Ok(None);
            }
            _ => {}
        }
        let dpid = self.dpid;
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
            let reports =
                reports.filter_map(|(group, report)| Some((EdgeGroup::of(group)?, report))).collect();
            Some(Event::EdgeReports { dpid, reports })
        }
        _ => None,
    }
}

fn refusal(dpid: DatapathId, xid: Xid, error: &ErrorMsg<'_>) -> SessionEvent<'static> {
    SessionEvent::Refused { dpid, xid, reason: format!("{:?}", error.error) }
}
