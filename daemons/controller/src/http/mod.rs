//! The HTTP API and metrics, on a thread of their own.

mod advice;
mod answers;
mod assignments;
mod body;
mod capacity;
mod connections;
mod credentials;
mod edge_metrics;
mod guard;
mod link_metrics;
mod live;
mod metrics;
mod openapi;
mod page;
mod paths;
mod playback;
mod policy;
mod problem;
mod rate;
mod rpc;
mod stream;
mod testbed;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use braid_control::{Reply, Request};
use braid_paths::query::{Query, QueryError};
use braid_types::{SwitchPort, Time};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tracing::error;

use crate::access::Access;
use crate::agents::Agents;
use crate::clock;
use crate::notices::Listener;
use crate::testbed::Testbed;
pub(crate) use answers::answer;
use connections::Limited;
use guard::Guard;
use live::{Live, Sample};
use paths::Search;
pub use playback::{Playback, SavedRun};
use problem::Problem;

/// Questions that wait for the engine; more are turned away.
const MAX_WAITING: usize = 64;
/// Bytes of a request's body.
const MAX_BODY: usize = 64 << 10;

/// What a client wants to see.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resource {
    Switches,
    Links,
    Hosts,
    Edges,
    Transfers,
    Alarms,
    Policy,
    Assignments,
    Metrics,
}

/// A question to the engine's thread and the way back.
pub(crate) enum Question {
    /// What the engine shows.
    Show(Resource, oneshot::Sender<String>),
    /// A copy of what watchers see.
    Sample(oneshot::Sender<Sample>),
    /// What is needed to find paths on another thread.
    Paths(Box<Query>, oneshot::Sender<Result<Search, QueryError>>),
    /// An application, or the agent of a host, asks the network for something.
    Request(Request, oneshot::Sender<Reply>),
    /// The capacity of the link that leaves a port is to be measured; when that began, if there is such a link.
    Measure(SwitchPort, oneshot::Sender<Option<Time>>),
    /// A policy that was checked shall hold; when it does.
    SetPolicy(String, oneshot::Sender<Time>),
}

type Questions = mpsc::Sender<Question>;

/// Serves clients on a thread of its own; returns what they ask.
pub(crate) fn serve(
    listeners: Vec<TcpListener>,
    agents: Agents,
    access: Access,
    testbed: Option<Arc<dyn Testbed>>,
    notices: Listener,
) -> io::Result<mpsc::Receiver<Question>> {
    let (questions, receiver) = mpsc::channel(MAX_WAITING);
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_all().max_blocking_threads(paths::MAX_RUNNING).build()?;
    thread::Builder::new().name("http".to_owned()).spawn(move || {
        let served = runtime.block_on(async {
            let live = Live::new(clock::generation());
            tokio::spawn(live.clone().follow(questions.clone(), notices));
            let router = router(questions, agents, live, testbed);
            let mut serving = tokio::task::JoinSet::new();
            let tls = access.tls.clone();
            let router = router.layer(from_fn_with_state(Guard::new(access.into()), guard::check));
            for listener in listeners {
                // Nothing is encrypted that does not leave the machine.
                let tls =
                    tls.clone().filter(|_| listener.local_addr().is_ok_and(|it| !it.ip().is_loopback()));
                let service = router.clone().into_make_service_with_connect_info::<SocketAddr>();
                // With nothing to tap, so that axum tells addresses of this listener's connections, too.
                let listener = Limited::new(tokio::net::TcpListener::from_std(listener)?, tls).tap_io(|_| {});
                serving.spawn(async move { axum::serve(listener, service).await });
            }
            serving.join_next().await.map_or(Ok(()), |ended| ended.map_err(io::Error::other)?)
        });
        if let Err(error) = served {
            error!(%error, "the HTTP server has stopped");
        }
    })?;
    Ok(receiver)
}

fn router(questions: Questions, agents: Agents, live: Live, testbed: Option<Arc<dyn Testbed>>) -> Router {
    let resource = |resource| get(move |State(questions): State<Questions>| show(questions, resource));
    Router::new()
        .route("/api/v1/switches", resource(Resource::Switches))
        .route("/api/v1/links", resource(Resource::Links))
        .route("/api/v1/links/measure", post(capacity::measure))
        .route("/api/v1/hosts", resource(Resource::Hosts))
        .route("/api/v1/edges", resource(Resource::Edges))
        .route("/api/v1/transfers", resource(Resource::Transfers))
        .route("/api/v1/alarms", resource(Resource::Alarms))
        .merge(assignments::routes(&questions))
        .merge(rpc::routes(&questions))
        .route("/api/v1/paths", get(paths::find).with_state(paths::Route::new(questions.clone())))
        .route("/api/v1/policy", resource(Resource::Policy).merge(policy::route()))
        .route("/api/v1/advice", advice::route(questions.clone(), agents))
        .route("/metrics", resource(Resource::Metrics))
        .merge(live::routes(live))
        .merge(testbed::routes(testbed))
        .merge(page::routes())
        .route("/api/v1/openapi.json", get(openapi::document))
        .fallback(unknown)
        .method_not_allowed_fallback(not_that_way)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(questions)
}

async fn show(questions: Questions, resource: Resource) -> Response {
    match ask(&questions, |answer| Question::Show(resource, answer)).await {
        Ok(body) => ([(header::CONTENT_TYPE, content_type(resource))], body).into_response(),
        Err(response) => response,
    }
}

/// What the engine answers, or what to tell the client if it does not.
async fn ask<T>(
    questions: &Questions,
    question: impl FnOnce(oneshot::Sender<T>) -> Question,
) -> Result<T, Response> {
    let (answer, received) = oneshot::channel();
    let sent = questions.try_send(question(answer));
    sent.map_err(|_| unavailable("the controller is busy or stopping"))?;
    received.await.map_err(|_| unavailable("the controller is stopping"))
}

fn unavailable(reason: &'static str) -> Response {
    Problem::unavailable(reason).into_response()
}

async fn unknown() -> Problem {
    Problem::not_found("nothing is served here; /api/v1/openapi.json tells what is")
}

async fn not_that_way() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "this is not served for that method")
}

const fn content_type(resource: Resource) -> &'static str {
    match resource {
        Resource::Metrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        _ => "application/json",
    }
}
