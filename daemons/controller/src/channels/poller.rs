//! Readiness of all switch sockets by one epoll call, integrated with the async runtime.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::outbox::Slot;

/// Sockets reported by one epoll call; others follow in the next turn.
const MAX_EVENTS: usize = 4_096;

/// Reports which sockets can be read or written: one system call for all, and none through the async runtime.
pub(crate) struct Poller {
    epoll: AsyncFd<OwnedFd>,
    events: Vec<Event>,
}

/// The events that a socket is polled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

impl Wanted {
    fn flags(self) -> EventFlags {
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, self.read);
        flags.set(EventFlags::OUT, self.write);
        flags
    }
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = watch(epoll::create(CreateFlags::CLOEXEC)?)?;
        Ok(Self { epoll, events: Vec::with_capacity(MAX_EVENTS) })
    }

    pub(crate) fn add(&self, socket: &impl AsFd, slot: Slot, wanted: Wanted) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(slot as u64), wanted.flags())?)
    }

    pub(crate) fn change(&self, socket: &impl AsFd, slot: Slot, wanted: Wanted) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, EventData::new_u64(slot as u64), wanted.flags())?)
    }

    pub(crate) fn remove(&self, socket: &impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Appends the ready sockets to `slots`, the longest waiting first. Returns whether these are all.
    pub(crate) fn look(&mut self, slots: &mut Vec<Slot>) -> io::Result<bool> {
        self.events.clear();
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&now)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        slots.extend(self.events.iter().map(|event| event.data.u64() as Slot));
        Ok(self.events.len() < self.events.capacity())
    }

    /// Waits until a socket may be ready.
    pub(crate) async fn some(&self) -> io::Result<()> {
        // Later events are seen by the next poll, or wake this again.
        self.epoll.readable().await?.clear_ready();
        Ok(())
    }
}

#[expect(
    unsafe_code,
    reason = "tokio's unchecked registration requires a descriptor that stays open and the same"
)]
fn watch(epoll: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` keeps its descriptor open and unchanged while it exists.
    let watched = unsafe { AsyncFd::register_with_interest(epoll, Interest::READABLE) };
    Ok(watched?)
}
