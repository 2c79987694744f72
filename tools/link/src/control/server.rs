//! The control socket's server, which never blocks the links.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::net::sockopt;

use super::{Answer, Request, Status};
use crate::engine::{Poller, Token};
use crate::error::LinkError;

/// The longest request in bytes.
const MAX_REQUEST: usize = 16_384;
/// Bytes of unread responses, enough for the status of several thousand links.
const MAX_UNREAD_RESPONSES: usize = 8 << 20;
/// Clients served at a time.
const MAX_CLIENTS: usize = 64;

/// The listening socket and its clients. Never blocks.
pub(crate) struct Server {
    listener: UnixListener,
    clients: BTreeMap<u32, Connection>,
    next: u32,
}

struct Connection {
    stream: UnixStream,
    received: Vec<u8>,
}

impl Server {
    /// Listens at `path`, replacing the socket of an ended process.
    pub(crate) fn bind(path: &Path) -> Result<Self, LinkError> {
        let bind = || {
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let listener = UnixListener::bind(path)?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = bind().map_err(|source| LinkError::Socket { path: path.to_owned(), source })?;
        Ok(Self { listener, clients: BTreeMap::new(), next: 0 })
    }

    /// Accepts a client if there is room.
    pub(crate) fn accept(&mut self, poller: &Poller) {
        let Ok((stream, _)) = self.listener.accept() else { return };
        // Without a large send buffer, a client of very many links would be disconnected.
        let _ = sockopt::set_socket_send_buffer_size_force(&stream, MAX_UNREAD_RESPONSES);
        let ready = stream.set_nonblocking(true).is_ok();
        if !ready || self.clients.len() >= MAX_CLIENTS {
            return;
        }
        self.next = self.next.wrapping_add(1);
        if poller.add(&stream, Token::Client(self.next)).is_ok() {
            self.clients.insert(self.next, Connection { stream, received: Vec::new() });
        }
    }

    /// Serves a client's requests. A client that is gone or does not read its responses is dropped.
    pub(crate) fn serve(&mut self, client: u32, answer: impl FnMut(Request) -> Result<Status, String>) {
        let Some(connection) = self.clients.get_mut(&client) else { return };
        if !connection.serve(answer).unwrap_or(false) {
            self.clients.remove(&client);
        }
    }
}

impl AsFd for Server {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Connection {
    /// Reads a client's bytes. Returns whether the connection is still open.
    fn serve(&mut self, mut answer: impl FnMut(Request) -> Result<Status, String>) -> io::Result<bool> {
        let mut buffer = [0; 4_096];
        let count = match self.stream.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            other => other?,
        };
        self.received.extend_from_slice(buffer.get(..count).unwrap_or_default());
        while let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
            let line: Vec<_> = self.received.drain(..=end).collect();
            let answer = match serde_json::from_slice(&line) {
                Ok(request) => answer(request),
                Err(error) => Err(format!("not a request: {error}")),
            };
            let answer = answer.map_or_else(Answer::Error, Answer::Ok);
            let mut text = serde_json::to_vec(&answer)?;
            text.push(b'\n');
            self.stream.write_all(&text)?;
        }
        Ok(count > 0 && self.received.len() <= MAX_REQUEST)
    }
}
