//! One relay with its two sockets.

use std::io;
use std::time::{Duration, Instant};

use braid_cluster::MemberId;
use braid_openflow::DecodeError;
use braid_tls::{Transport, is_for_later};
use braid_types::Term;

use super::relay::{End, Relay};
use super::relays::Opened;
use crate::channels::{Lent, Poller, Wanted};

/// A switch that does not answer its barrier within this time is disconnected.
const BARRIER_TIMEOUT: Duration = Duration::from_secs(5);

/// A switch's connection, and the one with the leader that is for it.
pub(super) struct Line {
    pub(super) leader: MemberId,
    relay: Relay,
    lent: Box<Lent>,
    /// Closed once the leader serves the switch no more.
    upstream: Option<Transport>,
    /// What the poller waits for at the switch and at the leader; nothing while one has to wait for the other.
    watched: [Option<Wanted>; 2],
    /// Until when the switch has to have answered its barrier.
    deadline: Instant,
}

/// Why the connection of a switch ends.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error("connection lost: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("it does not answer a barrier")]
    NoAnswer,
    #[error("{0}")]
    Claim(String),
}

const ENDS: [End; 2] = [End::Switch, End::Leader];

impl Line {
    pub(super) fn new(opened: Opened) -> Result<Self, (Box<Lent>, DecodeError)> {
        let Opened { leader, transport, unread, mut lent } = opened;
        let (before, unsent) = (std::mem::take(&mut lent.unread), std::mem::take(&mut lent.unsent));
        let begun = Relay::begin(&before, &unsent).and_then(|mut relay| {
            relay.take(End::Leader, &unread)?;
            Ok(relay)
        });
        let deadline = Instant::now() + BARRIER_TIMEOUT;
        match begun {
            Ok(relay) => {
                Ok(Self { leader, relay, lent, upstream: Some(transport), watched: [None; 2], deadline })
            }
            Err(why) => Err((lent, why)),
        }
    }

    /// Whether the leader can serve the switch.
    pub(super) fn passes(&self) -> bool {
        self.relay.passes()
    }

    /// Whether this member may serve the switch again.
    pub(super) fn is_done(&self) -> bool {
        self.relay.is_done()
    }

    /// Reads each end once that may have something, and writes what waits. What the leader does wrong ends the relay; the error
    /// is that of the switch.
    /// `newest` is the newest term of the cluster.
    pub(super) fn advance(
        &mut self,
        ready: [bool; 2],
        inbox: &mut [u8],
        newest: impl Fn() -> Term,
    ) -> Result<(), LineError> {
        let [switch, leader] = ready;
        if leader && self.read(End::Leader, inbox).is_err() {
            self.leave(newest());
        }
        if switch {
            self.read(End::Switch, inbox)?;
        }
        if self.write(End::Leader).is_err() {
            self.leave(newest());
        }
        self.write(End::Switch)
    }

    /// The leader serves the switch no more. The newest term is that of its next master.
    pub(super) fn leave(&mut self, newest: Term) {
        if !self.relay.is_leaving() {
            self.relay.leave(newest);
            self.deadline = Instant::now() + BARRIER_TIMEOUT;
        }
        // Its socket leaves the poller as it closes.
        self.upstream.take().into_iter().for_each(|mut transport| transport.close());
        self.watched[1] = None;
    }

    /// Whether the switch answers its barrier in time.
    pub(super) fn check_answer(&self) -> Result<(), LineError> {
        if !self.relay.passes() && Instant::now() >= self.deadline {
            return Err(LineError::NoAnswer);
        }
        Ok(())
    }

    /// Whether the switch may still be the datapath that it joined as.
    pub(super) fn check_identity(&self) -> Result<(), LineError> {
        self.lent.check_identity().map_err(|why| LineError::Claim(why.to_string()))
    }

    /// Has the poller wait for what each end is to do: the switch at this number, the leader at the next. Returns whether an end
    /// is read again that had to wait.
    pub(super) fn watch(&mut self, poller: &Poller, number: usize) -> io::Result<bool> {
        let mut resumes = false;
        for (index, end) in ENDS.into_iter().enumerate() {
            let Some(transport) = self.transport(end) else { continue };
            let read = self.relay.has_room_from(end);
            let write = transport.wants_write(!self.relay.waiting(end).is_empty());
            let (wanted, before) = (Wanted { read, write }, self.watched[index]);
            let wanted = (read || write).then_some(wanted);
            match (before, wanted) {
                (None, Some(wanted)) => poller.add(transport, number + index, wanted)?,
                (Some(_), None) => poller.remove(transport)?,
                (Some(before), Some(wanted)) if before != wanted => {
                    poller.change(transport, number + index, wanted)?;
                }
                _ => {}
            }
            resumes |= read && !before.is_some_and(|before| before.read);
            self.watched[index] = wanted;
        }
        Ok(resumes)
    }

    /// The switch's connection, for this member's own channel.
    pub(super) fn into_lent(self, poller: &Poller) -> Lent {
        if self.watched[0].is_some() {
            // It may be gone.
            let _ = poller.remove(&self.lent.transport);
        }
        let mut lent = *self.lent;
        (lent.unread, lent.unsent) = self.relay.into_rest();
        lent
    }

    const fn transport(&self, end: End) -> Option<&Transport> {
        match end {
            End::Switch => Some(&self.lent.transport),
            End::Leader => self.upstream.as_ref(),
        }
    }

    fn transport_mut(&mut self, end: End) -> Option<&mut Transport> {
        match end {
            End::Switch => Some(&mut self.lent.transport),
            End::Leader => self.upstream.as_mut(),
        }
    }

    fn read(&mut self, end: End, inbox: &mut [u8]) -> Result<(), LineError> {
        if !self.relay.has_room_from(end) {
            return Ok(());
        }
        let Some(transport) = self.transport_mut(end) else { return Ok(()) };
        match transport.read(inbox) {
            Ok(0) => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(read) => Ok(self.relay.take(end, inbox.get(..read).unwrap_or_default())?),
            Err(error) if is_for_later(&error) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn write(&mut self, end: End) -> Result<(), LineError> {
        loop {
            let transport = match end {
                End::Switch => Some(&mut self.lent.transport),
                End::Leader => self.upstream.as_mut(),
            };
            let (Some(transport), waiting) = (transport, self.relay.waiting(end)) else { return Ok(()) };
            transport.flush()?;
            if waiting.is_empty() {
                return Ok(());
            }
            match transport.write(waiting) {
                Ok(0) => return Ok(()),
                Ok(written) => self.relay.note_sent(end, written),
                Err(error) if is_for_later(&error) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
