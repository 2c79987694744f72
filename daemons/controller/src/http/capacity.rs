//! Asks for the capacity of a link to be measured.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use braid_control::Event;
use braid_types::{DatapathId, PortNo, SwitchPort, Time};
use serde::Deserialize;

use super::problem::Problem;
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
    port: Result<Parameters<Port>, QueryRejection>,
) -> Response {
    let port = match port {
        Ok(Parameters(port)) => port,
        Err(rejection) => return Problem::from(rejection).into_response(),
    };
    let src = SwitchPort::new(port.dpid, port.port);
    let started = match ask(&questions, |answer| Question::Measure(src, answer)).await {
        Ok(started) => started,
        Err(response) => return response,
    };
    match started {
        Some(now) => {
            let body = axum::Json(serde_json::json!({ "schema": "braid/v1", "now": now }));
            (StatusCode::ACCEPTED, body).into_response()
        }
        None => Problem::not_found(format!("no link leaves {src}")).into_response(),
    }
}

/// Lets the measurement begin; nothing if no link leaves the port.
pub(super) fn begin(engine: &mut Engine, src: SwitchPort) -> Option<Time> {
    let now = engine.now();
    engine.brain().has_link(src).then(|| {
        engine.handle(now, &Event::MeasureCapacity { src });
        now
    })
}
