//! Switches that a leader reaches through standbys, and connections that a standby lends for that.

use std::time::Duration;

use braid_tls::Transport;
use braid_types::DatapathId;
use tokio::sync::oneshot;
use tracing::{debug, info};

use super::channel::{Channel, ChannelError, Lent};
use super::identity::Identity;
use super::outbox::Outbox;
use super::{Channels, Located, MAX_CHANNELS, Relayed};

/// Switches that are reached through standbys.
const MAX_RELAYED: usize = 4_096;
/// A switch that leaves questions without an answer for this long is better reached through a standby.
const UNREACHED_AFTER: Duration = Duration::from_millis(500);

impl Channels {
    /// Serves a switch through a standby, unless this controller reaches it. Whoever is refused hears nothing of OpenFlow.
    pub(super) fn take_relayed(&mut self, transport: Transport, relayed: Relayed) {
        let Relayed { dpid, address, via, certificate } = relayed;
        if let Err(why) = self.make_room_for(dpid) {
            return debug!(%dpid, %via, why, "a switch is not served through a standby");
        }
        if let Some(oldest) = self.handshakes.must_close(address.ip()) {
            self.close(oldest, &ChannelError::Displaced);
        }
        info!(%dpid, %via, "a switch is served through a standby");
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let mut channel = self.channel(transport, address, Outbox::through(Some(via), slot, &self.filled));
        channel.expected_dpid = Some(dpid);
        channel.identity = self.tls.clone().map(|tls| Identity::reported(tls, certificate));
        channel.place = Some(self.handshakes.begin(address.ip(), slot));
        self.relays.insert(dpid, slot);
        self.place(slot, channel);
    }

    /// Closes the connection that the switch has, if that is lost; why it stays, otherwise.
    fn make_room_for(&mut self, dpid: DatapathId) -> Result<(), &'static str> {
        let (now, leads) = {
            let engine = self.engine.borrow();
            (engine.now(), engine.switches().term().is_some())
        };
        if !leads {
            return Err("this controller does not lead");
        }
        let connected = self.engine.borrow().switches().outbox(dpid).map(|outbox| outbox.slot());
        let slot = connected.or_else(|| self.relays.get(&dpid).copied());
        let channel = slot.and_then(|slot| self.slots.get(slot)).and_then(Option::as_ref);
        let is_kept = |channel: &Channel| !channel.has_joined() || channel.is_reached(now, UNREACHED_AFTER);
        if channel.is_some_and(is_kept) {
            return Err("it has another connection");
        }
        slot.into_iter().for_each(|slot| self.close(slot, &ChannelError::Unreached));
        let is_full = self.relays.len() >= MAX_RELAYED || self.slots.len() - self.free.len() >= MAX_CHANNELS;
        if is_full { Err("the limit of such switches is reached") } else { Ok(()) }
    }

    /// Says where a switch is, and who. Without one, `to` closes.
    pub(super) fn locate(&self, dpid: DatapathId, to: oneshot::Sender<Located>) {
        let slot = self.engine.borrow().switches().outbox(dpid).map(|outbox| outbox.slot());
        let channel = slot.and_then(|slot| self.slots.get(slot)).and_then(Option::as_ref);
        // Whoever has asked may have gone.
        let _ = channel.map(|channel| to.send(channel.located()));
    }

    /// Lends the connection of a switch that another controller has. Without one, `to` closes.
    pub(super) fn lend(&mut self, dpid: DatapathId, to: oneshot::Sender<Box<Lent>>) {
        let leads = self.engine.borrow().switches().term().is_some();
        let slot = self.engine.borrow().switches().outbox(dpid).map(|outbox| outbox.slot());
        let channel = slot.and_then(|slot| self.slots.get(slot)).and_then(Option::as_ref);
        if leads || !channel.is_some_and(Channel::is_slave) || to.is_closed() {
            return;
        }
        let lent = slot.and_then(|slot| self.remove(slot));
        let lent = lent.and_then(|channel| channel.lend(&mut self.engine.borrow_mut()).map(Box::new));
        if let Some(Err(lent)) = lent.map(|lent| to.send(lent)) {
            self.take_back(*lent);
        }
    }

    /// Serves a connection again that was lent.
    pub(super) fn take_back(&mut self, lent: Lent) {
        let (dpid, address) = (lent.dpid, lent.address);
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let outbox = Outbox::new(slot, &self.filled);
        let resumed = Channel::resume(&mut self.engine.borrow_mut(), lent, outbox);
        match resumed {
            Ok(channel) => {
                self.place(slot, channel);
                self.behind.push(slot);
            }
            Err(why) => {
                info!(%dpid, %address, %why, "the connection of a switch ends, which was passed on to the leader");
                if slot < self.slots.len() {
                    self.free.push(slot);
                }
            }
        }
    }
}
