//! Connections begin and end: each open one has a slot.

use std::rc::Rc;

use braid_control::Threat;
use braid_tls::Transport;
use tracing::warn;

use super::channel::{Channel, ChannelError};
use super::identity::Identity;
use super::outbox::{Outbox, Slot};
use super::tls::Incoming;
use super::{Channels, MAX_CHANNELS, TICK};
use crate::engine::Engine;

impl Channels {
    pub(super) fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Open { transport, address, certificate } => {
                let identity = self.tls.clone().map(|tls| Identity::new(tls, certificate));
                self.open(transport, address, identity);
            }
            Incoming::Refused { address, why } => self.refuse(address, &why),
            Incoming::Relayed { transport, relayed } => self.take_relayed(transport, relayed),
            Incoming::Locate { dpid, to } => self.locate(dpid, to),
            Incoming::Lend { dpid, to } => self.lend(dpid, to),
            Incoming::Returned(lent) => self.take_back(*lent),
        }
    }

    pub(super) fn open(
        &mut self,
        stream: Transport,
        address: std::net::SocketAddr,
        identity: Option<Identity>,
    ) {
        let admitted = self.engine.borrow().switches().check_address(address);
        if let Err(error) = admitted {
            return self.refuse(address, &error.to_string());
        }
        if let Some(oldest) = self.handshakes.must_close(address.ip()) {
            self.close(oldest, &ChannelError::Displaced);
        }
        if self.slots.len() - self.free.len() >= MAX_CHANNELS {
            return self.refuse(address, "the limit of open connections is reached");
        }
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let mut channel = self.channel(stream, address, Outbox::new(slot, &self.filled));
        channel.identity = identity;
        channel.place = Some(self.handshakes.begin(address.ip(), slot));
        self.place(slot, channel);
    }

    /// A channel that begins its handshake.
    pub(super) fn channel(
        &self,
        stream: Transport,
        address: std::net::SocketAddr,
        outbox: Rc<Outbox>,
    ) -> Channel {
        let engine = self.engine.borrow();
        let mut channel = Channel::open(stream, address, outbox, (engine.now(), engine.switches().term()));
        channel.stalled = engine.stalled();
        channel
    }

    /// Serves a channel at a free slot.
    pub(super) fn place(&mut self, slot: Slot, mut channel: Channel) {
        channel.due = self.now() + TICK;
        self.due.insert((channel.due, slot));
        let added = channel.stream.set_nodelay();
        let added = added.and_then(|()| self.poller.add(&channel.stream, slot, channel.wanted));
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        if channel.stream.may_have_unread() {
            self.behind.push(slot);
        }
        self.slots[slot] = Some(channel);
        if let Err(why) = added {
            self.close(slot, &why.into());
        }
    }

    pub(super) fn refuse(&self, address: std::net::SocketAddr, why: &str) {
        refuse(&mut self.engine.borrow_mut(), address, why);
    }

    pub(super) fn close(&mut self, slot: Slot, why: &ChannelError) {
        if let Some(channel) = self.remove(slot) {
            channel.close(&mut self.engine.borrow_mut(), why);
        }
    }

    /// Takes a channel, which is not served any more.
    pub(super) fn remove(&mut self, slot: Slot) -> Option<Channel> {
        let mut channel = self.slots.get_mut(slot).and_then(Option::take)?;
        if let Some(place) = channel.place.take() {
            self.handshakes.end(place, slot);
        }
        self.free.push(slot);
        self.due.remove(&(channel.due, slot));
        // The socket may not have been added.
        let _ = self.poller.remove(&channel.stream);
        if let Some(dpid) = channel.expected_dpid.filter(|dpid| self.relays.get(dpid) == Some(&slot)) {
            self.relays.remove(&dpid);
        }
        Some(channel)
    }
}

/// Closes a connection before it begins.
pub(super) fn refuse(engine: &mut Engine, address: std::net::SocketAddr, why: &str) {
    warn!(%address, error = why, "connection closed");
    engine.note_refused();
    engine.raise_alarm(address.ip(), Threat::RefusedConnection { why: why.to_owned() }, 1);
}
