//! The connection of a switch without its channel: lent to a front while the leader serves the switch through it.

use std::net::SocketAddr;
use std::rc::Rc;

use braid_control::Session;
use braid_tls::Transport;
use braid_types::DatapathId;

use super::{Channel, ChannelError};
use crate::channels::Located;
use crate::channels::identity::Identity;
use crate::channels::outbox::Outbox;
use crate::engine::Engine;
use crate::openflow_tls::ClaimError;

/// The connection of a switch that has joined, with what was read and not handled, and what was to be sent.
#[derive(Debug)]
pub(crate) struct Lent {
    pub(crate) dpid: DatapathId,
    pub(crate) address: SocketAddr,
    pub(crate) transport: Transport,
    pub(crate) unread: Vec<u8>,
    pub(crate) unsent: Vec<u8>,
    /// What the switch has proved about itself.
    identity: Option<Identity>,
}

impl Lent {
    /// Whether the switch may still be the datapath that it joined as.
    pub(crate) fn check_identity(&self) -> Result<(), ClaimError> {
        self.identity.as_ref().map_or(Ok(()), |identity| identity.check_again(self.dpid))
    }

    /// Closes the connection.
    pub(crate) fn close(mut self) {
        self.transport.close();
        self.identity.iter().for_each(|identity| identity.note_left(self.dpid));
    }
}

impl Channel {
    /// Where the switch is, and what it has proved.
    pub(in crate::channels) fn located(&self) -> Located {
        let names = self.identity.as_ref().and_then(Identity::names);
        Located { address: self.address, certificate: names.map(<[String]>::to_vec) }
    }

    /// The channel's connection, which nobody serves any more; `None` if the switch has not joined.
    pub(in crate::channels) fn lend(mut self, engine: &mut Engine) -> Option<Lent> {
        let dpid = self.joined?;
        engine.leave(dpid, &self.outbox, true);
        let unsent = self.pending.split_off(self.sent.min(self.pending.len()));
        let Self { stream: transport, identity, address, rest: unread, .. } = self;
        Some(Lent { dpid, address, transport, unread, unsent, identity })
    }

    /// Serves a connection again that was lent, and is SLAVE. If this controller leads, it claims the switch.
    pub(in crate::channels) fn resume(
        engine: &mut Engine,
        lent: Lent,
        outbox: Rc<Outbox>,
    ) -> Result<Self, ChannelError> {
        if let Err(why) = lent.check_identity() {
            lent.close();
            return Err(why.into());
        }
        let Lent { dpid, address, transport, unread, unsent, identity } = lent;
        let (now, term, stalled) = (engine.now(), engine.switches().term(), engine.stalled());
        let mut channel = Self::open(transport, address, outbox, (now, term));
        (channel.identity, channel.checked, channel.stalled) = (identity, true, stalled);
        (channel.pending, channel.rest) = (unsent, unread);
        channel.is_behind = !channel.rest.is_empty();
        channel.session = Session::resume(now, dpid);
        channel.lose_role(engine, dpid, None)?;
        Ok(channel)
    }

    /// Whether the switch is reached through a standby.
    pub(in crate::channels) fn is_relayed(&self) -> bool {
        self.outbox.via().is_some()
    }

    /// The switch, once it has joined.
    pub(in crate::channels) const fn joined(&self) -> Option<DatapathId> {
        self.joined
    }

    /// Whether the switch has joined, and another controller is its master.
    pub(in crate::channels) fn is_slave(&self) -> bool {
        self.joined.is_some() && self.session.term().is_none()
    }
}
