//! Routes of event streams, the event list and histories.

use axum::Json;
use axum::extract::{Query as Parameters, State as Given};
use axum::http::HeaderMap;
use braid_api::{
    EdgeHistory, EdgeParameters, Events, EventsParameters, LinkHistory, PortParameters, Schema,
    StepsParameters, TransferHistory, TransferParameters,
};
use braid_steering::TransferId;
use braid_types::SwitchPort;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Live;
use super::history::Span;
use super::topic::{Resumed, encode};
use super::watching::{WatchLimit, Watching};
use crate::http::problem::{Asked, Problem};
use crate::http::replica::Replica;

/// Events that are listed unless more are asked for.
const EVENTS: usize = 256;

#[derive(Clone)]
struct LiveState {
    live: Live,
    replica: Replica,
    limit: WatchLimit,
}

/// Streams, events and histories.
pub(in crate::http) fn routes(live: Live, replica: &Replica) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(stream))
        .routes(routes!(events))
        .routes(routes!(event_stream))
        .routes(routes!(link_history))
        .routes(routes!(transfer_history))
        .routes(routes!(edge_history))
        .with_state(LiveState { live, replica: replica.clone(), limit: WatchLimit::default() })
}

/// Server-sent events: a snapshot, then deltas and events, for as long as the client reads.
#[utoipa::path(
    get, path = "/api/v1/stream", params(("Last-Event-ID" = Option<String>, Header, description = "where it continues")),
    responses((status = 200, body = String, content_type = "text/event-stream"))
)]
async fn stream(Given(state): Given<LiveState>, headers: HeaderMap) -> Result<Watching, Problem> {
    let place = state.limit.admit()?;
    state.live.wake(&state.replica).await?;
    let mut live = state.live.inner();
    let missed = match live.all.since(last_seen(&headers)) {
        Resumed::Missed(missed) => missed,
        Resumed::Anew => {
            let snapshot = live.state.snapshot(&live.events.last(EVENTS, 0));
            vec![encode(Some(&live.all.last_id()), "snapshot", &snapshot).into()]
        }
    };
    Ok(Watching::new(missed, live.all.watch(), place))
}

/// Server-sent events: the events alone.
#[utoipa::path(
    get, path = "/api/v1/events/stream",
    params(("Last-Event-ID" = Option<String>, Header, description = "where it continues")),
    responses((status = 200, body = String, content_type = "text/event-stream"))
)]
async fn event_stream(Given(state): Given<LiveState>, headers: HeaderMap) -> Result<Watching, Problem> {
    let place = state.limit.admit()?;
    let mut live = state.live.inner();
    let missed = match live.notices.since(last_seen(&headers)) {
        Resumed::Missed(missed) => missed,
        // Where it is, so that it can come back to here.
        Resumed::Anew => vec![encode(Some(&live.notices.last_id()), "begin", "{}").into()],
    };
    Ok(Watching::new(missed, live.notices.watch(), place))
}

fn last_seen(headers: &HeaderMap) -> &str {
    headers.get("last-event-id").and_then(|id| id.to_str().ok()).unwrap_or_default()
}

/// Events, the latest last.
#[utoipa::path(get, path = "/api/v1/events", params(EventsParameters), responses((status = 200, body = Events)))]
async fn events(
    Given(state): Given<LiveState>,
    asked: Asked<EventsParameters>,
) -> Result<Json<Events>, Problem> {
    let Parameters(EventsParameters { limit, after }) = asked?;
    let limit = limit.map_or(EVENTS, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let live = state.live.inner();
    let events = live.events.last(limit, after.unwrap_or(0)).into_iter().cloned().collect();
    let (last_event_id, now) = (live.notices.last_id(), live.state.noted_at());
    Ok(Json(Events { schema: Schema, now, last_event_id, events }))
}

/// The measurements of the link that leaves a port, step by step.
#[utoipa::path(
    get, path = "/api/v1/links/history", params(PortParameters, StepsParameters),
    responses((status = 200, body = LinkHistory))
)]
async fn link_history(
    Given(state): Given<LiveState>,
    port: Asked<PortParameters>,
    steps: Asked<StepsParameters>,
) -> Result<Json<LinkHistory>, Problem> {
    let (Parameters(PortParameters { dpid, port }), span) = (port?, span(steps?.0)?);
    let link = SwitchPort::new(dpid, port);
    let unknown = || Problem::not_found(format!("nothing was measured of a link that leaves {link}"));
    state.live.inner().history.link(link, span).map(Json).ok_or_else(unknown)
}

/// The rates of a transfer, step by step.
#[utoipa::path(
    get, path = "/api/v1/transfers/history", params(TransferParameters, StepsParameters),
    responses((status = 200, body = TransferHistory))
)]
async fn transfer_history(
    Given(state): Given<LiveState>,
    transfer: Asked<TransferParameters>,
    steps: Asked<StepsParameters>,
) -> Result<Json<TransferHistory>, Problem> {
    let (Parameters(TransferParameters { id }), span) = (transfer?, span(steps?.0)?);
    let unknown = || Problem::not_found(format!("nothing was measured of a transfer {id}"));
    state.live.inner().history.transfer(TransferId(id), span).map(Json).ok_or_else(unknown)
}

/// The telemetry of an edge, step by step.
#[utoipa::path(
    get, path = "/api/v1/edges/history", params(EdgeParameters, StepsParameters),
    responses((status = 200, body = EdgeHistory))
)]
async fn edge_history(
    Given(state): Given<LiveState>,
    edge: Asked<EdgeParameters>,
    steps: Asked<StepsParameters>,
) -> Result<Json<EdgeHistory>, Problem> {
    let (Parameters(EdgeParameters { dpid }), span) = (edge?, span(steps?.0)?);
    let unknown = || Problem::not_found(format!("{dpid} is no edge"));
    state.live.inner().history.edge(dpid, span).map(Json).ok_or_else(unknown)
}

fn span(StepsParameters { step_s, since }: StepsParameters) -> Result<Span, Problem> {
    let coarse = match step_s.unwrap_or(1) {
        1 => false,
        60 => true,
        other => return Err(Problem::invalid("step_s", format!("steps are of 1 s or 60 s, not {other}"))),
    };
    Ok(Span { coarse, since: since.unwrap_or_default() })
}
