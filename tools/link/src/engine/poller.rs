//! Readiness of links and control clients, with timeouts to the nanosecond.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::error::LinkError;

/// The source of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// Frames have arrived at one side of a link.
    Port { link: usize, side: usize },
    /// A client connects.
    Listener,
    /// A client sent a request or is gone.
    Client(u32),
}

impl Token {
    const LISTENER: u64 = u64::MAX;
    const CLIENT: u64 = 1 << 32;

    fn encode(self) -> u64 {
        match self {
            Self::Port { link, side } => 2 * link as u64 + side as u64,
            Self::Client(number) => Self::CLIENT + u64::from(number),
            Self::Listener => Self::LISTENER,
        }
    }

    fn decode(data: u64) -> Self {
        match data {
            Self::LISTENER => Self::Listener,
            port if port < Self::CLIENT => Self::Port { link: port as usize / 2, side: port as usize % 2 },
            client => Self::Client((client - Self::CLIENT) as u32),
        }
    }
}

/// Waits for descriptors with a timeout to the nanosecond.
pub(crate) struct Poller {
    epoll: std::os::fd::OwnedFd,
    events: Vec<Event>,
}

impl Poller {
    pub(crate) fn new() -> Result<Self, LinkError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC);
        let epoll = epoll.map_err(|error| LinkError::system("making an epoll instance", error))?;
        Ok(Self { epoll, events: Vec::with_capacity(128) })
    }

    pub(crate) fn add(&self, source: impl AsFd, token: Token) -> Result<(), LinkError> {
        let added = epoll::add(&self.epoll, source, EventData::new_u64(token.encode()), EventFlags::IN);
        added.map_err(|error| LinkError::system("adding to an epoll instance", error))
    }

    /// The ready sources; returns after `timeout` at the latest.
    pub(crate) fn wait(
        &mut self,
        timeout: Duration,
    ) -> Result<impl Iterator<Item = Token> + use<>, LinkError> {
        // At most a quarter of a second.
        let timeout = Timespec { tv_sec: 0, tv_nsec: timeout.subsec_nanos().into() };
        self.events.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(LinkError::system("waiting for frames", error)),
        }
        let tokens: Vec<_> = self.events.iter().map(|event| Token::decode(event.data.u64())).collect();
        Ok(tokens.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_as_they_went() {
        for token in [
            Token::Port { link: 0, side: 0 },
            Token::Port { link: 31, side: 1 },
            Token::Listener,
            Token::Client(0),
            Token::Client(u32::MAX),
        ] {
            assert_eq!(Token::decode(token.encode()), token);
        }
    }
}
