//! A socket that asks the kernel, and listens to it.

use std::io;
use std::time::Duration;

use netlink_sys::SocketAddr;
use netlink_sys::protocols::NETLINK_GENERIC;
use socket2::SockRef;

use super::message::{Body, encode, generic};
use super::{Attributes, Family, Messages, Request};

/// Why the kernel was asked in vain.
#[derive(Debug, thiserror::Error)]
pub enum NetlinkError {
    /// The socket does not work.
    #[error("cannot talk to the kernel over netlink")]
    Socket(#[source] io::Error),
    /// The kernel refuses.
    #[error("the kernel refuses to {what}: {}", .reason.clone().unwrap_or_else(|| .error.to_string()))]
    Refused {
        /// What it was asked for.
        what: &'static str,
        /// Its own words, if it has any.
        reason: Option<String>,
        /// Its error.
        error: io::Error,
    },
    /// The kernel has no such family.
    #[error("the kernel has no {0}")]
    NoFamily(&'static str),
    /// The kernel's answer cannot be understood.
    #[error("the kernel's answer has no {0}")]
    Answer(&'static str),
}

impl NetlinkError {
    /// The kernel's error, if it refused.
    #[must_use]
    pub fn refusal(&self) -> Option<&io::Error> {
        match self {
            Self::Refused { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// A socket of netlink, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Socket {
    inner: netlink_sys::Socket,
    sequence: u32,
}

impl Socket {
    /// Opens one of generic netlink.
    ///
    /// # Errors
    ///
    /// The kernel has no such netlink, or this process too many files.
    pub fn open() -> Result<Self, NetlinkError> {
        Self::open_protocol(NETLINK_GENERIC)
    }

    /// As [`Socket::open`], for another protocol of netlink's.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn open_protocol(protocol: isize) -> Result<Self, NetlinkError> {
        let open = || {
            let mut inner = netlink_sys::Socket::new(protocol)?;
            inner.bind_auto()?;
            inner.connect(&SocketAddr::new(0, 0))?;
            inner.set_ext_ack(true)?;
            Ok(inner)
        };
        Ok(Self { inner: open().map_err(NetlinkError::Socket)?, sequence: 0 })
    }

    /// Asks the kernel to `what`, and calls `each` with the attributes of each message that it answers with.
    ///
    /// # Errors
    ///
    /// The kernel refuses, or `each` does.
    pub fn ask(
        &mut self,
        what: &'static str,
        request: &Request,
        mut each: impl FnMut(Attributes<'_>) -> Result<(), NetlinkError>,
    ) -> Result<(), NetlinkError> {
        self.sequence = self.sequence.wrapping_add(1);
        self.exchange(what, &request.encode(self.sequence), |payload| match generic(payload) {
            Some((_, attributes)) => each(attributes),
            None => Err(NetlinkError::Answer("command")),
        })
    }

    /// As [`Socket::ask`] for all there are of `kind`, with payloads as they are.
    ///
    /// # Errors
    ///
    /// As above.
    pub fn ask_all(
        &mut self,
        what: &'static str,
        kind: u16,
        request: &[u8],
        each: impl FnMut(&[u8]) -> Result<(), NetlinkError>,
    ) -> Result<(), NetlinkError> {
        self.sequence = self.sequence.wrapping_add(1);
        self.exchange(what, &encode(kind, true, self.sequence, request), each)
    }

    fn exchange(
        &self,
        what: &'static str,
        request: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), NetlinkError>,
    ) -> Result<(), NetlinkError> {
        self.inner.send(request, 0).map_err(NetlinkError::Socket)?;
        loop {
            let datagram = self.receive()?;
            for message in Messages(&datagram).filter(|it| it.sequence == self.sequence) {
                match message.body {
                    Body::Done => return Ok(()),
                    Body::Refused(error, reason) => {
                        return Err(NetlinkError::Refused { what, reason: reason.map(str::to_owned), error });
                    }
                    Body::Data { payload, .. } => each(payload)?,
                }
            }
        }
    }

    /// Receives what is said to all members of a family's group from now on.
    ///
    /// # Errors
    ///
    /// The family has no such group, or this process may not listen.
    pub fn listen(&self, family: &Family, group: &'static str) -> Result<(), NetlinkError> {
        let group = family.group(group).ok_or(NetlinkError::NoFamily(group))?;
        // Many connections at once must not overrun it; beyond the system's limit it stays at that.
        let _ = SockRef::from(&self.inner).set_recv_buffer_size(1 << 20);
        self.inner.add_membership(group).map_err(NetlinkError::Socket)
    }

    /// Waits no longer than this for a datagram from now on.
    ///
    /// # Errors
    ///
    /// The time is zero.
    pub fn set_patience(&self, patience: Duration) -> Result<(), NetlinkError> {
        SockRef::from(&self.inner).set_read_timeout(Some(patience)).map_err(NetlinkError::Socket)
    }

    /// The next datagram.
    ///
    /// # Errors
    ///
    /// Datagrams were lost for want of room, or there is none within the time that the socket waits.
    pub fn receive(&self) -> Result<Vec<u8>, NetlinkError> {
        Ok(self.inner.recv_from_full().map_err(NetlinkError::Socket)?.0)
    }
}
