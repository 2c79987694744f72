//! An epoll wrapper for many sockets.

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

/// Sockets that one wait reports.
const MAX_EVENTS: usize = 512;
/// The longest wait.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// Waits for sockets that can be read.
pub struct Poller {
    epoll: rustix::fd::OwnedFd,
    events: Vec<Event>,
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").field("epoll", &self.epoll).finish_non_exhaustive()
    }
}

impl Poller {
    /// A poller without sockets.
    ///
    /// # Errors
    /// The system has no room for it.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(MAX_EVENTS) })
    }

    /// The socket is called `name` from now on.
    ///
    /// # Errors
    /// The system refuses.
    pub fn add(&mut self, socket: &impl AsFd, name: usize) -> io::Result<()> {
        let data = EventData::new_u64(name as u64);
        Ok(epoll::add(&self.epoll, socket, data, EventFlags::IN)?)
    }

    /// The socket is of no interest any more.
    ///
    /// # Errors
    /// It was not added.
    pub fn remove(&mut self, socket: &impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// The sockets that can be read, once there are any or 20 ms are over.
    ///
    /// # Errors
    /// The system refuses.
    pub fn wait(&mut self) -> io::Result<Vec<usize>> {
        self.wait_for(MAX_WAIT)
    }

    /// The sockets that can be read, once there are any or so much time is over.
    ///
    /// # Errors
    /// The system refuses.
    pub fn wait_for(&mut self, time: Duration) -> io::Result<Vec<usize>> {
        self.events.clear();
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.events.iter().map(|event| event.data.u64() as usize).collect())
    }
}
