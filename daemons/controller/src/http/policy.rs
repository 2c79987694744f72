//! What is steered how: shown to all, changed by those who may.

use axum::extract::rejection::StringRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, put};
use braid_steering::{Policies, PolicyProblem};

use super::problem::Problem;
use super::{Question, Questions, ask};

const MAX_BODY: usize = 1 << 20;

/// `PUT /api/v1/policy`, beside whatever else there is.
pub(super) fn route() -> MethodRouter<Questions> {
    put(load).layer(DefaultBodyLimit::max(MAX_BODY))
}

async fn load(State(questions): State<Questions>, body: Result<String, StringRejection>) -> Response {
    let text = match body {
        Ok(text) => text,
        Err(rejection) => return refuse(rejection.status(), &rejection.body_text()),
    };
    if let Err(problems) = Policies::parse(&text) {
        return mistakes(&problems).into_response();
    }
    match ask(&questions, |answer| Question::SetPolicy(text, answer)).await {
        Ok(now) => respond(StatusCode::OK, &serde_json::json!({ "schema": "braid/v1", "now": now })),
        Err(response) => response,
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

fn respond(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
