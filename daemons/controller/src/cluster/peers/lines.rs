//! Lines of JSON over TCP or TLS, each of a bounded length and within a bounded time.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use braid_tls::{TlsStream, Transport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use serde_json::Value;

/// Bytes of a line.
const MAX_LINE: usize = 16 << 10;

/// One end of a connection.
#[derive(Debug)]
pub(in crate::cluster) struct Lines {
    transport: Transport,
    unread: Vec<u8>,
    room: Vec<u8>,
    max_line: usize,
}

impl Lines {
    /// The socket must not block.
    pub(super) fn new(transport: Transport) -> Self {
        Self { transport, unread: Vec::new(), room: vec![0; TlsStream::MIN_ROOM], max_line: MAX_LINE }
    }

    /// Lines may have this many bytes from now on.
    pub(in crate::cluster) const fn set_max_line(&mut self, bytes: usize) {
        self.max_line = bytes;
    }

    /// The next line, which has to be complete within this time.
    ///
    /// # Errors
    /// There is none in time, or the connection has ended, or it is too long or no JSON.
    pub(in crate::cluster) fn next(&mut self, limit: Duration) -> io::Result<Value> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(serde_json::from_slice(&line)?);
            }
            if self.unread.len() >= self.max_line {
                return Err(ErrorKind::InvalidData.into());
            }
            self.receive(deadline)?;
        }
    }

    /// Writes a value as a line, which has to be sent within this time.
    ///
    /// # Errors
    /// It is not sent in time, or the connection has ended.
    pub(in crate::cluster) fn write(&mut self, value: &impl Serialize, limit: Duration) -> io::Result<()> {
        self.write_text(serde_json::to_string(value)?, limit)
    }

    /// As [`Self::write`], for a value that is JSON already.
    pub(in crate::cluster) fn write_text(&mut self, mut line: String, limit: Duration) -> io::Result<()> {
        let deadline = Instant::now() + limit;
        line.push('\n');
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            match self.transport.write(rest) {
                Ok(0) => wait(&self.transport, PollFlags::OUT, deadline)?,
                Ok(taken) => rest = rest.get(taken..).unwrap_or_default(),
                Err(error) => self.wait_after(error, PollFlags::OUT, deadline)?,
            }
        }
        while self.transport.wants_write(false) {
            wait(&self.transport, PollFlags::OUT, deadline)?;
            self.transport.flush()?;
        }
        Ok(())
    }

    /// Waits until enough was received that is no line.
    ///
    /// # Errors
    /// There is not enough in time, or the connection has ended, or it is too much.
    pub(in crate::cluster) fn wait_for(
        &mut self,
        limit: Duration,
        is_enough: impl Fn(&[u8]) -> bool,
    ) -> io::Result<()> {
        let deadline = Instant::now() + limit;
        while !is_enough(&self.unread) {
            if self.unread.len() >= self.max_line {
                return Err(ErrorKind::InvalidData.into());
            }
            self.receive(deadline)?;
        }
        Ok(())
    }

    /// The connection, for something else than lines, and what was received and not taken.
    pub(in crate::cluster) fn into_parts(self) -> (Transport, Vec<u8>) {
        (self.transport, self.unread)
    }

    fn receive(&mut self, deadline: Instant) -> io::Result<()> {
        loop {
            match self.transport.read(&mut self.room) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    self.unread.extend(self.room.iter().take(read));
                    return Ok(());
                }
                Err(error) => self.wait_after(error, PollFlags::IN, deadline)?,
            }
        }
    }

    /// Waits if that is what an error asks for.
    fn wait_after(&self, error: io::Error, events: PollFlags, deadline: Instant) -> io::Result<()> {
        match error.kind() {
            ErrorKind::WouldBlock => wait(&self.transport, events, deadline),
            ErrorKind::Interrupted => Ok(()),
            _ => Err(error),
        }
    }
}

/// Completes the handshake of a connection before this time.
pub(super) fn shake_hands(stream: &mut TlsStream, deadline: Instant) -> io::Result<()> {
    while !stream.handshake()? {
        let events = if stream.has_unsent() { PollFlags::OUT } else { PollFlags::IN };
        wait(&*stream, events, deadline)?;
    }
    Ok(())
}

/// Sends short lines at once, and blocks no thread longer than it says.
pub(super) fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)
}

fn wait(socket: &impl AsFd, events: PollFlags, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = Timespec::try_from(left).map_err(|_| ErrorKind::InvalidInput)?;
    let mut sockets = [PollFd::new(socket, events)];
    match poll(&mut sockets, Some(&timeout)) {
        Ok(0) => Err(ErrorKind::TimedOut.into()),
        Ok(_) => Ok(()),
        Err(error) if error == rustix::io::Errno::INTR => Ok(()),
        Err(error) => Err(error.into()),
    }
}
