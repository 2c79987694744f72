//! What is steered how: shown to all, changed from the controller's own machine.

use std::net::SocketAddr;

use axum::extract::rejection::StringRejection;
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, put};
use braid_steering::Policies;

use super::problem::Problem;
use super::{Question, Questions, ask};

const MAX_BODY: usize = 1 << 20;

/// `PUT /api/v1/policy`, beside whatever else there is.
pub(super) fn route() -> MethodRouter<Questions> {
    put(load).layer(DefaultBodyLimit::max(MAX_BODY))
}

async fn load(
    State(questions): State<Questions>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    body: Result<String, StringRejection>,
) -> Response {
    if !from.ip().to_canonical().is_loopback() {
        return refuse(StatusCode::FORBIDDEN, "the policy is changed from the controller's own machine");
    }
    let text = match body {
        Ok(text) => text,
        Err(rejection) => return refuse(rejection.status(), &rejection.body_text()),
    };
    if let Err(problems) = Policies::parse(&text) {
        let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
        return refuse(StatusCode::BAD_REQUEST, &lines.join("\n"));
    }
    match ask(&questions, |answer| Question::SetPolicy(text, answer)).await {
        Ok(now) => respond(StatusCode::OK, &serde_json::json!({ "schema": "braid/v1", "now": now })),
        Err(response) => response,
    }
}

fn refuse(status: StatusCode, error: &str) -> Response {
    Problem::new(status, "refused", error).into_response()
}

fn respond(status: StatusCode, body: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
