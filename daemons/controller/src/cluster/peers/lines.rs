//! Lines of JSON, each of a bounded length and within a bounded time.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

/// Bytes of a line.
const MAX_LINE: usize = 4 << 10;
const CHUNK: usize = 1 << 10;

/// The lines that come over a connection.
#[derive(Debug)]
pub(super) struct Lines {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Lines {
    pub(super) const fn new(stream: TcpStream) -> Self {
        Self { stream, unread: Vec::new() }
    }

    /// The next line, which has to be complete within this time.
    ///
    /// # Errors
    /// There is none in time, or the connection has ended, or it is too long or no JSON.
    pub(super) fn next(&mut self, limit: Duration) -> io::Result<Value> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return Ok(serde_json::from_slice(&line)?);
            }
            if self.unread.len() >= MAX_LINE {
                return Err(io::ErrorKind::InvalidData.into());
            }
            self.receive(deadline)?;
        }
    }

    fn receive(&mut self, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut chunk = [0; CHUNK];
        let read = self.stream.read(&mut chunk)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.unread.extend(chunk.iter().take(read));
        Ok(())
    }
}

/// Writes a value as a line.
pub(super) fn write_line(mut stream: &TcpStream, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    stream.write_all(&line)
}
