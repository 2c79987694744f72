//! Connections of API clients and browsers, limited in number and in time.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep, sleep};
use tracing::warn;

use super::places::{Place, Places};
use super::stream::Stream;
use crate::access::Tls;

/// The time from the connection to the first byte of a request, with the TLS handshake.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time from the first byte of a request to the end of its header.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// The time between requests, and from a request's header to its answer: longer than any answer takes. Watchers are sent
/// something more often.
const IDLE_TIMEOUT: Duration = Duration::from_secs(70);

/// Accepts connections.
pub(super) struct Limited {
    listener: TcpListener,
    tls: Option<Tls>,
    places: Places,
}

impl Limited {
    pub(super) const fn new(listener: TcpListener, tls: Option<Tls>, places: Places) -> Self {
        Self { listener, tls, places }
    }
}

impl Listener for Limited {
    type Io = Protected;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Protected, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    let place = self.places.take(peer);
                    return (Protected::new(self.open(stream), place), peer);
                }
                Err(error) => {
                    warn!(%error, "an API client's connection could not be accepted");
                    sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Limited {
    fn open(&self, stream: TcpStream) -> Stream {
        // What is written is a whole answer or a whole message.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            Some(tls) => Stream::Opening(Box::new(tls.acceptor().accept(stream))),
            None => Stream::Plain(stream),
        }
    }
}

/// What a connection waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// A request.
    Request,
    /// The end of a request's header, after so many line ends in a row.
    Header { line_ends: u8 },
    /// The rest of the request, and its answer.
    Answer,
}

impl Phase {
    /// The phase after these bytes of the client.
    fn after(self, bytes: &[u8]) -> Self {
        let mut line_ends = match self {
            Self::Request => 0,
            Self::Header { line_ends } => line_ends,
            Self::Answer => return Self::Answer,
        };
        for byte in bytes {
            match byte {
                b'\n' if line_ends == 1 => return Self::Answer,
                b'\n' => line_ends = 1,
                b'\r' => {}
                _ => line_ends = 0,
            }
        }
        Self::Header { line_ends }
    }

    /// How long the phase may last.
    const fn timeout(self) -> Duration {
        match self {
            Self::Header { .. } => HEADER_TIMEOUT,
            Self::Request | Self::Answer => IDLE_TIMEOUT,
        }
    }

    /// Whether this is the same phase, whose time goes on.
    const fn goes_on(self, before: Self) -> bool {
        matches!((self, before), (Self::Header { .. }, Self::Header { .. }) | (Self::Answer, Self::Answer))
    }
}

/// A connection that ends when nothing goes over it, when it takes too long to ask, or when its place is needed.
pub(super) struct Protected {
    stream: Stream,
    timer: Pin<Box<Sleep>>,
    phase: Phase,
    place: Place,
    is_evicted: bool,
}

impl Protected {
    fn new(stream: Stream, place: Place) -> Self {
        let timer = Box::pin(sleep(FIRST_BYTE_TIMEOUT));
        Self { stream, timer, phase: Phase::Request, place, is_evicted: false }
    }

    fn enter(&mut self, phase: Phase) {
        if !phase.goes_on(self.phase) {
            self.timer.as_mut().reset(Instant::now() + phase.timeout());
        }
        self.phase = phase;
    }

    /// The error of a connection that has waited for too long, or whose place is needed.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        if self.is_evicted || self.place.poll_evicted(context).is_ready() {
            self.is_evicted = true;
            return Poll::Ready(io::ErrorKind::ConnectionAborted.into());
        }
        self.timer.as_mut().poll(context).map(|()| io::ErrorKind::TimedOut.into())
    }

    fn wrote(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match polled {
            Poll::Ready(Ok(written)) if written > 0 => {
                self.phase = Phase::Request;
                self.timer.as_mut().reset(Instant::now() + IDLE_TIMEOUT);
                polled
            }
            Poll::Ready(_) => polled,
            Poll::Pending => self.poll_end(context).map(Err),
        }
    }
}

impl AsyncRead for Protected {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        match polled {
            Poll::Ready(Ok(())) => {
                let bytes = buffer.filled().get(before..).unwrap_or_default();
                if !bytes.is_empty() {
                    let phase = self.phase.after(bytes);
                    self.enter(phase);
                }
                polled
            }
            Poll::Ready(Err(_)) => polled,
            Poll::Pending => self.poll_end(context).map(Err),
        }
    }
}

impl AsyncWrite for Protected {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wrote(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_ends_with_an_empty_line_however_it_arrives() {
        let request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nbody\n\n";
        let end = request.len() - "body\n\n".len();
        for size in [1, 2, 3, 7, request.len()] {
            let mut phase = Phase::Request;
            for (number, piece) in request.chunks(size).enumerate() {
                phase = phase.after(piece);
                let is_whole = (number + 1) * size >= end;
                assert_eq!(phase == Phase::Answer, is_whole, "{size} {number}");
            }
        }
        assert_eq!(Phase::Request.after(b"\n\n"), Phase::Answer, "as lenient as the parser");
    }

    #[test]
    fn more_bytes_of_a_header_give_it_no_more_time() {
        let phase = Phase::Request.after(b"G");
        assert!(!phase.goes_on(Phase::Request));
        assert!(phase.after(b"E").goes_on(phase));
        assert!(!phase.after(b"T / HTTP/1.1\n\n").goes_on(phase));
        assert!(Phase::Answer.after(b"body").goes_on(Phase::Answer));
    }
}
