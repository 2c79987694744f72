//! The OpenFlow connection of a switch whose master is another controller: alive, and nothing is written.

use braid_openflow::{ControllerRole, EncodeError, ErrorCode, Message, Role, RoleRequestFailedCode, Xid};
use braid_types::{DatapathId, Term, Time};

use super::SessionEvent;
use super::echo::EchoTimer;

/// Role requests of a session that has lost the role or checks it.
const ROLE_QUERY_XID: Xid = Xid(11);
/// The switch has seen a newer term than that of the request.
pub(super) const STALE: ErrorCode = ErrorCode::RoleRequestFailed(RoleRequestFailedCode::Stale);

/// A switch that another controller has.
#[derive(Debug)]
pub(super) struct Standby {
    dpid: DatapathId,
    echoes: EchoTimer,
    /// Whether the switch has said which term is its newest.
    is_told: bool,
}

impl Standby {
    /// The switch has told its newest term.
    pub(super) fn told(dpid: DatapathId) -> Self {
        Self { dpid, echoes: EchoTimer::default(), is_told: true }
    }

    /// Asks the switch for its newest term.
    pub(super) fn ask(dpid: DatapathId, out: &mut Vec<u8>) -> Result<Self, EncodeError> {
        query_role(out)?;
        Ok(Self { dpid, echoes: EchoTimer::default(), is_told: false })
    }

    pub(super) const fn dpid(&self) -> DatapathId {
        self.dpid
    }

    pub(super) fn ask_for_echo(&mut self, now: Time, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.echoes.ask(now, out)
    }

    pub(super) fn handle(&mut self, message: &Message<'_>) -> Option<SessionEvent<'static>> {
        match message {
            Message::EchoReply(reply) => _ = self.echoes.answered(reply),
            Message::RoleReply(role) if !self.is_told => {
                self.is_told = true;
                return Some(SessionEvent::RoleLost {
                    dpid: self.dpid,
                    newest: Some(Term(role.generation_id)),
                });
            }
            _ => {}
        }
        None
    }
}

/// Asks for the current role and the newest generation, and changes nothing.
pub(super) fn query_role(out: &mut Vec<u8>) -> Result<(), EncodeError> {
    request(ControllerRole::Nochange, Term(0), ROLE_QUERY_XID, out)
}

/// Becomes SLAVE, so that the switch neither sends packets nor takes commands of this controller.
pub(super) fn become_slave(newest: Term, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    request(ControllerRole::Slave, newest, ROLE_QUERY_XID, out)
}

pub(super) fn request(
    role: ControllerRole,
    term: Term,
    xid: Xid,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    Message::RoleRequest(Role { role, generation_id: term.0 }).encode(xid, out)
}
