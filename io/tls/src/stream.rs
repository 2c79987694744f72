//! A TLS connection over a non-blocking socket: its handshake, reads and writes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Connection, Error, ServerConfig, ServerConnection};

use crate::certificate::PeerCertificate;

/// Bytes that a peer may send before the handshake is done: certificates are some KiB.
const MAX_HANDSHAKE: usize = 64 << 10;
/// The longest record. RFC 8446 §5.2.
const MAX_RECORD: usize = 5 + (1 << 14) + 256;

/// A TLS connection. The socket must not block; whoever polls it calls the methods.
#[derive(Debug)]
pub struct TlsStream {
    socket: TcpStream,
    connection: Connection,
    /// Bytes received in the handshake.
    received: usize,
    /// Whether the peer has said that nothing follows.
    closed: bool,
}

impl TlsStream {
    /// The least room for [`Self::read`].
    pub const MIN_ROOM: usize = 3 * MAX_RECORD;

    /// A connection that a client opened.
    ///
    /// # Errors
    ///
    /// The configuration has no certificate.
    pub fn accept(socket: TcpStream, config: Arc<ServerConfig>) -> io::Result<Self> {
        let connection = ServerConnection::new(config).map_err(invalid)?;
        Ok(Self { socket, connection: connection.into(), received: 0, closed: false })
    }

    /// A connection to a server, which may still be opening.
    ///
    /// # Errors
    ///
    /// The configuration allows no version of TLS.
    pub fn connect(socket: TcpStream, config: Arc<ClientConfig>) -> io::Result<Self> {
        // The name is neither sent nor compared.
        let name = ServerName::from(std::net::IpAddr::from([0, 0, 0, 0]));
        let connection = ClientConnection::new(config, name).map_err(invalid)?;
        Ok(Self { socket, connection: connection.into(), received: 0, closed: false })
    }

    /// Takes the handshake as far as the socket permits. Returns whether it is done.
    ///
    /// # Errors
    ///
    /// The peer is refused, refuses, closes, or sends too much: see [`explain`](crate::explain).
    pub fn handshake(&mut self) -> io::Result<bool> {
        loop {
            self.flush()?;
            if self.connection.wants_write() {
                return Ok(false);
            }
            if !self.connection.is_handshaking() {
                return Ok(true);
            }
            match self.connection.read_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.received = self.received.saturating_add(length),
                Err(error) if is_for_later(&error) => return Ok(false),
                Err(error) => return Err(error),
            }
            if self.received > MAX_HANDSHAKE {
                return Err(io::Error::other(format!("it takes more than {MAX_HANDSHAKE} bytes")));
            }
            self.process()?;
        }
    }

    /// Whether the handshake is not done yet.
    #[must_use]
    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether bytes wait for the socket to take them: call [`Self::flush`] when it can be written to.
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        self.connection.wants_write()
    }

    /// The certificate of the peer, once the handshake is done; `None` if it has none.
    #[must_use]
    pub fn peer_certificate(&self) -> Option<PeerCertificate> {
        self.connection.peer_certificates()?.first().and_then(PeerCertificate::read)
    }

    /// The socket, for polling.
    #[must_use]
    pub const fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Goes on with a handshake that is not done. Then reads once from the socket, and decrypts what came. Returns the bytes at the front of `room`, of which the rest is
    /// used as well; 0 at the end of the connection. `room` has at least [`Self::MIN_ROOM`] bytes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::WouldBlock`] if nothing came; a failure of the socket or of TLS.
    pub fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if room.len() < Self::MIN_ROOM {
            return Err(ErrorKind::InvalidInput.into());
        }
        if self.is_handshaking() && !self.handshake()? {
            return Err(ErrorKind::WouldBlock.into());
        }
        // Data may have come with the end of the handshake.
        let left_over = self.take_plaintext(room)?;
        if left_over > 0 || self.closed {
            return Ok(left_over);
        }
        // Of an earlier read, at most a record is left to decrypt: with it, the plain text fits into its part.
        let (plain, cipher) =
            room.split_at_mut(room.len().saturating_sub(room.len().saturating_sub(MAX_RECORD) / 2));
        let received = match self.socket.read(cipher)? {
            0 => return Ok(0),
            received => received,
        };
        self.decrypt(cipher.get(..received).unwrap_or_default(), plain)
    }

    fn decrypt(&mut self, mut cipher: &[u8], plain: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0_usize;
        while !cipher.is_empty() && !self.closed {
            self.connection.read_tls(&mut cipher)?;
            self.process()?;
            let taken = self.take_plaintext(plain.get_mut(filled..).unwrap_or_default())?;
            filled = filled.saturating_add(taken);
        }
        if filled == 0 && !self.closed { Err(ErrorKind::WouldBlock.into()) } else { Ok(filled) }
    }

    fn take_plaintext(&mut self, mut room: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0_usize;
        while !room.is_empty() {
            match self.connection.reader().read(room) {
                Ok(0) => break,
                Ok(length) => {
                    filled = filled.saturating_add(length);
                    room = room.get_mut(length..).unwrap_or_default();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn process(&mut self) -> io::Result<()> {
        match self.connection.process_new_packets() {
            Ok(state) => {
                self.closed |= state.peer_has_closed();
                Ok(())
            }
            Err(error) => {
                // The peer may learn why.
                let _ = self.flush();
                Err(invalid(error))
            }
        }
    }

    /// Encrypts the front of `bytes` and writes it as far as the socket permits. Returns the bytes that need not be written
    /// again; [`Self::has_unsent`] says whether some of them still wait.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::WouldBlock`] if earlier bytes wait; a failure of the socket or of TLS.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush()?;
        if self.has_unsent() || self.is_handshaking() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let taken = self.connection.writer().write(bytes)?;
        self.flush()?;
        Ok(taken)
    }

    /// Writes encrypted bytes that wait, as far as the socket permits.
    ///
    /// # Errors
    ///
    /// A failure of the socket.
    pub fn flush(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if is_for_later(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Tells the peer that nothing follows, if the socket takes it.
    pub fn close(&mut self) {
        self.connection.send_close_notify();
        let _ = self.flush();
    }
}

impl AsFd for TlsStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for TlsStream {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

/// A socket that does not connect yet is one that would block.
fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::NotConnected)
}

fn invalid(error: Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}
