//! Which switch a connection is, and the role that this controller has there.

use braid_types::{DatapathId, Term, Time};

use super::{Channel, ChannelError};
use crate::channels::outbox::RoleWish;
use crate::engine::{Engine, RoleRefusal};

impl Channel {
    /// Compares who the switch claims to be with what it has proved, with what a standby says, and with other connections;
    /// with these once a message has no event, so that one that ends the handshake is compared as it joins.
    pub(super) fn check_claim(&mut self, engine: &Engine, is_in_handshake: bool) -> Result<(), ChannelError> {
        if let Some(identity) = &mut self.identity {
            identity.check(self.session.claimed_dpid())?;
        }
        let Some(claimed) = self.session.claimed_dpid() else { return Ok(()) };
        if let Some(expected) = self.expected_dpid.filter(|expected| *expected != claimed) {
            return Err(ChannelError::OtherSwitch { expected, claimed });
        }
        if is_in_handshake && !self.checked {
            engine.switches().check_join(claimed, self.address, &self.outbox)?;
            self.checked = true;
        }
        Ok(())
    }

    /// Whether the switch may still be the datapath that it joined as.
    pub(in crate::channels) fn check_identity(&self) -> Result<(), ChannelError> {
        let dpid = self.joined;
        let (Some(identity), Some(dpid)) = (&self.identity, dpid) else { return Ok(()) };
        Ok(identity.check_again(dpid)?)
    }

    /// The switch has proved who it is.
    pub(super) fn note_connected(&self, engine: &Engine, dpid: DatapathId) -> Result<(), ChannelError> {
        engine.switches().check_join(dpid, self.address, &self.outbox)?;
        let Some(identity) = &self.identity else { return Ok(()) };
        // Members that decide each for itself might decide differently.
        if engine.switches().term().is_some() {
            identity.give(dpid)?;
        }
        identity.note_joined(dpid, self.address.ip());
        Ok(())
    }

    /// Another controller is the switch's master.
    pub(super) fn lose_role(
        &mut self,
        engine: &mut Engine,
        dpid: DatapathId,
        newest: Option<Term>,
    ) -> Result<(), ChannelError> {
        self.note_connected(engine, dpid)?;
        let refusal = RoleRefusal { claimed: self.session.term(), newest };
        engine.lose_role(dpid, self.address, &self.outbox, refusal)?;
        self.joined = Some(dpid);
        Ok(())
    }

    /// Asks the switch for another role if the engine wishes it.
    pub(in crate::channels) fn change_role(
        &mut self,
        now: impl FnOnce() -> Time,
    ) -> Result<(), ChannelError> {
        match self.outbox.take_role_wish() {
            Some(RoleWish::Claim(term)) => Ok(self.session.claim(now(), term, &mut self.pending)?),
            Some(RoleWish::Release(newest)) => Ok(self.session.release(newest, &mut self.pending)?),
            None => Ok(()),
        }
    }
}
