//! `/api/v1/policy`: the policy in force, shown to all and replaced by those who may.

use axum::Json;
use axum::extract::rejection::StringRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use braid_api::{Done, PolicyInUse, Schema};
use braid_steering::{Policies, PolicyProblem};
use tokio::sync::oneshot;
use tracing::info;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::Problem;
use super::questions::{Answerer, Questions};
use super::replica::Replica;
use super::wire::policies;
use crate::cluster::Loaded;
use crate::policy;
use crate::state_copy::{List, Lists};

const MAX_BODY: usize = 1 << 20;

pub(super) fn routes(questions: &Questions, replica: &Replica) -> OpenApiRouter {
    let put = OpenApiRouter::new().routes(routes!(set_policy)).layer(DefaultBodyLimit::max(MAX_BODY));
    let get = OpenApiRouter::new().routes(routes!(policy));
    put.with_state(questions.clone()).merge(get.with_state(replica.clone()))
}

/// The policy in force: which traffic is steered, and how.
#[utoipa::path(get, path = "/api/v1/policy", responses((status = 200, body = PolicyInUse)))]
async fn policy(State(replica): State<Replica>) -> Result<Json<PolicyInUse>, Problem> {
    replica.refresh(Lists::of(&[List::Policy])).await?;
    let (now, policy) = replica.read(|tables| tables.policy.clone());
    Ok(Json(PolicyInUse { schema: Schema, now, policy: policies(&policy) }))
}

/// Replaces the policy; from the controller's own machine, or with the right to change it.
#[utoipa::path(
    put, path = "/api/v1/policy", request_body(content = String, content_type = "text/plain"),
    responses((status = 200, body = Done))
)]
async fn set_policy(
    State(questions): State<Questions>,
    body: Result<String, StringRejection>,
) -> Result<Json<Done>, Response> {
    let text = body.map_err(|rejection| refuse(rejection.status(), &rejection.body_text()))?;
    // An empty policy is one without rules, which nobody writes by leaving the body out.
    if text.trim().is_empty() {
        let detail = "the body is empty: send a policy, or one comment line for a policy without rules";
        return Err(refuse(StatusCode::BAD_REQUEST, detail));
    }
    Policies::parse(&text).map_err(|problems| mistakes(&problems).into_response())?;
    let loaded = questions.ask_deferred(|it, answer| set(it, text, answer)).await?;
    let now = loaded.map_err(|why| Problem::unavailable(why).into_response())?;
    Ok(Json(Done { schema: Schema, now }))
}

/// In a cluster, its store has the policy first.
fn set(Answerer { engine, cluster }: &Answerer, text: String, answer: oneshot::Sender<Loaded>) {
    match cluster {
        Some(cluster) => cluster.load_policy(text, answer),
        None => {
            policy::set(engine, text);
            info!("a policy was loaded over the API");
            _ = answer.send(Ok(engine.borrow().now()));
        }
    }
}

/// All of them in words, and the place of the first.
fn mistakes(problems: &[PolicyProblem]) -> Problem {
    let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
    let problem = Problem::new(StatusCode::BAD_REQUEST, "refused", lines.join("\n"));
    let field = problems.iter().map(|it| it.field.as_str()).find(|field| !field.is_empty());
    match field {
        Some(field) => problem.of(field),
        None => problem,
    }
}

fn refuse(status: StatusCode, error: &str) -> Response {
    Problem::new(status, "refused", error).into_response()
}
