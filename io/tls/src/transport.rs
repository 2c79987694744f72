//! The socket of an OpenFlow connection, plain or with TLS.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

use crate::stream::TlsStream;

/// The socket of an OpenFlow connection. The plain variant adds nothing to the socket's own calls.
#[derive(Debug)]
pub enum Transport {
    /// TCP.
    Plain(TcpStream),
    /// TLS over TCP.
    Tls(Box<TlsStream>),
}

/// Whether a call would have had to wait, or was interrupted: it is to be made again later.
pub fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

impl Transport {
    /// Reads once. All of `room`, which has at least [`TlsStream::MIN_ROOM`] bytes, may be overwritten.
    ///
    /// # Errors
    ///
    /// As [`TlsStream::read`].
    pub fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(room),
            Self::Tls(stream) => stream.read(room),
        }
    }

    /// Writes as far as the socket permits. Returns the bytes that need not be written again.
    ///
    /// # Errors
    ///
    /// As [`TlsStream::write`].
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    /// Writes bytes that were taken before.
    ///
    /// # Errors
    ///
    /// A failure of the socket.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(stream) => stream.flush(),
        }
    }

    /// Whether to write again when the socket takes more, where more bytes are `pending`.
    #[must_use]
    pub fn wants_write(&self, pending: bool) -> bool {
        match self {
            Self::Plain(_) => pending,
            Self::Tls(stream) => stream.has_unsent() || pending && !stream.is_handshaking(),
        }
    }

    /// Whether bytes may have arrived that the poller does not see, with the end of a handshake.
    #[must_use]
    pub const fn may_have_unread(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Says that nothing follows.
    pub fn close(&mut self) {
        if let Self::Tls(stream) = self {
            stream.close();
        }
    }

    /// Sends short messages at once.
    ///
    /// # Errors
    ///
    /// A failure of the socket.
    pub fn set_nodelay(&self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.set_nodelay(true),
            Self::Tls(stream) => stream.socket().set_nodelay(true),
        }
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.as_fd(),
        }
    }
}
