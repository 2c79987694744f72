//! `POST /api/v1/links/measure`: a measurement of a link's capacity.

use axum::Json;
use axum::extract::{Query as Parameters, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use braid_api::{Done, PortParameters, Schema};
use braid_control::Event;
use braid_types::{SwitchPort, Time};

use super::problem::{Asked, Problem};
use super::questions::Questions;
use crate::engine::Engine;

/// Measures the capacity of the link that leaves a port.
#[utoipa::path(
    post, path = "/api/v1/links/measure", params(PortParameters),
    responses((status = 202, body = Done, description = "the measurement has begun"))
)]
pub(super) async fn measure(
    State(questions): State<Questions>,
    port: Asked<PortParameters>,
) -> Result<Response, Response> {
    let Parameters(port) = port.map_err(|rejection| Problem::from(rejection).into_response())?;
    let src = SwitchPort::new(port.dpid, port.port);
    match questions.ask(move |it| begin(&mut it.engine.borrow_mut(), src)).await? {
        Some(now) => Ok((StatusCode::ACCEPTED, Json(Done { schema: Schema, now })).into_response()),
        None => Ok(Problem::not_found(format!("no link leaves {src}")).into_response()),
    }
}

/// Lets the measurement begin; nothing if no link leaves the port.
fn begin(engine: &mut Engine, src: SwitchPort) -> Option<Time> {
    let now = engine.now();
    engine.brain().has_link(src).then(|| {
        engine.handle(now, &Event::MeasureCapacity { src });
        now
    })
}
