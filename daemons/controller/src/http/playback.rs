//! The page with a run that was saved, and no controller.

use std::io;
use std::net::{SocketAddr, TcpListener};

use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::serve::ListenerExt;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use super::connections::Limited;
use super::guard::{self, Guard};
use super::places::Places;
use super::questions::Questions;
use super::wrong_tokens::WrongTokens;
use super::{not_that_way, page, unknown};
use crate::access::Access;

/// Where the run is served.
const RUN: &str = "/run.json";

/// A run that was saved on the page.
#[derive(Clone, Debug)]
pub enum SavedRun {
    /// As it was saved.
    Plain(Vec<u8>),
    /// Compressed by gzip, as browsers read it.
    Compressed(&'static [u8]),
}

/// Serves the page with a run, to this machine only.
#[derive(Debug)]
pub struct Playback {
    listener: TcpListener,
    run: SavedRun,
}

impl Playback {
    /// On a port of loopback; 0: any.
    ///
    /// # Errors
    ///
    /// The port is taken.
    pub fn bind(port: u16, run: SavedRun) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port)))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, run })
    }

    /// What a browser has to open.
    ///
    /// # Errors
    ///
    /// The system does not know the port.
    pub fn url(&self) -> io::Result<String> {
        Ok(format!("http://{}/?run={RUN}", self.listener.local_addr()?))
    }

    /// Serves until SIGTERM or SIGINT.
    ///
    /// # Errors
    ///
    /// The system refuses a socket or a signal.
    pub fn serve_until_signalled(self) -> io::Result<()> {
        Builder::new_current_thread().enable_all().build()?.block_on(async {
            let places = Places::new();
            // Nobody hears of wrong tokens: a saved run has no alarms.
            let wrong_tokens = WrongTokens::new(Questions::new().0);
            let guard = Guard::new(Access::default().into(), places.clone(), wrong_tokens, false);
            let router = router(self.run).layer(from_fn_with_state(guard, guard::check));
            let service = router.into_make_service_with_connect_info::<SocketAddr>();
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let listener = Limited::new(listener, None, places).tap_io(|_| {});
            let (mut terminate, mut interrupt) =
                (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
            tokio::select! {
                ended = async { axum::serve(listener, service).await } => ended,
                _ = terminate.recv() => Ok(()),
                _ = interrupt.recv() => Ok(()),
            }
        })
    }
}

fn router(run: SavedRun) -> Router {
    let (body, coding) = match run {
        SavedRun::Plain(run) => (Bytes::from(run), "identity"),
        SavedRun::Compressed(run) => (Bytes::from_static(run), "gzip"),
    };
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CONTENT_ENCODING, coding),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Router::new()
        .merge(page::routes())
        .route(RUN, get(async move || (headers, body.clone()).into_response()))
        .fallback(unknown)
        .method_not_allowed_fallback(not_that_way)
}
