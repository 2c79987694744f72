use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use braid_control::{Event, Session, SessionError, SessionEvent};
use braid_types::Time;
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{debug, info, warn};

use crate::clock::generation;
use crate::engine::{Duplicate, Shared};
use crate::outbox::Outbox;

/// A switch that leaves so much unread is not read either.
const MAX_UNREAD: usize = 1 << 20;

/// Why a channel ended.
#[derive(Debug, thiserror::Error)]
enum ChannelError {
    #[error("the switch closed the connection")]
    Closed,
    #[error("the switch closed the connection in mid-message")]
    ClosedInMessage,
    #[error("connection lost: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Duplicate(#[from] Duplicate),
    #[error("the switch does not read what it is sent")]
    Overfull,
}

impl ChannelError {
    const fn is_misbehaviour(&self) -> bool {
        !matches!(self, Self::Closed | Self::Io(_))
    }
}

/// Serves one switch until it leaves.
pub(crate) async fn serve(engine: Shared, stream: TcpStream, address: SocketAddr) {
    let mut channel = Channel::open(engine, stream, address);
    let result = channel.run().await;
    channel.flush_once();
    let dpid = channel.joined.then(|| channel.session.dpid()).flatten();
    let mut engine = channel.engine.borrow_mut();
    if let Some(dpid) = dpid {
        engine.leave(dpid);
    }
    match result {
        Ok(()) => debug!(%address, "channel closed"),
        Err(error) if error.is_misbehaviour() => {
            engine.note_refused();
            warn!(%address, dpid = dpid.map(tracing::field::display), %error, "switch disconnected");
        }
        Err(error) => {
            info!(%address, dpid = dpid.map(tracing::field::display), %error, "switch disconnected");
        }
    }
}

struct Channel {
    engine: Shared,
    stream: TcpStream,
    address: SocketAddr,
    session: Session,
    outbox: Rc<Outbox>,
    /// Whether the engine counts this channel's switch as connected.
    joined: bool,
    /// The front of a message that has not arrived as a whole.
    rest: Vec<u8>,
    pending: Vec<u8>,
    sent: usize,
}

impl Channel {
    fn open(engine: Shared, stream: TcpStream, address: SocketAddr) -> Self {
        let mut pending = Vec::new();
        let session = Session::open(engine.borrow().now(), generation(), &mut pending);
        let (outbox, rest) = (Outbox::new(), Vec::new());
        Self { engine, stream, address, session, outbox, joined: false, rest, pending, sent: 0 }
    }

    async fn run(&mut self) -> Result<(), ChannelError> {
        self.stream.set_nodelay(true)?;
        let mut timer = interval(Duration::from_secs(1));
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.flush()?;
            if self.outbox.is_closed() && self.pending.is_empty() {
                return Ok(());
            }
            tokio::select! {
                // A switch that does not read is not heard either, until it does.
                ready = self.stream.readable(), if self.pending.len() < MAX_UNREAD => { ready?; self.read()?; }
                ready = self.stream.writable(), if !self.pending.is_empty() => ready?,
                () = self.outbox.filled() => {}
                _ = timer.tick() => {
                    let now = self.engine.borrow().now();
                    self.session.handle_timeout(now, &mut self.pending)?;
                }
            }
            // First every channel is read that can be: no switch has to wait for another that says much, and what
            // they all cause leaves with one write to each.
            yield_now().await;
        }
    }

    fn read(&mut self) -> Result<(), ChannelError> {
        let mut inbox = self.engine.borrow_mut().lend_inbox();
        let result = self.read_into(&mut inbox);
        self.engine.borrow_mut().return_inbox(inbox);
        result
    }

    /// Reads once and takes the messages that are whole.
    fn read_into(&mut self, inbox: &mut [u8]) -> Result<(), ChannelError> {
        let rest = self.rest.len();
        inbox[..rest].copy_from_slice(&self.rest);
        match self.stream.try_read(&mut inbox[rest..]) {
            Ok(0) if rest == 0 => Err(ChannelError::Closed),
            Ok(0) => Err(ChannelError::ClosedInMessage),
            Ok(read) => {
                // Nothing else runs until all of it is handled, so that the brain's time does not go back.
                let arrived_at = self.engine.borrow().now();
                let (all, _) = inbox.split_at(rest + read);
                let used = self.take_messages(arrived_at, all)?;
                self.rest.clear();
                self.rest.extend_from_slice(&all[used..]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Says how many bytes the messages were that are whole.
    fn take_messages(&mut self, arrived_at: Time, stream: &[u8]) -> Result<usize, ChannelError> {
        let mut rest = stream;
        while let Some(length) = self.session.message_length(rest)?.filter(|length| *length <= rest.len()) {
            let (message, after) = rest.split_at(length);
            self.take_message(arrived_at, message)?;
            rest = after;
        }
        Ok(stream.len() - rest.len())
    }

    fn take_message(&mut self, arrived_at: Time, message: &[u8]) -> Result<(), ChannelError> {
        let Some(event) = self.session.handle_message(arrived_at, message, &mut self.pending)? else {
            return Ok(());
        };
        let mut engine = self.engine.borrow_mut();
        match event {
            SessionEvent::Up(switch) => {
                engine.join(switch.dpid, self.address, &self.outbox)?;
                self.joined = true;
                engine.handle(arrived_at, &Event::SwitchUp(switch));
            }
            SessionEvent::Refused { dpid, xid, reason } => engine.refused_by(arrived_at, dpid, xid, reason),
            SessionEvent::Other(event) => engine.handle(arrived_at, &event),
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.outbox.drain_into(&mut self.pending);
        while self.sent < self.pending.len() {
            match self.stream.try_write(&self.pending[self.sent..]) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        // Moving what is left costs as much as there is of it, so it is moved only when half is gone.
        if self.sent.saturating_mul(2) >= self.pending.len() {
            self.pending.drain(..self.sent);
            self.sent = 0;
        }
        if self.outbox.is_overfull(self.pending.len()) { Err(ChannelError::Overfull) } else { Ok(()) }
    }

    /// Gives the last words, such as an error message, their chance.
    fn flush_once(&mut self) {
        let _ = self.flush();
    }
}
