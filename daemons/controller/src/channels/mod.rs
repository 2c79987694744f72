//! The channels of all switches, served by one task.
//!
//! In each turn, every channel is read once that can be, and then what all of it caused is written, once to each: no switch
//! waits for another that says much, and a turn costs one system call for all channels, one for each that says something
//! and one for each that is told something. What a switch says beyond its share of a turn waits for the next.

mod accept;
mod channel;
mod outbox;
mod poller;

use std::collections::BTreeSet;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use braid_types::Time;
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tracing::warn;

use crate::engine::Shared;
use channel::{Channel, ChannelError};
use outbox::Place;
use poller::Poller;

pub(crate) use accept::{Newcomer, accept, door};
pub(crate) use outbox::{Filled, Outbox};

/// More connections than any network has switches are a mistake or an attack.
const MAX_CHANNELS: usize = 4_096;
/// How often sessions are told that time passes.
const TICK: Duration = Duration::from_secs(1);
/// The length of a message has 16 bits.
const MAX_MESSAGE: usize = 1 << 16;
/// What is read at once from one switch before the others have their turn.
const READ_CHUNK: usize = 64 << 10;

/// All channels that are open.
pub(crate) struct Channels {
    engine: Shared,
    newcomers: mpsc::Receiver<Newcomer>,
    poller: Poller,
    places: Vec<Option<Channel>>,
    free: Vec<Place>,
    filled: Rc<Filled>,
    /// When each channel's session is to be told that time passes.
    due: BTreeSet<(Time, Place)>,
    /// What channels read into, one at a time.
    inbox: Vec<u8>,
    /// Those that are served in this turn.
    served: Vec<Place>,
    /// Those that had said more than there was time for in their turn.
    behind: Vec<Place>,
}

impl Channels {
    pub(crate) fn new(engine: Shared, newcomers: mpsc::Receiver<Newcomer>) -> io::Result<Self> {
        Ok(Self {
            engine,
            newcomers,
            poller: Poller::new()?,
            places: Vec::new(),
            free: Vec::new(),
            filled: Rc::default(),
            due: BTreeSet::new(),
            // For what a channel is behind with, or for the front of a message and more.
            inbox: vec![0; MAX_MESSAGE + READ_CHUNK],
            served: Vec::new(),
            behind: Vec::new(),
        })
    }

    /// Serves those who connect until the task is dropped.
    ///
    /// # Errors
    /// The system does not say which sockets can be read any more.
    pub(crate) async fn serve(mut self) -> io::Error {
        loop {
            match self.turn() {
                // Others on this thread have their turn, too.
                Ok(true) => yield_now().await,
                Ok(false) => self.wait().await,
                Err(error) => return error,
            }
        }
    }

    /// Waits until there is something to do.
    async fn wait(&mut self) {
        let next = self.due.first().map(|(at, _)| at.since(self.engine.borrow().now()));
        let filled = self.filled.clone();
        tokio::select! {
            Some((stream, address)) = self.newcomers.recv() => self.open(stream, address),
            // An error is told again by the next look.
            _ = self.poller.some() => {}
            () = filled.some() => {}
            () = tokio::time::sleep(next.unwrap_or(TICK)) => {}
        }
        filled.looked_at();
    }

    /// Says whether there was anything to do.
    fn turn(&mut self) -> io::Result<bool> {
        // Those who connect are let in however much the others say.
        while let Ok((stream, address)) = self.newcomers.try_recv() {
            self.open(stream, address);
        }
        self.served.clear();
        self.poller.look(&mut self.served)?;
        let mut behind = std::mem::take(&mut self.behind);
        behind.retain(|place| !self.served.contains(place));
        self.served.append(&mut behind);
        for index in 0..self.served.len() {
            self.read(self.served[index]);
        }
        // After what they have said, so that no switch counts as silent because the controller stood still.
        self.tick();
        let mut flushed = 0;
        self.filled.take_into(&mut self.served);
        while let Some(place) = self.served.get(flushed).copied() {
            self.flush(place);
            flushed += 1;
            if flushed == self.served.len() {
                // A channel that has ended has others told something.
                self.filled.take_into(&mut self.served);
            }
        }
        Ok(flushed > 0 || !self.behind.is_empty())
    }

    fn tick(&mut self) {
        let now = self.engine.borrow().now();
        while let Some((_, place)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.pop_first();
            let Some(channel) = self.places.get_mut(place).and_then(Option::as_mut) else { continue };
            channel.due = now + TICK;
            self.due.insert((channel.due, place));
            if let Err(why) = channel.handle_timeout(now) {
                self.close(place, &why);
            } else {
                self.flush(place);
            }
        }
    }

    fn read(&mut self, place: Place) {
        let Some(channel) = self.places.get_mut(place).and_then(Option::as_mut) else { return };
        let read = channel.read(&mut self.engine.borrow_mut(), &mut self.inbox);
        match read {
            Ok(()) if channel.goes_on() => self.behind.push(place),
            Ok(()) => {}
            Err(why) => self.close(place, &why),
        }
    }

    fn flush(&mut self, place: Place) {
        let Some(channel) = self.places.get_mut(place).and_then(Option::as_mut) else { return };
        let result = channel.flush().and_then(|()| {
            let (wants, wanted) = (channel.wants(), channel.wanted);
            if wants != wanted {
                channel.wanted = wants;
                self.poller.change(&channel.stream, place, wants)?;
            }
            if !wanted.read && channel.goes_on() {
                self.behind.push(place);
            }
            Ok(())
        });
        if let Err(why) = result {
            self.close(place, &why);
        }
    }

    fn open(&mut self, stream: std::net::TcpStream, address: std::net::SocketAddr) {
        if self.places.len() - self.free.len() >= MAX_CHANNELS {
            warn!(%address, "{MAX_CHANNELS} switches are connected, which is the limit: connection closed");
            return;
        }
        let now = self.engine.borrow().now();
        let place = self.free.pop().unwrap_or(self.places.len());
        let outbox = Outbox::new(place, &self.filled);
        let mut channel = Channel::open(stream, address, outbox, now);
        channel.due = now + TICK;
        self.due.insert((channel.due, place));
        let added = channel.stream.set_nodelay(true);
        let added = added.and_then(|()| self.poller.add(&channel.stream, place, channel.wanted));
        if place == self.places.len() {
            self.places.push(None);
        }
        self.places[place] = Some(channel);
        if let Err(why) = added {
            self.close(place, &why.into());
        }
    }

    fn close(&mut self, place: Place, why: &ChannelError) {
        let Some(channel) = self.places.get_mut(place).and_then(Option::take) else { return };
        self.free.push(place);
        self.due.remove(&(channel.due, place));
        // It may not have been added.
        let _ = self.poller.remove(&channel.stream);
        channel.close(&mut self.engine.borrow_mut(), why);
    }
}
