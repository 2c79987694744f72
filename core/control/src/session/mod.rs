//! One OpenFlow connection, from HELLO to disconnect. Performs no I/O.
//!
//! ```text
//!  Hello ──HELLO──▶ Handshake ──FEATURES, DESC, PORT_DESC, ROLE, FLOW, GROUP_DESC──▶ Up
//!    └────────────────┴── error, silence ──▶ closed by the caller ◀─────────────────────┘
//! ```

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod answers;
mod echo;
mod error;
mod handshake;
mod limits;
mod ports;
mod reading;
mod up;

use std::time::Duration;

use braid_openflow::{
    Bytes, DecodeError, Echo, Message, MessageType, MultipartType, VERSION, Xid, frame_length,
};
use braid_types::{DatapathId, Time};

use crate::event::{Event, SwitchPorts};
use handshake::Handshake;
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
    /// An event for the brain.
    Other(Event<'a>),
}

/// The state of one OpenFlow connection. Send what it appends to `out` to the switch.
#[derive(Debug)]
pub struct Session {
    limits: SessionLimits,
    state: State,
    connected_at: Time,
    /// When its handshake would have begun if the controller had always listened.
    opened_at: Time,
    heard_at: Time,
    echo_sent: bool,
}

#[derive(Debug)]
enum State {
    Hello { generation: u64 },
    Handshake(Box<Handshake>),
    Up(Box<Up>),
}

impl Session {
    /// Starts a session and sends HELLO. `generation` must be higher than that of any earlier master.
    pub fn open(now: Time, generation: u64, limits: SessionLimits, out: &mut Vec<u8>) -> Self {
        handshake::greet(out);
        Self {
            limits,
            state: State::Hello { generation },
            connected_at: now,
            opened_at: now,
            heard_at: now,
            echo_sent: false,
        }
    }

    /// The datapath id that the peer claims, once it has, so that it can be refused before the rest of the handshake.
    pub fn claimed_dpid(&self) -> Option<DatapathId> {
        match &self.state {
            State::Hello { .. } => None,
            State::Handshake(handshake) => handshake.claimed_dpid(),
            State::Up(up) => Some(up.dpid()),
        }
    }

    /// The connected switch, once the handshake has completed.
    pub fn dpid(&self) -> Option<DatapathId> {
        match &self.state {
            State::Up(up) => Some(up.dpid()),
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

    /// The length of the first message in `stream`, which may be incomplete; `None` if it is not known yet.
    ///
    /// Errors: the bytes cannot start a message of a switch, so waiting for more is pointless.
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
        let length = message.len();
        let (xid, message) = match Message::decode(message) {
            Ok(decoded) => decoded,
            Err(error) => return Err(handshake::refuse_malformed(message, error, out)),
        };
        if let Message::EchoRequest(echo) = message {
            Message::EchoReply(echo).encode(xid, out)?;
            return Ok(None);
        }
        self.take(xid, message, length, out)
    }

    fn take<'a>(
        &mut self,
        xid: Xid,
        message: Message<'a>,
        length: usize,
        out: &mut Vec<u8>,
    ) -> Result<Option<SessionEvent<'a>>, SessionError> {
        match &mut self.state {
            State::Hello { generation } => {
                let handshake = Handshake::begin(&message, *generation, self.limits, out)?;
                self.state = State::Handshake(Box::new(handshake));
                Ok(None)
            }
            State::Handshake(handshake) => {
                let Some(switch) = handshake.handle(xid, &message, length, out)? else { return Ok(None) };
                let up = Up::new(&switch, handshake, self.limits);
                self.state = State::Up(Box::new(up));
                Ok(Some(SessionEvent::Up(switch)))
            }
            State::Up(up) => up.handle(xid, message, length),
        }
    }

    /// Expects the replies to a multipart request of this kind, see
    /// [`Command::multipart_type`](crate::Command::multipart_type). Other replies are ignored.
    pub fn expect(&mut self, xid: Xid, kind: MultipartType) {
        if let State::Up(up) = &mut self.state {
            up.expect(xid, kind);
        }
    }

    /// The caller could not listen for this long: that was no silence of the switch.
    pub fn note_stall(&mut self, now: Time, stall: Duration) {
        self.heard_at = (self.heard_at + stall).min(now);
        let latest = self.connected_at + self.limits.handshake.saturating_mul(MAX_HANDSHAKE_EXTENSION);
        self.opened_at = (self.opened_at + stall).min(now).min(latest);
    }

    /// Call at least every second. After the handshake, each call sends an echo request if one is due.
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
            State::Up(up) => up.ask_for_echo(now, out)?,
            State::Handshake(_) if silence > ECHO_AFTER && !self.echo_sent => {
                self.echo_sent = true;
                Message::EchoRequest(Echo { data: Bytes(&[]) }).encode(Xid(0), out)?;
            }
            _ => {}
        }
        Ok(())
    }
}
