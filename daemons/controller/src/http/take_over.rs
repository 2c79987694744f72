//! `POST /api/v1/switches/take-over`: the role of master of switches that another controller has.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use braid_api::{Schema, TakeOver};
use braid_cluster::TakeOverError;

use super::problem::Problem;
use super::questions::{Answerer, Questions};

/// Claims the role of master of every connected switch in a new term, above all that switches have reported. Other
/// controllers of these switches stand down. In a cluster, ask the leader.
#[utoipa::path(
    post, path = "/api/v1/switches/take-over",
    responses((status = 202, body = TakeOver, description = "the role is claimed; the list of switches shows it"))
)]
pub(super) async fn take_over(State(questions): State<Questions>) -> Result<Response, Response> {
    match questions.ask(begin).await? {
        Ok(claimed) => Ok((StatusCode::ACCEPTED, Json(claimed)).into_response()),
        Err(why @ TakeOverError::NotLeader) => {
            Ok(Problem::new(StatusCode::CONFLICT, "not_leader", why.to_string()).into_response())
        }
        Err(why @ TakeOverError::NoStore) => Ok(Problem::unavailable(why.to_string()).into_response()),
    }
}

/// In a cluster, the leader campaigns in a new term.
fn begin(Answerer { engine, cluster }: &Answerer) -> Result<TakeOver, TakeOverError> {
    let claimed = engine.borrow().switches().peers_after(None).filter(|(_, is_master)| !is_master).count();
    let term = match cluster {
        Some(cluster) => cluster.take_over()?,
        None => engine.borrow_mut().switches_mut().take_over(),
    };
    Ok(TakeOver { schema: Schema, term: term.0, claimed })
}
