//! Connections of API clients and browsers, limited in number and closed when idle.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};
use tracing::warn;

use super::stream::Stream;
use crate::access::Tls;

/// Connections at the same time; others wait in the socket's queue.
const MAX_CONNECTIONS: usize = 2_048;
/// A connection over which nothing has come for so long is closed.
const FIRST: Duration = Duration::from_secs(5);
/// Later, one over which no byte goes for so long, or whose question does not end: longer than any answer takes. Watchers are
/// sent something more often.
const IDLE: Duration = Duration::from_secs(70);

/// Takes connections in.
pub(super) struct Limited {
    listener: TcpListener,
    tls: Option<Tls>,
    places: Arc<Semaphore>,
}

impl Limited {
    pub(super) fn new(listener: TcpListener, tls: Option<Tls>) -> Self {
        Self { listener, tls, places: Arc::new(Semaphore::new(MAX_CONNECTIONS)) }
    }
}

impl Listener for Limited {
    type Io = Protected;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Protected, SocketAddr) {
        loop {
            let accepted = match self.places.clone().acquire_owned().await {
                Ok(place) => self.listener.accept().await.map(|accepted| (accepted, place)),
                Err(closed) => Err(io::Error::other(closed)),
            };
            match accepted {
                Ok(((stream, address), place)) => return (Protected::new(self.open(stream), place), address),
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

/// A connection that ends when nothing goes over it, or when it takes too long to ask.
pub(super) struct Protected {
    stream: Stream,
    idle: Pin<Box<Sleep>>,
    /// Whether something has come that was not answered yet.
    asked: bool,
    _place: OwnedSemaphorePermit,
}

impl Protected {
    fn new(stream: Stream, place: OwnedSemaphorePermit) -> Self {
        Self { stream, idle: Box::pin(sleep(FIRST)), asked: false, _place: place }
    }

    /// Passes on how a read or a write went, unless it has waited for too long.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
        wrote: bool,
    ) -> Poll<io::Result<T>> {
        match polled {
            Poll::Ready(done) => {
                // Only the first bytes of a question give it time: the rest has to come before that is over.
                if wrote || !self.asked {
                    self.idle.as_mut().reset(Instant::now() + IDLE);
                }
                self.asked = !wrote;
                Poll::Ready(done)
            }
            Poll::Pending => match self.idle.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}

impl AsyncRead for Protected {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.watch(context, polled, false)
    }
}

impl AsyncWrite for Protected {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, polled, true)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, polled, true)
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
