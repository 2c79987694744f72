//! Readiness of all switch sockets by one epoll call, integrated with the async runtime.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::outbox::Place;

/// Sockets that are asked for at once; more have their turn next.
const EVENTS: usize = 256;

/// Says which sockets can be read or written: one system call for all, and none to the runtime for any.
pub(super) struct Poller {
    epoll: AsyncFd<OwnedFd>,
    events: Vec<Event>,
}

/// What a socket is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    pub(super) read: bool,
    pub(super) write: bool,
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
    pub(super) fn new() -> io::Result<Self> {
        let epoll = watch(epoll::create(CreateFlags::CLOEXEC)?)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS) })
    }

    pub(super) fn add(&self, socket: &impl AsFd, place: Place, wanted: Wanted) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(place as u64), wanted.flags())?)
    }

    pub(super) fn change(&self, socket: &impl AsFd, place: Place, wanted: Wanted) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, EventData::new_u64(place as u64), wanted.flags())?)
    }

    pub(super) fn remove(&self, socket: &impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Puts those that can be served now into `places`, those first that have waited for longest.
    pub(super) fn look(&mut self, places: &mut Vec<Place>) -> io::Result<()> {
        self.events.clear();
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&now)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        places.extend(self.events.iter().map(|event| event.data.u64() as Place));
        Ok(())
    }

    /// Waits until it is worth while to look.
    pub(super) async fn some(&self) -> io::Result<()> {
        // Whatever comes after this is seen by the next look, or told again.
        self.epoll.readable().await?.clear_ready();
        Ok(())
    }
}

#[expect(
    unsafe_code,
    reason = "tokio watches whatever gives a descriptor only if that is promised to stay the same"
)]
fn watch(epoll: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor of an `OwnedFd` is the same and open for as long as it is there.
    let watched = unsafe { AsyncFd::register_with_interest(epoll, Interest::READABLE) };
    Ok(watched?)
}
