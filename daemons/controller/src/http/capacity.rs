//! Asks for the capacity of a link to be measured.

use axum::extract::{Query as Parameters, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use braid_control::Event;
use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use serde::Deserialize;

use super::{Question, Questions, ask};
use crate::engine::Engine;

/// The port that a link leaves.
#[derive(Deserialize)]
pub(super) struct Port {
    dpid: DatapathId,
    port: PortNo,
}

/// Answers `POST /api/v1/links/measure`.
pub(super) async fn measure(
    State(questions): State<Questions>,
    Parameters(port): Parameters<Port>,
) -> Response {
    let src = SwitchPort::new(port.dpid, port.port);
    let started = match ask(&questions, |answer| Question::Measure(src, answer)).await {
        Ok(started) => started,
        Err(response) => return response,
    };
    let (status, body) = match started {
        Some(now) => (StatusCode::ACCEPTED, serde_json::json!({ "schema": "braid/v1", "now": now })),
        None => {
            let error = format!("no link leaves {src}");
            (StatusCode::NOT_FOUND, serde_json::json!({ "schema": "braid/v1", "error": error }))
        }
    };
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// Lets the measurement begin; nothing if no link leaves the port.
pub(super) fn begin(engine: &mut Engine, src: SwitchPort) -> Option<Time> {
    engine.brain().links().iter().find(|link| link.src == src)?;
    let now = engine.now();
    engine.handle(now, &Event::MeasureCapacity { src });
    Some(now)
}
