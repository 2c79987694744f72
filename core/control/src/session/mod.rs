//! One OpenFlow connection, from HELLO to disconnect. Performs no I/O.
//!
//! ```text
//!  Hello ──HELLO──▶ Handshake ──FEATURES, DESC, PORT_DESC, ROLE, FLOW, GROUP_DESC──▶ Up
//!    │               │  ▲ │                                                          │
//!    │               │  │ └──── ROLE says SLAVE, or the term is stale ─┐              │
//!    │               │  └── claim ── Standby ◀─────────────────────────┴─ role lost ──┤
//!    └───────────────┴── error, silence ──▶ closed by the caller ◀───────────────────┘
//! ```

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod answers;
mod echo;
mod error;
mod handshake;
mod held;
mod limits;
mod ports;
mod reading;
mod standby;
mod up;

use std::time::Duration;

use braid_openflow::{
    Bytes, DecodeError, Echo, Message, MessageType, MultipartType, VERSION, Xid, frame_length,
};
use braid_types::{DatapathId, Term, Time};

use crate::event::{Event, SwitchPorts};
use handshake::{Handshake, Outcome};
use standby::Standby;
use up::Up;

pub use error::{DiscardReason, SessionError};
pub use limits::SessionLimits;

/// A switch that is silent for this long during the handshake gets an echo request.
const ECHO_AFTER: Duration = Duration::from_secs(4);
/// An OpenFlow connection that is silent for this long is dead. Open vSwitch gives up a silent controller
/// after 9 s, so the old connection is closed before the next one opens.
const DEAD_AFTER: Duration = Duration::from_secs(8);

/// A handshake has at most so many times its limit more time, for the controller's own stalls.
const MAX_HANDSHAKE_EXTENSION: u32 = 3;

/// A report of a session.
#[derive(Clone, PartialEq, Debug)]
pub enum SessionEvent<'a> {
    /// The handshake has completed.
    Up(SwitchPorts),
    /// The switch refused a message.
    Refused {
        /// The switch.
        dpid: DatapathId,
        /// The transaction id of that message.
        xid: Xid,
        /// The error as text.
        reason: String,
    },
    /// Another controller is the switch's master. From now on the session writes nothing but echoes, until
    /// [`Session::claim`].
    RoleLost {
        /// The switch.
        dpid: DatapathId,
        /// The newest term that the switch has seen; `None` if it has not said so yet: another event follows.
        newest: Option<Term>,
    },
    /// A part of the reply to [`Session::expect_rules`].
    Rules {
        /// The switch.
        dpid: DatapathId,
        /// The transaction id of the request.
        xid: Xid,
        /// The message, whose body is [`ReplyBody::Flow`](braid_openflow::ReplyBody::Flow).
        part: &'a [u8],
        /// Whether the reply is complete.
        is_last: bool,
    },
    /// An event for the brain.
    Other(Event<'a>),
}

/// Whether a switch sends this only to whoever has asked for something.
const fn is_answer(message: &Message<'_>) -> bool {
    matches!(
        message,
        Message::EchoReply(_)
            | Message::BarrierReply
            | Message::MultipartReply(_)
            | Message::RoleReply(_)
            | Message::Error(_)
    )
}

/// The state of one OpenFlow connection. Send what it appends to `out` to the switch.
#[derive(Debug)]
pub struct Session {
    term: Option<Term>,
    limits: SessionLimits,
    state: State,
    connected_at: Time,
    /// When its handshake would have begun if the controller had always listened.
    opened_at: Time,
    heard_at: Time,
    /// When the switch last answered something, which shows that it is heard and hears.
    answered_at: Option<Time>,
    echo_sent: bool,
    held: Vec<Vec<u8>>,
}

#[derive(Debug)]
enum State {
    Hello,
    Handshake(Box<Handshake>),
    Up(Box<Up>),
    Standby(Standby),
}

impl Session {
    /// Starts a session and sends HELLO. It claims the role of master in this term; without one it becomes SLAVE, and
    /// reports [`SessionEvent::RoleLost`].
    pub fn open(now: Time, term: Option<Term>, limits: SessionLimits, out: &mut Vec<u8>) -> Self {
        handshake::greet(out);
        Self::begin(now, term, limits, State::Hello)
    }

    /// Goes on with the connection of this switch, whose handshake another session has done, and which has another master.
    pub fn resume(now: Time, dpid: DatapathId) -> Self {
        Self::begin(now, None, SessionLimits::DEFAULT, State::Standby(Standby::told(dpid)))
    }

    fn begin(now: Time, term: Option<Term>, limits: SessionLimits, state: State) -> Self {
        Self {
            term,
            limits,
            state,
            connected_at: now,
            opened_at: now,
            heard_at: now,
            answered_at: None,
            echo_sent: false,
            held: Vec::new(),
        }
    }

    /// The term in which the role of master was claimed last, if it was.
    pub const fn term(&self) -> Option<Term> {
        self.term
    }

    /// Claims the role of master in another term. After the role was lost, everything is read anew, and
    /// [`SessionEvent::Up`] follows.
    pub fn claim(&mut self, now: Time, term: Term, out: &mut Vec<u8>) -> Result<(), SessionError> {
        self.term = Some(term);
        match &mut self.state {
            State::Hello => {}
            State::Handshake(handshake) => handshake.claim(term, out)?,
            State::Up(_) => Up::claim(term, out)?,
            State::Standby(_) => {
                let handshake = Handshake::ask_for_all(Some(term), self.limits, out)?;
                self.state = State::Handshake(Box::new(handshake));
                (self.connected_at, self.opened_at) = (now, now);
            }
        }
        Ok(())
    }

    /// Gives the role of master up, for the leader of this term. Nothing but echoes is written from now on.
    pub fn release(&mut self, newest: Term, out: &mut Vec<u8>) -> Result<(), SessionError> {
        self.term = None;
        match &mut self.state {
            State::Hello | State::Standby(_) => {}
            State::Handshake(handshake) => handshake.release(newest, out)?,
            State::Up(up) => {
                let dpid = up.dpid();
                standby::become_slave(newest, out)?;
                self.state = State::Standby(Standby::told(dpid));
            }
        }
        Ok(())
    }

    /// The datapath id that the peer claims, once it has, so that it can be refused before the rest of the handshake.
    pub fn claimed_dpid(&self) -> Option<DatapathId> {
        match &self.state {
            State::Hello => None,
            State::Handshake(handshake) => handshake.claimed_dpid(),
            State::Up(up) => Some(up.dpid()),
            State::Standby(standby) => Some(standby.dpid()),
        }
    }

    /// The connected switch, once the handshake has completed or has been lost to another controller.
    pub fn dpid(&self) -> Option<DatapathId> {
        match &self.state {
            State::Up(up) => Some(up.dpid()),
            State::Standby(standby) => Some(standby.dpid()),
            _ => None,
        }
    }

    /// Why the installed state of an earlier controller is not used; [`SwitchPorts::installed`] is then empty.
    pub fn unusable(&self) -> Option<DiscardReason> {
        match &self.state {
            State::Up(up) => up.unusable(),
            _ => None,
        }
    }

    /// The messages with packets that arrived during the handshake. Take them after [`SessionEvent::Up`], and handle them as
    /// if they had just arrived.
    pub fn take_held(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.held)
    }

    /// The length of the first message in `stream`, which may be incomplete; `None` if it is not known yet.
    ///
    /// Errors: the bytes cannot start a message of a switch, so waiting for more is pointless.
    pub fn message_length(&self, stream: &[u8]) -> Result<Option<usize>, SessionError> {
        match (&self.state, stream) {
            (State::Hello, [_, kind, ..]) if *kind != 0 => {
                Err(SessionError::NotHello { found: format!("{:?}", MessageType::from(*kind)) })
            }
            (State::Handshake(_) | State::Up(_) | State::Standby(_), [version, ..])
                if *version != VERSION =>
            {
                Err(DecodeError::Version { version: *version }.into())
            }
            _ => Ok(frame_length(stream)?),
        }
    }

    /// Handles one whole message. The end of the handshake is reported as [`SessionEvent::Up`].
    ///
    /// Errors: the switch violates the protocol. Send the contents of `out` and close.
    pub fn handle_message<'a>(
        &mut self,
        now: Time,
        message: &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<SessionEvent<'a>>, SessionError> {
        (self.heard_at, self.echo_sent) = (now, false);
        let bytes = message;
        let (xid, message) = match Message::decode(bytes) {
            Ok(decoded) => decoded,
            Err(error) => return Err(handshake::refuse_malformed(bytes, error, out)),
        };
        if let Message::EchoRequest(echo) = message {
            Message::EchoReply(echo).encode(xid, out)?;
            return Ok(None);
        }
        if is_answer(&message) {
            self.answered_at = Some(now);
        }
        self.take(xid, message, bytes, out)
    }

    fn take<'a>(
        &mut self,
        xid: Xid,
        message: Message<'a>,
        bytes: &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<SessionEvent<'a>>, SessionError> {
        match &mut self.state {
            State::Hello => {
                let handshake = Handshake::begin(&message, self.term, self.limits, out)?;
                self.state = State::Handshake(Box::new(handshake));
                Ok(None)
            }
            State::Handshake(handshake) => match handshake.handle(xid, &message, bytes, out)? {
                None => Ok(None),
                Some(Outcome::Up(switch)) => {
                    let up = Up::new(&switch, handshake, self.limits);
                    self.held = handshake.take_held();
                    self.state = State::Up(Box::new(up));
                    Ok(Some(SessionEvent::Up(*switch)))
                }
                Some(Outcome::Lost { dpid, newest }) => {
                    self.state = State::Standby(Standby::told(dpid));
                    Ok(Some(SessionEvent::RoleLost { dpid, newest: Some(newest) }))
                }
            },
            State::Up(up) if Up::loses_role(&message) => {
                let dpid = up.dpid();
                self.lose(dpid, &message, out).map(Some)
            }
            State::Up(up) => up.handle(xid, message, bytes),
            State::Standby(standby) => Ok(standby.handle(&message)),
        }
    }

    /// Another controller has become master.
    fn lose(
        &mut self,
        dpid: DatapathId,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<SessionEvent<'static>, SessionError> {
        let is_reply = matches!(message, Message::RoleReply(_));
        // A status without a newer term is no answer to the question who the master is.
        let is_newer = |term: &Term| self.term.is_some_and(|own| term.is_newer_than(own));
        let newest = Up::newest_term(message).filter(|term| is_reply || is_newer(term));
        let standby = if newest.is_some() { Standby::told(dpid) } else { Standby::ask(dpid, out)? };
        self.state = State::Standby(standby);
        Ok(SessionEvent::RoleLost { dpid, newest })
    }

    /// Expects the replies to a multipart request of this kind, see
    /// [`Command::multipart_type`](crate::Command::multipart_type). Other replies are ignored.
    pub fn expect(&mut self, xid: Xid, kind: MultipartType) {
        if let State::Up(up) = &mut self.state {
            up.expect(xid, kind);
        }
    }

    /// Expects the reply to a request for rules, see [`pipeline::read_rules`](crate::pipeline::read_rules). Its parts
    /// are reported as [`SessionEvent::Rules`], and do not concern the brain.
    pub fn expect_rules(&mut self, xid: Xid) {
        if let State::Up(up) = &mut self.state {
            up.expect_rules(xid);
        }
    }

    /// The caller could not listen for this long: that was no silence of the switch.
    pub fn note_stall(&mut self, now: Time, stall: Duration) {
        self.heard_at = (self.heard_at + stall).min(now);
        self.answered_at = self.answered_at.map(|at| (at + stall).min(now));
        let latest = self.connected_at + self.limits.handshake.saturating_mul(MAX_HANDSHAKE_EXTENSION);
        self.opened_at = (self.opened_at + stall).min(now).min(latest);
    }

    /// When the switch last answered something, not counting the time in which the caller did not listen.
    pub const fn answered_at(&self) -> Option<Time> {
        self.answered_at
    }

    /// Asks for a sign of life, beside the echo requests that measure round trips.
    pub fn probe(&self, out: &mut Vec<u8>) -> Result<(), SessionError> {
        if !matches!(self.state, State::Hello) {
            Message::EchoRequest(Echo { data: Bytes(&[]) }).encode(Xid(0), out)?;
        }
        Ok(())
    }

    /// Call at least every second. After the handshake, each call sends an echo request and a question for the role if they
    /// are due.
    ///
    /// Errors: the switch has been silent for too long. Close the connection.
    pub fn handle_timeout(&mut self, now: Time, out: &mut Vec<u8>) -> Result<(), SessionError> {
        let silence = now.since(self.heard_at);
        if silence > DEAD_AFTER {
            return Err(SessionError::Silent(silence));
        }
        let (took, limit) = (now.since(self.opened_at), self.limits.handshake);
        if self.dpid().is_none() && took > limit {
            return Err(SessionError::SlowHandshake { took, limit });
        }
        match &mut self.state {
            State::Up(up) => up.ask_if_due(now, out)?,
            State::Standby(standby) => standby.ask_for_echo(now, out)?,
            State::Handshake(_) if silence > ECHO_AFTER && !self.echo_sent => {
                self.echo_sent = true;
                Message::EchoRequest(Echo { data: Bytes(&[]) }).encode(Xid(0), out)?;
            }
            _ => {}
        }
        Ok(())
    }
}
