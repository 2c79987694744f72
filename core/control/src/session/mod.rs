//! One OpenFlow channel, from HELLO to disconnect. Performs no I/O.
//!
//! ```text
//!  Hello ──HELLO──▶ Handshake ──FEATURES, DESC, PORT_DESC, ROLE, FLOW, GROUP_DESC──▶ Up
//!    └────────────────┴── error, silence ──▶ closed by the caller ◀─────────────────────┘
//! ```

mod echo;
mod error;
mod handshake;
mod reading;

use std::borrow::Cow;
use std::time::Duration;

use braid_openflow::{
    Bytes, DecodeError, Echo, ErrorMsg, FlowRemoved, FlowRemovedReason, Message, MessageType, MultipartReply,
    PacketIn, Port, PortConfig, PortReason, PortState, PortStatus as PortStatusMsg, ReplyBody, VERSION, Xid,
    frame_length,
};
use braid_switch::extension::BRAID;
use braid_switch::telemetry::{self, TELEMETRY};
use braid_types::{BitsPerSec, DatapathId, Time};

use crate::cookie::Cookie;
use crate::event::{Event, PortStatus, SwitchPorts};
use crate::pipeline::EdgeGroup;
use crate::port_counters::PortCounters;
use echo::EchoTimer;
use handshake::Handshake;
use reading::METERS_XID;

pub use error::SessionError;

/// A handshake in which the switch says nothing for this long is asked for an echo.
const ECHO_AFTER: Duration = Duration::from_secs(4);
/// A channel that says nothing for this long is dead, as is a handshake that takes longer. Shorter than the 9 s
/// after which Open vSwitch gives a silent controller up, so that its next channel finds the old one gone.
const DEAD_AFTER: Duration = Duration::from_secs(8);

/// What a channel has to tell.
#[derive(Clone, PartialEq, Debug)]
pub enum SessionEvent<'a> {
    /// The handshake is done.
    Up(SwitchPorts),
    /// The switch refused a message of ours.
    Refused {
        /// The switch.
        dpid: DatapathId,
        /// The transaction that it refused.
        xid: Xid,
        /// The error, in words.
        reason: String,
    },
    /// Something for the brain.
    Other(Event<'a>),
}

/// The state of one channel. Whatever it appends to `out` is to be sent to the switch.
#[derive(Debug)]
pub struct Session {
    state: State,
    opened_at: Time,
    heard_at: Time,
    echo_sent: bool,
}

#[derive(Debug)]
enum State {
    Hello { generation: u64 },
    Handshake(Box<Handshake>),
    Up(DatapathId, EchoTimer),
}

impl Session {
    /// Opens a channel and greets the switch. `generation` must be higher than that of any earlier master.
    pub fn open(now: Time, generation: u64, out: &mut Vec<u8>) -> Self {
        handshake::greet(out);
        Self { state: State::Hello { generation }, opened_at: now, heard_at: now, echo_sent: false }
    }

    /// The switch at the other end, once the handshake is done.
    pub const fn dpid(&self) -> Option<DatapathId> {
        match self.state {
            State::Up(dpid, _) => Some(dpid),
            _ => None,
        }
    }

    /// How long the first message in `stream` is, which need not be there as a whole; `None` if that cannot be told yet.
    ///
    /// Errors: what is there cannot become a message of a switch, so that it need not be waited for.
    pub fn message_length(&self, stream: &[u8]) -> Result<Option<usize>, SessionError> {
        match (&self.state, stream) {
            (State::Hello { .. }, [_, kind, ..]) if *kind != 0 => {
                Err(SessionError::NotHello { found: format!("{:?}", MessageType::from(*kind)) })
            }
            (State::Handshake(_) | State::Up(..), [version, ..]) if *version != VERSION => {
                Err(DecodeError::Version { version: *version }.into())
            }
            _ => Ok(frame_length(stream)?),
        }
    }

    /// Takes one whole message. The end of the handshake is reported as [`SessionEvent::Up`].
    ///
    /// Errors: the switch does not do its part of the protocol; send what is in `out` and close.
    pub fn handle_message<'a>(
        &mut self,
        now: Time,
        message: &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<SessionEvent<'a>>, SessionError> {
        (self.heard_at, self.echo_sent) = (now, false);
        let (xid, message) = match Message::decode(message) {
            Ok(decoded) => decoded,
            Err(error) => return Err(handshake::refuse_malformed(message, error, out)),
        };
        if let Message::EchoRequest(echo) = message {
            Message::EchoReply(echo).encode(xid, out)?;
            return Ok(None);
        }
        self.take(xid, message, out)
    }

    fn take<'a>(
        &mut self,
        xid: Xid,
        message: Message<'a>,
        out: &mut Vec<u8>,
    ) -> Result<Option<SessionEvent<'a>>, SessionError> {
        match &mut self.state {
            State::Hello { generation } => {
                self.state = State::Handshake(Box::new(Handshake::begin(&message, *generation, out)?));
                Ok(None)
            }
            State::Handshake(_) if xid == METERS_XID && matches!(message, Message::Error(_)) => Ok(None),
            State::Handshake(handshake) => {
                let Some(switch) = handshake.handle(xid, &message, out)? else { return Ok(None) };
                self.state = State::Up(switch.dpid, EchoTimer::default());
                Ok(Some(SessionEvent::Up(switch)))
            }
            State::Up(dpid, echoes) => Ok(match message {
                Message::Error(error) => Some(refusal(*dpid, xid, &error)),
                Message::EchoReply(reply) => {
                    let echo = |sent_at| SessionEvent::Other(Event::Echo { dpid: *dpid, sent_at });
                    echoes.answered(&reply).map(echo)
                }
                message => event(*dpid, xid, message).map(SessionEvent::Other),
            }),
        }
    }

    /// To be called at least every second. Once the handshake is done, asks for an echo each time.
    ///
    /// Errors: the switch has been silent for too long; close.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let silence = now.since(self.heard_at);
        if silence > DEAD_AFTER {
            return Err(SessionError::Silent(silence));
        }
        if self.dpid().is_none() && now.since(self.opened_at) > DEAD_AFTER {
            return Err(SessionError::SlowHandshake(now.since(self.opened_at)));
        }
        match &mut self.state {
            State::Up(_, echoes) => echoes.ask(now, out)?,
            State::Handshake(_) if silence > ECHO_AFTER && !self.echo_sent => {
                self.echo_sent = true;
                Message::EchoRequest(Echo { data: Bytes(&[]) }).encode(Xid(0), out)?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn event<'a>(dpid: DatapathId, xid: Xid, message: Message<'a>) -> Option<Event<'a>> {
    match message {
        Message::PacketIn(packet) => packet_in(dpid, &packet),
        Message::PortStatus(status) => Some(port_event(dpid, &status)),
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

/// Only what timed out is news: what was deleted was deleted by us, and may be there again.
fn flow_removed(dpid: DatapathId, flow: &FlowRemoved<'_>) -> Option<Event<'static>> {
    let timed_out = [FlowRemovedReason::IdleTimeout, FlowRemovedReason::HardTimeout].contains(&flow.reason);
    timed_out.then_some(Event::FlowRemoved { dpid, cookie: Cookie(flow.cookie.0), bytes: flow.byte_count })
}

fn port_event(dpid: DatapathId, status: &PortStatusMsg<'_>) -> Event<'static> {
    match status.reason {
        PortReason::Delete => Event::PortGone { dpid, port: status.desc.port_no },
        _ => Event::PortUp { dpid, port: port_status(&status.desc) },
    }
}

fn port_status(port: &Port<'_>) -> PortStatus {
    PortStatus {
        port: port.port_no,
        mac: port.hw_addr,
        name: port.name.to_string(),
        up: !port.config.contains(PortConfig::PORT_DOWN) && !port.state.contains(PortState::LINK_DOWN),
        speed: BitsPerSec(u64::from(port.curr_speed.0).saturating_mul(1_000)),
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
