//! The OpenFlow channels of all switches, served by one task.
//!
//! In each turn every readable channel is read once, and then each channel with output is written once. So no switch waits
//! for a busy one, and a turn costs one system call for all channels, one for each that is read and one for each that is
//! written. Messages beyond a switch's share of a turn wait for the next. A turn ends after a while even if channels are
//! left, so that other tasks run however much one message costs; the next goes on with these, after the control messages of
//! all channels that have arrived meanwhile.

mod accept;
mod ahead;
mod channel;
mod connections;
mod control_first;
mod handshakes;
mod identity;
mod outbox;
mod poller;
mod reach;
mod relayed;
mod spare;
mod tls;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use braid_types::{DatapathId, Time};
use tokio::sync::mpsc;
use tokio::task::yield_now;

use crate::engine::Shared;
use crate::openflow_tls::OpenFlowTls;
use channel::Channel;
use handshakes::Handshakes;
use outbox::Slot;
use reach::Probing;

pub(crate) use accept::{accept, accept_queue};
pub(crate) use channel::Lent;
pub(crate) use outbox::{Filled, Outbox, Request, RoleWish};
pub(crate) use poller::{Poller, Wanted};
pub(crate) use tls::{Incoming, Located, Relayed, start_handshakes};

/// Open channels: as many switches as may join, and handshakes.
const MAX_CHANNELS: usize = 18_432;
/// The longest sleep, so that a sleep is no stall.
const MAX_SLEEP: Duration = Duration::from_millis(100);
/// A round counts as one that has read everything while no more than one channel of so many has more.
const MAX_BEHIND: usize = 8;
/// How long a turn may read, and then write, before other tasks run.
const MAX_TURN: Duration = Duration::from_millis(15);
/// The interval of the sessions' timeout calls.
const TICK: Duration = Duration::from_secs(1);
/// The longest message: its length field has 16 bits.
const MAX_MESSAGE: usize = 1 << 16;
/// Bytes read from one switch in a turn.
const READ_CHUNK: usize = 64 << 10;

/// All open channels.
pub(crate) struct Channels {
    engine: Shared,
    accepted: mpsc::Receiver<Incoming>,
    tls: Option<OpenFlowTls>,
    /// What may be claimed when the open connections were last held against it.
    checked_revision: u64,
    poller: Poller,
    slots: Vec<Option<Channel>>,
    free: Vec<Slot>,
    handshakes: Handshakes,
    filled: Rc<Filled>,
    /// The time of each session's next timeout call.
    due: BTreeSet<(Time, Slot)>,
    probing: Probing,
    /// The switches that are reached through standbys, or about to be.
    relays: BTreeMap<DatapathId, Slot>,
    /// The buffer that channels read into, one at a time.
    inbox: Vec<u8>,
    round: Round,
    /// The channels to write to; duplicates are possible.
    unsent: VecDeque<Slot>,
    /// The channels with messages left over from this turn.
    behind: Vec<Slot>,
    /// The number of other channels whose sockets may hold more.
    unread: usize,
}

/// A round of reading: every channel that was ready when it began, in one turn or several.
#[derive(Default)]
struct Round {
    began: Time,
    /// Whether no other channel was ready.
    is_whole: bool,
    /// The channels that are not read yet.
    left: VecDeque<Slot>,
}

impl Channels {
    pub(crate) fn new(
        engine: Shared,
        accepted: mpsc::Receiver<Incoming>,
        tls: Option<OpenFlowTls>,
    ) -> io::Result<Self> {
        Ok(Self {
            engine,
            accepted,
            checked_revision: tls.as_ref().map_or(0, OpenFlowTls::revision),
            tls,
            poller: Poller::new()?,
            slots: Vec::new(),
            free: Vec::new(),
            handshakes: Handshakes::new(handshakes::LIMITS),
            filled: Rc::default(),
            due: BTreeSet::new(),
            probing: Probing::default(),
            relays: BTreeMap::new(),
            // Room for left-over messages, or for an incomplete message, and for a read.
            inbox: vec![0; MAX_MESSAGE + READ_CHUNK],
            round: Round::default(),
            unsent: VecDeque::new(),
            behind: Vec::new(),
            unread: 0,
        })
    }

    /// Serves switches until the task is dropped.
    ///
    /// # Errors
    /// The poller fails.
    pub(crate) async fn serve(mut self) -> io::Error {
        loop {
            match self.turn() {
                // Other tasks of this thread run as well.
                Ok(true) => yield_now().await,
                Ok(false) => self.wait().await,
                Err(error) => return error,
            }
        }
    }

    /// Waits until there is something to do.
    async fn wait(&mut self) {
        let next = self.until_next();
        let filled = self.filled.clone();
        tokio::select! {
            Some(incoming) = self.accepted.recv() => self.take(incoming),
            // The next poll reports an error again.
            _ = self.poller.some() => {}
            () = filled.some() => {}
            () = tokio::time::sleep(next) => {}
        }
        filled.looked_at();
    }

    /// The time until something is due.
    fn until_next(&self) -> Duration {
        let engine = self.engine.borrow();
        let now = engine.now();
        let probing = engine.switches().is_elected().then(|| self.probing.until_next(now));
        let due = self.due.first().map(|(at, _)| at.since(now));
        [due, probing].into_iter().flatten().fold(MAX_SLEEP, Duration::min)
    }

    /// Runs one turn. Returns whether there was anything to do.
    fn turn(&mut self) -> io::Result<bool> {
        // New connections are accepted however busy the others are.
        while let Ok(incoming) = self.accepted.try_recv() {
            self.take(incoming);
        }
        if self.round.left.is_empty() {
            self.begin_round()?;
        } else {
            self.read_control()?;
            self.flush_all();
        }
        let read = self.read_round();
        if self.round.left.is_empty() {
            self.end_round();
            // After the reads, so that no switch counts as silent because the controller was delayed.
            self.tick();
            self.probe();
            self.check_identities();
        }
        let flushed = self.flush_all();
        Ok(read + flushed > 0 || !self.behind.is_empty())
    }

    fn begin_round(&mut self) -> io::Result<()> {
        self.round.began = self.engine.borrow_mut().begin_round();
        let mut ready = Vec::new();
        self.round.is_whole = self.poller.look(&mut ready)?;
        self.round.left.extend(&ready);
        ready.sort_unstable();
        let behind = std::mem::take(&mut self.behind);
        self.round.left.extend(behind.iter().filter(|slot| ready.binary_search(slot).is_err()));
        Ok(())
    }

    /// Reads channels of this round for a while. Returns how many.
    fn read_round(&mut self) -> usize {
        let (start, mut read) = (self.now(), 0);
        while let Some(slot) = self.round.left.pop_front() {
            self.read(slot);
            self.list_unsent(slot);
            read += 1;
            if self.now().since(start) >= MAX_TURN {
                break;
            }
        }
        read
    }

    fn end_round(&mut self) {
        let unread = std::mem::take(&mut self.unread);
        if self.round.is_whole && unread <= (self.engine.borrow().switches().len() / MAX_BEHIND).max(1) {
            self.engine.borrow_mut().end_round(self.round.began);
        }
    }

    /// Writes to a channel in this turn, or the next that gets so far.
    fn list_unsent(&mut self, slot: Slot) {
        if let Some(channel) = self.slots.get_mut(slot).and_then(Option::as_mut)
            && !std::mem::replace(&mut channel.is_listed, true)
        {
            self.unsent.push_back(slot);
        }
    }

    /// Writes to channels with output for a while. Returns how many.
    fn flush_all(&mut self) -> usize {
        let (start, mut flushed) = (self.now(), 0);
        self.filled.take_into(&mut self.unsent);
        while let Some(slot) = self.unsent.pop_front() {
            self.flush(slot);
            flushed += 1;
            if self.unsent.is_empty() {
                // A channel that closes causes output for others.
                self.filled.take_into(&mut self.unsent);
            }
            if self.now().since(start) >= MAX_TURN {
                break;
            }
        }
        flushed
    }

    fn now(&self) -> Time {
        self.engine.borrow().now()
    }

    fn tick(&mut self) {
        let (now, stalled) = {
            let engine = self.engine.borrow();
            (engine.now(), engine.stalled())
        };
        while let Some((_, slot)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.pop_first();
            let Some(channel) = self.slots.get_mut(slot).and_then(Option::as_mut) else { continue };
            channel.due = now + TICK;
            self.due.insert((channel.due, slot));
            if let Err(why) = channel.handle_timeout(now, stalled) {
                self.close(slot, &why);
            } else {
                self.flush(slot);
            }
        }
    }

    /// Closes the connections of switches that may not be their datapath any more, each time that this may have changed.
    fn check_identities(&mut self) {
        let revision = self.tls.as_ref().map_or(0, OpenFlowTls::revision);
        if std::mem::replace(&mut self.checked_revision, revision) == revision {
            return;
        }
        for slot in 0..self.slots.len() {
            let channel = self.slots.get(slot).and_then(Option::as_ref);
            if let Some(Err(why)) = channel.map(Channel::check_identity) {
                self.close(slot, &why);
            }
        }
    }

    fn read(&mut self, slot: Slot) {
        let Some(channel) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        let read = channel.read(&mut self.engine.borrow_mut(), &mut self.inbox);
        if channel.has_joined()
            && let Some(place) = channel.place.take()
        {
            self.handshakes.end(place, slot);
        }
        if let Err(why) = read {
            return self.close(slot, &why);
        }
        // A peer that is no switch yet cannot make the controller believe that it does not listen.
        let has_more = channel.goes_on() || channel.has_more;
        self.unread += usize::from(has_more && channel.has_joined());
        if channel.goes_on() {
            self.behind.push(slot);
        }
    }

    fn flush(&mut self, slot: Slot) {
        let Some(channel) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        channel.is_listed = false;
        let wished = channel.change_role(|| self.engine.borrow().now());
        let result = wished.and_then(|()| channel.flush()).and_then(|()| {
            let (wants, wanted) = (channel.wants(), channel.wanted);
            if wants != wanted {
                channel.wanted = wants;
                self.poller.change(&channel.stream, slot, wants)?;
            }
            if !wanted.read && channel.goes_on() {
                self.behind.push(slot);
            }
            Ok(())
        });
        if let Err(why) = result {
            self.close(slot, &why);
        }
    }
}
