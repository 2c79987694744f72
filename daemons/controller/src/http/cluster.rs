//! `GET /api/v1/cluster` and `POST /api/v1/cluster/hand-over`: the cluster that this controller is a member of.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use braid_api::{Cluster, HandOver, NewLeader, Schema};
use braid_cluster::{HandOverError, MemberId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Optional;
use super::problem::Problem;
use super::questions::{Answerer, Questions};
use crate::cluster::Handle;

pub(super) fn routes(questions: &Questions) -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(cluster)).routes(routes!(hand_over)).with_state(questions.clone())
}

/// The cluster as this member sees it. Every member answers for itself, and a controller that is alone has no name and no
/// members.
#[utoipa::path(
    get, path = "/api/v1/cluster",
    responses((status = 200, body = Cluster, description = "the members, and which one leads"))
)]
async fn cluster(State(questions): State<Questions>) -> Result<Json<Cluster>, Response> {
    let view = |it: &Answerer| seen(it).unwrap_or_else(|| Cluster::alone(it.engine.borrow().now()));
    Ok(Json(questions.ask(view).await?))
}

/// The cluster as this member sees it, if there is one.
pub(super) fn seen(Answerer { cluster, .. }: &Answerer) -> Option<Cluster> {
    cluster.as_ref().map(Handle::view)
}

/// Hands leadership over to a standby, without waiting for a failure. Ask the leader.
#[utoipa::path(
    post, path = "/api/v1/cluster/hand-over", request_body = Option<NewLeader>,
    responses((status = 202, body = HandOver, description = "the standby was asked to lead; the cluster shows when it does"))
)]
async fn hand_over(
    State(questions): State<Questions>,
    Optional(wanted): Optional<NewLeader>,
) -> Result<Response, Response> {
    let to = wanted.to.map(MemberId::new);
    let begin = move |it: &Answerer| it.cluster.as_ref().map(|cluster| cluster.hand_over(to.as_ref()));
    Ok(match questions.ask(begin).await? {
        None => alone(),
        Some(Ok(to)) => {
            let begun = HandOver { schema: Schema, to: to.to_string() };
            (StatusCode::ACCEPTED, Json(begun)).into_response()
        }
        Some(Err(why)) => refusal(&why).into_response(),
    })
}

fn alone() -> Response {
    Problem::not_found("this controller is no member of a cluster").into_response()
}

fn refusal(why: &HandOverError) -> Problem {
    match why {
        HandOverError::NotLeader => Problem::new(StatusCode::CONFLICT, "not_leader", why.to_string()),
        HandOverError::NoStandby => Problem::new(StatusCode::CONFLICT, "no_standby", why.to_string()),
        HandOverError::NoStore => Problem::unavailable(why.to_string()),
    }
}
