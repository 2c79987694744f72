//! What passes between one switch and the leader through a front: whole messages. Performs no I/O.
//!
//! ```text
//!  Settling ──the switch has answered all that this member has asked──▶ Passing ──leave──▶ Leaving ──the same──▶ done
//! ```
//!
//! A barrier separates what the switch answers to one controller from what it answers to the other. What it says meanwhile
//! is dropped, as if it had connected anew.

// Whatever arrives, reading it cannot panic.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::VecDeque;

use braid_openflow::{ControllerRole, DecodeError, Hello, Message, MessageType, Role, Xid, frame_length};
use braid_types::Term;

/// The barrier's transaction id, which no message has that this or another member sends meanwhile.
const BARRIER: Xid = Xid(0x7fff_fff1);
/// Bytes that wait for one end before nothing more is read from the other.
const MAX_WAITING: usize = 64 << 10;
/// Where the transaction id is, and the type.
const XID: std::ops::Range<usize> = 4..8;
const TYPE: usize = 1;

/// One end of a relay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Switch,
    Leader,
}

/// The messages of one switch and of the leader, on their way.
#[derive(Debug)]
pub(super) struct Relay {
    state: State,
    from_switch: Vec<u8>,
    from_leader: Vec<u8>,
    to_switch: Waiting,
    to_leader: Waiting,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Settling,
    Passing,
    Leaving,
    Done,
}

/// Bytes that wait until an end takes them.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    sent: usize,
    /// How long each message is, and how much of it is left.
    messages: VecDeque<(usize, usize)>,
}

impl Relay {
    /// That of a switch from which these bytes were read and not handled, and to which these are still to be sent.
    pub(super) fn begin(unread: &[u8], unsent: &[u8]) -> Result<Self, DecodeError> {
        let mut relay = Self {
            state: State::Settling,
            from_switch: Vec::new(),
            from_leader: Vec::new(),
            to_switch: Waiting::default(),
            to_leader: Waiting::default(),
        };
        relay.to_switch.push(unsent);
        relay.to_switch.push(&encode(&Message::BarrierRequest, BARRIER));
        relay.take(End::Switch, unread)?;
        Ok(relay)
    }

    /// Whether messages are passed on, so that the leader can serve the switch.
    pub(super) fn passes(&self) -> bool {
        self.state == State::Passing
    }

    /// Whether the switch has answered everything, and this member may serve it again.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether nothing is to be passed on any more.
    pub(super) fn is_leaving(&self) -> bool {
        matches!(self.state, State::Leaving | State::Done)
    }

    /// Whether an end is to be read from: one that the other end is too slow for has to wait.
    pub(super) fn has_room_from(&self, end: End) -> bool {
        match end {
            End::Switch => self.state != State::Done && self.to_leader.len() < MAX_WAITING,
            End::Leader => !self.is_leaving() && self.to_switch.len() < MAX_WAITING,
        }
    }

    /// Takes what was read from an end.
    ///
    /// # Errors
    /// It is no sequence of messages.
    pub(super) fn take(&mut self, end: End, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut all = match end {
            End::Switch => std::mem::take(&mut self.from_switch),
            End::Leader => std::mem::take(&mut self.from_leader),
        };
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        while self.state != State::Done
            && let Some((message, after)) =
                frame_length(rest)?.and_then(|length| rest.split_at_checked(length))
        {
            match end {
                End::Switch => self.pass_to_leader(message),
                End::Leader => self.to_switch.push(message),
            }
            rest = after;
        }
        let rest = rest.to_vec();
        match end {
            End::Switch => self.from_switch = rest,
            End::Leader => self.from_leader = rest,
        }
        Ok(())
    }

    fn pass_to_leader(&mut self, message: &[u8]) {
        match self.state {
            State::Passing => self.to_leader.push(message),
            State::Settling if is_answer(message) => {
                self.state = State::Passing;
                self.to_leader.push(&encode(&Message::Hello(Hello::V1_3), Xid(0)));
            }
            State::Leaving if is_answer(message) => self.state = State::Done,
            State::Settling | State::Leaving | State::Done => {}
        }
    }

    /// The leader serves the switch no more. What it has said is forgotten, but for a message that the switch has half; and this
    /// member becomes SLAVE, for whoever leads in the newest term.
    pub(super) fn leave(&mut self, newest: Term) {
        if self.is_leaving() {
            return;
        }
        // A switch that has not answered the first barrier yet still has to.
        if self.state == State::Passing {
            let slave = Role { role: ControllerRole::Slave, generation_id: newest.0 };
            self.to_switch.keep_begun();
            self.to_switch.push(&encode(&Message::RoleRequest(slave), Xid(0)));
            self.to_switch.push(&encode(&Message::BarrierRequest, BARRIER));
        }
        (self.from_leader, self.to_leader) = (Vec::new(), Waiting::default());
        self.state = State::Leaving;
    }

    /// What waits for an end.
    pub(super) fn waiting(&self, end: End) -> &[u8] {
        self.of(end).unsent()
    }

    /// An end has taken so many bytes of it.
    pub(super) fn note_sent(&mut self, end: End, bytes: usize) {
        match end {
            End::Switch => self.to_switch.note_sent(bytes),
            End::Leader => self.to_leader.note_sent(bytes),
        }
    }

    /// What the switch has said after its last answer, and what is still to be sent to it.
    pub(super) fn into_rest(self) -> (Vec<u8>, Vec<u8>) {
        (self.from_switch, self.to_switch.unsent().to_vec())
    }

    const fn of(&self, end: End) -> &Waiting {
        match end {
            End::Switch => &self.to_switch,
            End::Leader => &self.to_leader,
        }
    }
}

impl Waiting {
    fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.sent)
    }

    fn unsent(&self) -> &[u8] {
        self.bytes.get(self.sent..).unwrap_or_default()
    }

    fn push(&mut self, message: &[u8]) {
        if !message.is_empty() {
            self.bytes.extend_from_slice(message);
            self.messages.push_back((message.len(), message.len()));
        }
    }

    fn note_sent(&mut self, bytes: usize) {
        self.sent = self.sent.saturating_add(bytes);
        let mut sent = bytes;
        while let Some((_, left)) = self.messages.front_mut() {
            let taken = sent.min(*left);
            (*left, sent) = (left.saturating_sub(taken), sent.saturating_sub(taken));
            if *left > 0 {
                break;
            }
            self.messages.pop_front();
        }
        // The rest is moved only when half is sent, so that moving costs no more than sending.
        if self.sent.saturating_mul(2) >= self.bytes.len() {
            self.bytes.drain(..self.sent.min(self.bytes.len()));
            self.sent = 0;
        }
    }

    /// Forgets all messages but one of which a part is sent.
    fn keep_begun(&mut self) {
        let begun = self.messages.pop_front().filter(|(length, left)| left < length);
        let rest = begun.map_or(0, |(_, left)| left);
        self.bytes.truncate(self.sent.saturating_add(rest));
        self.messages = begun.into_iter().collect();
    }
}

/// Whether a switch has come to the barrier.
fn is_answer(message: &[u8]) -> bool {
    let answers = [MessageType::BarrierReply, MessageType::Error];
    let kind = message.get(TYPE).copied().map(MessageType::from);
    message.get(XID) == Some(&BARRIER.0.to_be_bytes()) && kind.is_some_and(|kind| answers.contains(&kind))
}

fn encode(message: &Message<'_>, xid: Xid) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Both messages are a few bytes long, and never too long.
    let _ = message.encode(xid, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests;
