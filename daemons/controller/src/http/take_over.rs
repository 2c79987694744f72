//! `POST /api/v1/switches/take-over`: the role of master of switches that another controller has.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use braid_api::{Schema, TakeOver};

use super::{Question, Questions, ask};
use crate::engine::Engine;

/// Claims the role of master of every connected switch in a new term, above all that switches have reported. Other
/// controllers of these switches stand down.
#[utoipa::path(
    post, path = "/api/v1/switches/take-over",
    responses((status = 202, body = TakeOver, description = "the role is claimed; the list of switches shows it"))
)]
pub(super) async fn take_over(State(questions): State<Questions>) -> Result<Response, Response> {
    let claimed = ask(&questions, Question::TakeOver).await?;
    Ok((StatusCode::ACCEPTED, Json(claimed)).into_response())
}

pub(super) fn begin(engine: &mut Engine) -> TakeOver {
    let claimed = engine.slaves_after(None).count();
    let term = engine.take_over().0;
    TakeOver { schema: Schema, term, claimed }
}
