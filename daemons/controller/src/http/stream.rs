//! Bytes of a connection, encrypted or not.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::Accept;
use tokio_rustls::server::TlsStream;

/// A connection. Nobody else waits while keys are agreed on: that is part of the first read or write.
pub(super) enum Stream {
    Plain(TcpStream),
    Opening(Box<Accept<TcpStream>>),
    Encrypted(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Goes on as far as an open connection.
    fn poll_open(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Self::Opening(opening) = self {
            let opened = ready!(Pin::new(opening.as_mut()).poll(context))?;
            *self = Self::Encrypted(Box::new(opened));
        }
        Poll::Ready(Ok(()))
    }
}

/// Does the same with whichever it is, once it is open.
macro_rules! with {
    ($self:ident, $context:ident, $stream:ident => $act:expr) => {{
        ready!($self.poll_open($context))?;
        match &mut *$self {
            Self::Plain($stream) => $act,
            Self::Encrypted($stream) => $act,
            Self::Opening(_) => Poll::Pending,
        }
    }};
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        with!(self, context, stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        with!(self, context, stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with!(self, context, stream => Pin::new(stream).poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, context, stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with!(self, context, stream => Pin::new(stream).poll_shutdown(context))
    }
}
