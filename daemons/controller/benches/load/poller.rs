//! An epoll wrapper for the load generator's sockets.

use std::os::fd::AsFd;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Waits for sockets that can be read.
pub(crate) struct Poller {
    epoll: rustix::fd::OwnedFd,
    events: Vec<Event>,
}

impl Poller {
    pub(crate) fn new() -> Self {
        let epoll = epoll::create(CreateFlags::CLOEXEC).expect("epoll");
        Self { epoll, events: Vec::with_capacity(128) }
    }

    /// The socket is called `name` from now on.
    pub(crate) fn add(&mut self, socket: &impl AsFd, name: usize) {
        let data = EventData::new_u64(name as u64);
        epoll::add(&self.epoll, socket, data, EventFlags::IN).expect("a socket");
    }

    pub(crate) fn remove(&mut self, socket: &impl AsFd) {
        epoll::delete(&self.epoll, socket).expect("a socket that was added");
    }

    /// The sockets that can be read, once there are any or `PATIENCE` is over.
    pub(crate) fn wait(&mut self) -> Vec<usize> {
        self.events.clear();
        match epoll::wait(&self.epoll, spare_capacity(&mut self.events), Some(&PATIENCE)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("{error}"),
        }
        self.events.iter().map(|event| event.data.u64() as usize).collect()
    }
}
