//! The response body of a watcher, and the bound on the number of watchers.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use http_body::Frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::http::problem::Problem;

/// Watchers at the same time; more are turned away.
const MAX_WATCHERS: usize = 256;

/// Admits so many watchers at the same time.
#[derive(Clone, Debug)]
pub(super) struct WatchLimit(Arc<Semaphore>);

impl Default for WatchLimit {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_WATCHERS)))
    }
}

impl WatchLimit {
    pub(super) fn admit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = self.0.clone().try_acquire_owned();
        place.map_err(|_| Problem::unavailable(format!("{MAX_WATCHERS} API clients watch already")))
    }
}

/// What a watcher reads: what it has missed, then what comes, until it lags behind.
pub(super) struct Watching {
    missed: VecDeque<Bytes>,
    coming: mpsc::Receiver<Bytes>,
    _place: OwnedSemaphorePermit,
}

impl Watching {
    pub(super) fn new(
        missed: Vec<Bytes>,
        coming: mpsc::Receiver<Bytes>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        // A browser that is cut off comes back after a second.
        let missed = [Bytes::from_static(b"retry: 1000\n\n")].into_iter().chain(missed).collect();
        Self { missed, coming, _place: place }
    }
}

impl HttpBody for Watching {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(missed) = self.missed.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(missed))));
        }
        self.coming.poll_recv(context).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
    }
}

impl IntoResponse for Watching {
    fn into_response(self) -> Response {
        let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
        (headers, Body::new(self)).into_response()
    }
}
