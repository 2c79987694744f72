//! The description of the API, from the types that are served.

mod routes;
mod schemas;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa::OpenApi;

use super::live::Event;
use schemas::{Delta, ProblemDocument, Snapshot};

#[derive(OpenApi)]
#[openapi(
    info(title = "Braid", description = "What a controller knows, as it happens."),
    paths(
        routes::switches,
        routes::links,
        routes::hosts,
        routes::edges,
        routes::transfers,
        routes::alarms,
        routes::paths,
        routes::measure,
        routes::events,
        routes::stream,
        routes::event_stream,
        routes::link_history,
        routes::transfer_history,
        routes::edge_history,
        routes::assignments,
        routes::assign,
        routes::renew,
        routes::release,
        routes::place,
        routes::end,
        routes::policy,
        routes::set_policy,
        routes::advise,
        routes::testbed_links,
        routes::change_link,
        routes::rpc,
        routes::metrics
    ),
    components(schemas(Event, ProblemDocument, Snapshot, Delta))
)]
struct Description;

/// Answers `GET /api/v1/openapi.json`.
pub(super) async fn document() -> Response {
    match Description::openapi().to_json() {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(_) => super::unavailable("the description cannot be written"),
    }
}
