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

/// No request is longer.
const LONGEST: usize = 16_384;
/// Room for the status of several thousand links that the client has not read yet.
const ANSWERS: usize = 8 << 20;
/// More at once are not served.
const MOST_CLIENTS: usize = 64;

/// The socket, and those who talk over it. It never waits for anybody.
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
    /// Listens at `path`; what an ended process left there is replaced.
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

    /// Takes the one who connects, if there is room.
    pub(crate) fn accept(&mut self, poller: &Poller) {
        let Ok((stream, _)) = self.listener.accept() else { return };
        // Without the room, a client that asks for very many links is let go.
        let _ = sockopt::set_socket_send_buffer_size_force(&stream, ANSWERS);
        let ready = stream.set_nonblocking(true).is_ok();
        if !ready || self.clients.len() >= MOST_CLIENTS {
            return;
        }
        self.next = self.next.wrapping_add(1);
        if poller.add(&stream, Token::Client(self.next)).is_ok() {
            self.clients.insert(self.next, Connection { stream, received: Vec::new() });
        }
    }

    /// Answers what a client has said; one that has gone, or does not read its answers, is let go.
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
    /// Whether there is more to come.
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
        Ok(count > 0 && self.received.len() <= LONGEST)
    }
}
