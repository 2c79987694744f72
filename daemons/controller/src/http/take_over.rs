//! `POST /api/v1/switches/take-over`: the role of master of switches that another controller has.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use braid_api::{Schema, TakeOver};

use super::problem::Problem;
use super::{Question, Questions, ask};
use crate::engine::Engine;

/// Claims the role of master of every connected switch in a new term, above all that switches have reported. Other
/// controllers of these switches stand down.
#[utoipa::path(
    post, path = "/api/v1/switches/take-over",
    responses((status = 202, body = TakeOver, description = "the role is claimed; the list of switches shows it"))
)]
pub(super) async fn take_over(State(questions): State<Questions>) -> Result<Response, Response> {
    match ask(&questions, Question::TakeOver).await? {
        Some(claimed) => Ok((StatusCode::ACCEPTED, Json(claimed)).into_response()),
        None => {
            let why = "this controller is a member of a cluster, which elects the master of all switches";
            Ok(Problem::new(StatusCode::CONFLICT, "cluster", why).into_response())
        }
    }
}

/// Nothing if a cluster gives terms.
pub(super) fn begin(engine: &mut Engine) -> Option<TakeOver> {
    if engine.switches().is_elected() {
        return None;
    }
    let claimed = engine.switches().slaves_after(None).count();
    let term = engine.switches_mut().take_over().0;
    Some(TakeOver { schema: Schema, term, claimed })
}
