//! HTTP routes of event streams, the event list and histories.

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State as Given};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use braid_steering::TransferId;
use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use serde::{Deserialize, Serialize};

use super::Live;
use super::history::Span;
use super::topic::{Resumed, encode};
use super::watching::{Door, Watching};
use crate::http::problem::Problem;

/// Events that are listed unless more are asked for.
const EVENTS: usize = 256;

#[derive(Clone)]
struct Desk {
    live: Live,
    door: Door,
}

/// Streams, events and histories.
pub(in crate::http) fn routes<S: Clone + Send + Sync + 'static>(live: Live) -> Router<S> {
    Router::new()
        .route("/api/v1/stream", get(watch_all))
        .route("/api/v1/events", get(events))
        .route("/api/v1/events/stream", get(watch_events))
        .route("/api/v1/links/history", get(link_history))
        .route("/api/v1/transfers/history", get(transfer_history))
        .route("/api/v1/edges/history", get(edge_history))
        .with_state(Desk { live, door: Door::default() })
}

type Asked<T> = Result<Parameters<T>, QueryRejection>;

/// Answers `GET /api/v1/stream`: the state, then what changes, and events.
async fn watch_all(Given(desk): Given<Desk>, headers: HeaderMap) -> Result<Watching, Problem> {
    let place = desk.door.admit()?;
    let mut live = desk.live.inner();
    let missed = match live.all.since(last_seen(&headers)) {
        Resumed::Missed(missed) => missed,
        Resumed::Anew => {
            let snapshot = live.state.snapshot(&live.events.last(EVENTS, 0));
            vec![encode(Some(&live.all.last_id()), "snapshot", &snapshot).into()]
        }
    };
    Ok(Watching::new(missed, live.all.watch(), place))
}

/// Answers `GET /api/v1/events/stream`.
async fn watch_events(Given(desk): Given<Desk>, headers: HeaderMap) -> Result<Watching, Problem> {
    let place = desk.door.admit()?;
    let mut live = desk.live.inner();
    let missed = match live.told.since(last_seen(&headers)) {
        Resumed::Missed(missed) => missed,
        // Where it is, so that it can come back to here.
        Resumed::Anew => vec![encode(Some(&live.told.last_id()), "begin", "{}").into()],
    };
    Ok(Watching::new(missed, live.told.watch(), place))
}

fn last_seen(headers: &HeaderMap) -> &str {
    headers.get("last-event-id").and_then(|id| id.to_str().ok()).unwrap_or_default()
}

#[derive(Deserialize)]
struct Which {
    limit: Option<usize>,
    after: Option<u64>,
}

/// Answers `GET /api/v1/events`.
async fn events(Given(desk): Given<Desk>, asked: Asked<Which>) -> Result<Response, Problem> {
    let Which { limit, after } = read(asked)?;
    let live = desk.live.inner();
    let (id, now) = (live.told.last_id(), live.state.now());
    let events = live.events.last(limit.unwrap_or(EVENTS), after.unwrap_or(0));
    Ok(json(&serde_json::json!({ "schema": "braid/v1", "now": now, "last_event_id": id, "events": events })))
}

#[derive(Deserialize)]
struct Port {
    dpid: DatapathId,
    port: PortNo,
}

#[derive(Deserialize)]
struct Transfer {
    id: TransferId,
}

#[derive(Deserialize)]
struct Edge {
    dpid: DatapathId,
}

#[derive(Deserialize)]
struct Steps {
    step_s: Option<u64>,
    since: Option<Time>,
}

/// Answers `GET /api/v1/links/history`.
async fn link_history(
    Given(desk): Given<Desk>,
    port: Asked<Port>,
    steps: Asked<Steps>,
) -> Result<Response, Problem> {
    let (port, span) = (read(port)?, span(read(steps)?)?);
    let link = SwitchPort::new(port.dpid, port.port);
    let live = desk.live.inner();
    let unknown = || Problem::not_found(format!("nothing was measured of a link that leaves {link}"));
    live.history.link(link, span).map(|found| json(&found)).ok_or_else(unknown)
}

/// Answers `GET /api/v1/transfers/history`.
async fn transfer_history(
    Given(desk): Given<Desk>,
    transfer: Asked<Transfer>,
    steps: Asked<Steps>,
) -> Result<Response, Problem> {
    let (Transfer { id }, span) = (read(transfer)?, span(read(steps)?)?);
    let live = desk.live.inner();
    let unknown = || Problem::not_found(format!("nothing was measured of a transfer {id}"));
    live.history.transfer(id, span).map(|found| json(&found)).ok_or_else(unknown)
}

/// Answers `GET /api/v1/edges/history`.
async fn edge_history(
    Given(desk): Given<Desk>,
    edge: Asked<Edge>,
    steps: Asked<Steps>,
) -> Result<Response, Problem> {
    let (Edge { dpid }, span) = (read(edge)?, span(read(steps)?)?);
    let live = desk.live.inner();
    let unknown = || Problem::not_found(format!("{dpid} is no edge"));
    live.history.edge(dpid, span).map(|found| json(&found)).ok_or_else(unknown)
}

fn read<T>(asked: Asked<T>) -> Result<T, Problem> {
    asked.map(|Parameters(parameters)| parameters).map_err(Problem::from)
}

fn span(Steps { step_s, since }: Steps) -> Result<Span, Problem> {
    let coarse = match step_s.unwrap_or(1) {
        1 => false,
        60 => true,
        other => return Err(Problem::invalid("step_s", format!("steps are of 1 s or 60 s, not {other}"))),
    };
    Ok(Span { coarse, since: since.unwrap_or_default() })
}

fn json(body: &impl Serialize) -> Response {
    axum::Json(body).into_response()
}
