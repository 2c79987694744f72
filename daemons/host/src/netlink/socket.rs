//! A netlink socket for requests and notifications.

use std::io;
use std::time::Duration;

use netlink_sys::SocketAddr;
use netlink_sys::protocols::NETLINK_GENERIC;
use socket2::SockRef;

use super::message::{Body, encode, generic};
use super::{Attributes, Family, Messages, Request};

/// Errors of netlink requests.
#[derive(Debug, thiserror::Error)]
pub enum NetlinkError {
    /// The socket failed.
    #[error("the netlink socket failed")]
    Socket(#[source] io::Error),
    /// The kernel refuses.
    #[error("the kernel refuses to {what}: {}", .reason.clone().unwrap_or_else(|| .error.to_string()))]
    Refused {
        /// The requested operation.
        what: &'static str,
        /// The kernel's error text, if it gave one.
        reason: Option<String>,
        /// The error code.
        error: io::Error,
    },
    /// The kernel has no such family.
    #[error("the kernel has no netlink family {0}")]
    NoFamily(&'static str),
    /// The kernel's reply is incomplete.
    #[error("the kernel's reply has no {0}")]
    Answer(&'static str),
}

impl NetlinkError {
    /// The kernel's error code, if it refused.
    #[must_use]
    pub fn refusal(&self) -> Option<&io::Error> {
        match self {
            Self::Refused { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// A netlink socket in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Socket {
    inner: netlink_sys::Socket,
    sequence: u32,
}

impl Socket {
    /// Opens a socket of generic netlink.
    ///
    /// # Errors
    ///
    /// The kernel has no such protocol, or this process has too many open files.
    pub fn open() -> Result<Self, NetlinkError> {
        Self::open_protocol(NETLINK_GENERIC)
    }

    /// As [`Socket::open`], for another netlink protocol.
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

    /// Sends a request to `what`, and calls `each` with the attributes of each reply message.
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

    /// A dump of all objects of `kind`, with raw payloads.
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

    /// Joins a multicast group of a family.
    ///
    /// # Errors
    ///
    /// The family has no such group, or this process lacks the privilege.
    pub fn listen(&self, family: &Family, group: &'static str) -> Result<(), NetlinkError> {
        let group = family.group(group).ok_or(NetlinkError::NoFamily(group))?;
        // A large buffer for bursts of connections; the system's limit applies.
        let _ = SockRef::from(&self.inner).set_recv_buffer_size(1 << 20);
        self.inner.add_membership(group).map_err(NetlinkError::Socket)
    }

    /// Sets the timeout of receiving a datagram.
    ///
    /// # Errors
    ///
    /// The time is zero.
    pub fn set_receive_timeout(&self, timeout: Duration) -> Result<(), NetlinkError> {
        SockRef::from(&self.inner).set_read_timeout(Some(timeout)).map_err(NetlinkError::Socket)
    }

    /// The next datagram.
    ///
    /// # Errors
    ///
    /// Datagrams were lost in a full buffer, or none arrived within the timeout.
    pub fn receive(&self) -> Result<Vec<u8>, NetlinkError> {
        loop {
            match self.inner.recv_from_full() {
                // A process that was stopped and goes on has this from a socket with a timeout, without any handler.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                received => return Ok(received.map_err(NetlinkError::Socket)?.0),
            }
        }
    }
}
