//! Readiness of interfaces, listeners and controllers, with timeouts to the nanosecond.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::error::EdgeError;

/// The source of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// Frames have arrived at an interface.
    Interface(u32),
    /// A controller connects to a listener.
    Listener(u32),
    /// A controller's connection can be read or written, or is closed.
    Channel(u32),
}

impl Token {
    fn encode(self) -> u64 {
        let (kind, number) = match self {
            Self::Interface(number) => (0_u64, number),
            Self::Listener(number) => (1, number),
            Self::Channel(number) => (2, number),
        };
        kind << 32 | u64::from(number)
    }

    fn decode(data: u64) -> Self {
        let number = data as u32;
        match data >> 32 {
            0 => Self::Interface(number),
            1 => Self::Listener(number),
            _ => Self::Channel(number),
        }
    }
}

/// What the poller reports of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interest {
    /// That it can be read.
    pub(crate) read: bool,
    /// That it can be written to.
    pub(crate) write: bool,
}

/// Waits for descriptors with a timeout to the nanosecond.
pub(crate) struct Poller {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Poller {
    pub(crate) fn new() -> Result<Self, EdgeError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC);
        let epoll = epoll.map_err(|error| EdgeError::system("making an epoll instance", error))?;
        Ok(Self { epoll, events: Vec::with_capacity(64) })
    }

    pub(crate) fn add(&self, source: impl AsFd, token: Token, writes: bool) -> Result<(), EdgeError> {
        let flags = Interest { read: true, write: writes }.flags();
        let added = epoll::add(&self.epoll, source, EventData::new_u64(token.encode()), flags);
        added.map_err(|error| EdgeError::system("adding to an epoll instance", error))
    }

    /// Sets what the poller reports of a source.
    pub(crate) fn change(&self, source: impl AsFd, token: Token, interest: Interest) {
        // Reading from a source that is gone shows it.
        let _ = epoll::modify(&self.epoll, source, EventData::new_u64(token.encode()), interest.flags());
    }

    /// The ready sources; returns after `timeout` at the latest.
    pub(crate) fn wait(&mut self, timeout: Duration) -> Result<Vec<Token>, EdgeError> {
        let seconds = timeout.as_secs().min(60).cast_signed();
        let timeout = Timespec { tv_sec: seconds, tv_nsec: timeout.subsec_nanos().into() };
        self.events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(EdgeError::system("waiting for frames", error)),
        }
        Ok(self.events.iter().map(|event| Token::decode(event.data.u64())).collect())
    }
}

impl Interest {
    fn flags(self) -> EventFlags {
        let read = if self.read { EventFlags::IN } else { EventFlags::empty() };
        let write = if self.write { EventFlags::OUT } else { EventFlags::empty() };
        read | write
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_as_they_went() {
        for token in [Token::Interface(0), Token::Interface(u32::MAX), Token::Listener(1), Token::Channel(7)]
        {
            assert_eq!(Token::decode(token.encode()), token);
        }
    }
}
