//! The OpenFlow connection of one switch: its socket, session and buffers, with a budget per turn.

mod ahead;
mod claims;
mod error;
mod lending;
mod reach;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use braid_control::{Event, Session, SessionEvent, SessionLimits, SwitchPorts};
use braid_tls::{Transport, is_for_later};
use braid_types::{DatapathId, Term, Time};
use tracing::{debug, info, warn};

use super::control_first::ControlFirst;
use super::handshakes::Place;
use super::identity::Identity;
use super::outbox::{Outbox, Request};
use super::poller::Wanted;
use crate::engine::Engine;
pub(super) use ahead::Excess;
pub(super) use error::ChannelError;
pub(crate) use lending::Lent;

/// Bytes that a switch may leave unread before the controller stops reading from it.
const MAX_UNSENT_BEFORE_READ_PAUSE: usize = 1 << 20;

/// Time for the messages of one switch in a turn.
const TURN_BUDGET: Duration = Duration::from_millis(5);

/// Bytes of messages after which the clock is read for that: some packets, as reading it costs as much as part of one.
const CLOCK_INTERVAL: usize = 512;

/// Capacity that the buffer of unhandled bytes keeps, however few these are.
const RETAINED_CAPACITY: usize = 1 << 10;

/// Bytes from which on prefetching pays: several packets, since one gains nothing.
const PREFETCH_THRESHOLD: usize = 1 << 10;

/// The connection of one switch.
pub(super) struct Channel {
    pub(super) stream: Transport,
    /// What the switch proved about itself, until its claim is checked against it; `None` where TLS is off.
    pub(super) identity: Option<Identity>,
    /// The only switch that it may be: a standby, through which it is reached, has checked that.
    pub(super) expected_dpid: Option<DatapathId>,
    address: SocketAddr,
    session: Session,
    outbox: Rc<Outbox>,
    /// The switch, once the engine counts it as connected.
    joined: Option<DatapathId>,
    /// Whether the datapath id that the switch claims may join.
    checked: bool,
    /// The place among the handshakes, until this one is done.
    pub(super) place: Option<Place>,
    /// Bytes read and not handled: an incomplete message, or many messages.
    rest: Vec<u8>,
    /// Whether complete messages in `rest` wait for the next turn; nothing is read before they are handled.
    is_behind: bool,
    control: ControlFirst,
    /// Whether the last read filled the buffer, so that the socket may hold more.
    pub(super) has_more: bool,
    /// Whether it is among those to write to.
    pub(super) is_listed: bool,
    pending: Vec<u8>,
    sent: usize,
    /// The events that the poller waits for.
    pub(super) wanted: Wanted,
    /// The time of the session's next timeout call.
    pub(super) due: Time,
    /// When the switch was asked for a sign of life, for the first time after it had given one.
    asked_at: Option<Time>,
    /// The controller's stalls that the session knows of.
    pub(super) stalled: Duration,
}

impl Channel {
    pub(super) fn open(
        stream: Transport,
        address: SocketAddr,
        outbox: Rc<Outbox>,
        (now, term): (Time, Option<Term>),
    ) -> Self {
        let (mut pending, rest) = (Vec::new(), Vec::new());
        let session = Session::open(now, term, SessionLimits::DEFAULT, &mut pending);
        let wanted = Wanted { read: true, write: true };
        Self {
            stream,
            identity: None,
            expected_dpid: None,
            address,
            session,
            outbox,
            joined: None,
            checked: false,
            place: None,
            rest,
            is_behind: false,
            control: ControlFirst::default(),
            has_more: false,
            is_listed: false,
            pending,
            sent: 0,
            wanted,
            due: now,
            asked_at: None,
            stalled: Duration::ZERO,
        }
    }

    /// The events to wait for. A switch that does not read is not read from, until it does.
    pub(super) fn wants(&self) -> Wanted {
        let write = self.stream.wants_write(!self.pending.is_empty());
        Wanted { read: self.pending.len() < MAX_UNSENT_BEFORE_READ_PAUSE, write }
    }

    /// Whether complete messages wait that need no further read.
    pub(super) fn goes_on(&self) -> bool {
        self.is_behind && self.wants().read
    }

    /// Reads once and handles complete messages within the turn's budget. `inbox` has room for the unhandled bytes and more.
    pub(super) fn read(&mut self, engine: &mut Engine, inbox: &mut [u8]) -> Result<(), ChannelError> {
        if !self.wants().read {
            return Ok(());
        }
        let rest = self.rest.len();
        inbox[..rest].copy_from_slice(&self.rest);
        let room = inbox.len() - rest;
        let read = if self.is_behind { 0 } else { self.receive(&mut inbox[rest..])? };
        self.has_more = read == room || self.is_behind && self.has_more;
        if read > 0 || self.is_behind {
            // Nothing else runs until all of it is handled, so that the brain's time never goes back.
            let arrived_at = engine.now();
            let (all, _) = inbox.split_at(rest + read);
            if read >= PREFETCH_THRESHOLD {
                engine.brain().prefetch(all);
            }
            let used = self.take_messages(engine, arrived_at, all)?;
            self.keep(&all[used..]);
        }
        Ok(())
    }

    /// Keeps what is not handled yet, and not much more memory than that takes.
    fn keep(&mut self, unhandled: &[u8]) {
        self.rest.clear();
        if self.rest.capacity() / 2 > unhandled.len().max(RETAINED_CAPACITY / 2) {
            self.rest.shrink_to(unhandled.len());
        }
        self.rest.extend_from_slice(unhandled);
    }

    /// Bytes received now; 0 if the socket would block.
    fn receive(&mut self, room: &mut [u8]) -> Result<usize, ChannelError> {
        match self.stream.read(room) {
            Ok(0) if self.rest.is_empty() => Err(ChannelError::Closed),
            Ok(0) => Err(ChannelError::ClosedInMessage),
            Ok(read) => Ok(read),
            Err(error) if is_for_later(&error) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Handles complete messages. Returns their bytes.
    fn take_messages(
        &mut self,
        engine: &mut Engine,
        arrived_at: Time,
        stream: &[u8],
    ) -> Result<usize, ChannelError> {
        let mut rest = stream;
        if ahead::is_long(stream) {
            self.take_control(engine, arrived_at, stream)?;
        }
        self.is_behind = false;
        let mut clock_at = rest.len().saturating_sub(CLOCK_INTERVAL);
        while let Some(length) = self.session.message_length(rest)?.filter(|length| *length <= rest.len()) {
            if rest.len() <= clock_at {
                clock_at = rest.len().saturating_sub(CLOCK_INTERVAL);
                if engine.now().since(arrived_at) >= TURN_BUDGET {
                    self.is_behind = true;
                    break;
                }
            }
            let (message, after) = rest.split_at(length);
            if !self.control.has_handled(stream.len() - rest.len(), message) {
                self.take_message(engine, arrived_at, message)?;
            }
            rest = after;
        }
        let used = stream.len() - rest.len();
        self.control.consume(used);
        Ok(used)
    }

    fn take_message(
        &mut self,
        engine: &mut Engine,
        arrived_at: Time,
        message: &[u8],
    ) -> Result<(), ChannelError> {
        let event = self.session.handle_message(arrived_at, message, &mut self.pending)?;
        self.check_claim(engine, event.is_none())?;
        event.map_or(Ok(()), |event| self.take_event(engine, arrived_at, event))
    }

    fn take_event(
        &mut self,
        engine: &mut Engine,
        arrived_at: Time,
        event: SessionEvent,
    ) -> Result<(), ChannelError> {
        match event {
            SessionEvent::Up(switch) => self.join(engine, arrived_at, switch)?,
            SessionEvent::Refused { dpid, xid, reason } => engine.refused_by(arrived_at, dpid, xid, reason),
            SessionEvent::RoleLost { dpid, newest } => self.lose_role(engine, dpid, newest)?,
            SessionEvent::Rules { dpid, xid, part, is_last } => engine.take_rules(dpid, xid, part, is_last),
            SessionEvent::Other(event) => engine.handle(arrived_at, &event),
        }
        Ok(())
    }

    /// The handshake is done.
    fn join(
        &mut self,
        engine: &mut Engine,
        arrived_at: Time,
        switch: SwitchPorts,
    ) -> Result<(), ChannelError> {
        self.note_connected(engine, switch.dpid)?;
        let is_master = engine.join(switch.dpid, self.address, &self.outbox)?;
        self.joined = Some(switch.dpid);
        if !is_master {
            return Ok(());
        }
        if let Some(why) = self.session.unusable() {
            let dpid = tracing::field::display(switch.dpid);
            warn!(dpid, reason = %why, "rules of an earlier controller are removed and written anew");
        }
        engine.handle(arrived_at, &Event::SwitchUp(switch));
        for message in self.session.take_held() {
            self.take_message(engine, arrived_at, &message)?;
        }
        Ok(())
    }

    /// Whether the handshake is done.
    pub(super) const fn has_joined(&self) -> bool {
        self.joined.is_some()
    }

    /// Called once a second, with the time so far in which the controller did not get to listen.
    pub(super) fn handle_timeout(&mut self, now: Time, stalled: Duration) -> Result<(), ChannelError> {
        self.note_stall(now, stalled);
        Ok(self.session.handle_timeout(now, &mut self.pending)?)
    }

    /// Writes as much as the socket takes. Returns `Stopped` once a closed outbox is empty.
    pub(super) fn flush(&mut self) -> Result<(), ChannelError> {
        for request in self.outbox.take_requests() {
            match request {
                Request::Brain(xid, kind) => self.session.expect(xid, kind),
                Request::Rules(xid) => self.session.expect_rules(xid),
            }
        }
        self.outbox.drain_into(&mut self.pending);
        self.stream.flush()?;
        while self.sent < self.pending.len() {
            match self.stream.write(&self.pending[self.sent..]) {
                Ok(written) => self.sent += written,
                Err(error) if is_for_later(&error) => break,
                Err(error) => return Err(error.into()),
            }
        }
        // The rest is moved to the front only when half is sent, so that moving costs no more than sending.
        if self.sent.saturating_mul(2) >= self.pending.len() {
            self.pending.drain(..self.sent);
            self.sent = 0;
        }
        if self.pending.is_empty() {
            self.outbox.release(&mut self.pending);
        }
        if self.outbox.is_closed() && !self.wants().write {
            return Err(ChannelError::Stopped);
        }
        if self.outbox.is_overfull(self.pending.len()) { Err(ChannelError::Overfull) } else { Ok(()) }
    }

    /// Closes the connection and logs the reason.
    pub(super) fn close(mut self, engine: &mut Engine, why: &ChannelError) {
        // A last message, such as an error, may still be pending.
        let _ = self.flush();
        self.stream.close();
        let (address, dpid) = (self.address, self.joined);
        if let Some(dpid) = dpid {
            engine.leave(dpid, &self.outbox, matches!(why, ChannelError::Unreached));
            self.identity.iter().for_each(|identity| identity.note_left(dpid));
        }
        let dpid = dpid.map(tracing::field::display);
        match why {
            ChannelError::Stopped => debug!(%address, "OpenFlow connection closed"),
            why if why.is_misbehaviour() => {
                engine.note_refused();
                engine.raise_alarm(address.ip(), why.threat(), 1);
                warn!(%address, dpid, error = %why, "switch disconnected");
            }
            why => info!(%address, dpid, error = %why, "switch disconnected"),
        }
    }
}
