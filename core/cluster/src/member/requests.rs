//! What an operator asks of a leader: to let another one lead, or to take switches back.

use braid_types::{Term, Time};

use super::Member;
use crate::message::{MemberId, Message, Outgoing};

/// A reason for which leadership cannot be handed over.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HandOverError {
    /// This member does not lead.
    #[error("this member does not lead: ask the leader")]
    NotLeader,
    /// No standby follows, or not the requested one.
    #[error("no such standby follows this leader now")]
    NoStandby,
    /// The store does not answer, so nobody can be elected.
    #[error("the store does not answer, so nobody else can be elected")]
    NoStore,
}

/// A reason for which a leader cannot raise its term.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TakeOverError {
    /// This member does not lead.
    #[error("this member does not lead: ask the leader")]
    NotLeader,
    /// The store does not answer, so there is no new term.
    #[error("the store does not answer, so there is no new term")]
    NoStore,
}

impl Member {
    /// Hands leadership over to this standby, or to one that follows. Returns which.
    ///
    /// # Errors
    /// See [`HandOverError`]. Nothing changes then.
    pub fn hand_over(&mut self, now: Time, to: Option<&MemberId>) -> Result<MemberId, HandOverError> {
        let Some(leading) = &mut self.leading else { return Err(HandOverError::NotLeader) };
        if self.calls.is_failing() {
            return Err(HandOverError::NoStore);
        }
        let term = leading.term;
        let silence = self.settings.silence;
        let follows = |(member, at): &(&MemberId, &Time)| {
            now.since(**at) < silence && to.is_none_or(|wanted| wanted == *member)
        };
        let standby = self.followers.iter().find(follows).ok_or(HandOverError::NoStandby)?.0.clone();
        // A heartbeat would say that it leads on. The other standbys do not take the pause for silence.
        leading.heartbeat_at = now + self.settings.heartbeat * 2;
        leading.handed_over_at = Some(now);
        self.outgoing.push_back(Outgoing { to: Some(standby.clone()), message: Message::HandOver { term } });
        Ok(standby)
    }

    /// Campaigns above this term, which somebody outside the cluster has raised. Returns the term that this member will have
    /// unless it sees a newer one meanwhile.
    ///
    /// # Errors
    /// See [`TakeOverError`]. Nothing changes then.
    pub fn take_over(&mut self, now: Time, above: Term) -> Result<Term, TakeOverError> {
        let Some(leading) = &self.leading else { return Err(TakeOverError::NotLeader) };
        if self.calls.is_failing() {
            return Err(TakeOverError::NoStore);
        }
        if !above.is_newer_than(leading.term) {
            return Ok(leading.term);
        }
        self.note_term(now, above);
        self.act(now);
        Ok(self.next_term())
    }
}
