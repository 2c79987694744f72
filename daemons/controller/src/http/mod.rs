//! The HTTP API and metrics, on a thread of their own.

mod answers;
mod metrics;

use std::io;
use std::net::TcpListener;
use std::thread;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tracing::error;

pub(crate) use answers::answer;

/// Questions that wait for the engine; more are turned away.
const MAX_WAITING: usize = 64;

/// What a client wants to see.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resource {
    Switches,
    Links,
    Hosts,
    Transfers,
    Metrics,
}

/// A question to the engine's thread and the way back.
pub(crate) struct Question {
    resource: Resource,
    answer: oneshot::Sender<String>,
}

type Engine = mpsc::Sender<Question>;

/// Serves clients on a thread of its own; returns what they ask.
pub(crate) fn serve(listener: TcpListener) -> io::Result<mpsc::Receiver<Question>> {
    let (questions, receiver) = mpsc::channel(MAX_WAITING);
    let runtime = Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("http".to_owned()).spawn(move || {
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router(questions)).await
        });
        if let Err(error) = served {
            error!(%error, "the HTTP server has stopped");
        }
    })?;
    Ok(receiver)
}

fn router(engine: Engine) -> Router {
    let resource = |resource| get(move |State(engine): State<Engine>| ask(engine, resource));
    Router::new()
        .route("/api/v1/switches", resource(Resource::Switches))
        .route("/api/v1/links", resource(Resource::Links))
        .route("/api/v1/hosts", resource(Resource::Hosts))
        .route("/api/v1/transfers", resource(Resource::Transfers))
        .route("/metrics", resource(Resource::Metrics))
        .with_state(engine)
}

async fn ask(engine: Engine, resource: Resource) -> Response {
    let (answer, received) = oneshot::channel();
    if engine.try_send(Question { resource, answer }).is_err() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the controller is busy or stopping").into_response();
    }
    match received.await {
        Ok(body) => ([(header::CONTENT_TYPE, content_type(resource))], body).into_response(),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the controller is stopping").into_response(),
    }
}

const fn content_type(resource: Resource) -> &'static str {
    match resource {
        Resource::Metrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        _ => "application/json",
    }
}
