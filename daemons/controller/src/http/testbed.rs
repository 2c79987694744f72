//! The links of a testbed, shown and changed.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::body::Object;
use super::problem::Problem;
use super::unavailable;
use crate::testbed::{LinkChange, Testbed, TestbedChanged, TestbedError, TestbedLinks};

const SCHEMA: &str = "braid/v1";

/// Lets one at a time ask.
#[derive(Clone)]
struct Desk(Arc<Mutex<Option<Arc<dyn Testbed>>>>);

/// The two ends of a link.
#[derive(Deserialize)]
struct Ends {
    from: String,
    to: String,
}

pub(super) fn routes<S: Clone + Send + Sync + 'static>(testbed: Option<Arc<dyn Testbed>>) -> Router<S> {
    Router::new()
        .route("/api/v1/testbed/links", get(links).put(change))
        .with_state(Desk(Arc::new(Mutex::new(testbed))))
}

async fn links(State(desk): State<Desk>) -> Response {
    let answer = |links| TestbedLinks { schema: SCHEMA, links };
    if desk.0.lock().await.is_none() {
        return Json(answer(Vec::new())).into_response();
    }
    desk.ask(move |testbed| testbed.links().map(answer).map_err(TestbedError::Failed)).await
}

async fn change(
    State(desk): State<Desk>,
    ends: Result<Parameters<Ends>, QueryRejection>,
    Object(change): Object<LinkChange>,
) -> Response {
    let Parameters(Ends { from, to }) = match ends {
        Ok(ends) => ends,
        Err(rejection) => return Problem::from(rejection).into_response(),
    };
    if let Some((field, why)) = change.mistake() {
        return Problem::invalid(field, why).into_response();
    }
    desk.ask(move |testbed| {
        Ok(TestbedChanged { schema: SCHEMA, link: testbed.change([&from, &to], change)? })
    })
    .await
}

impl Desk {
    async fn ask<T: serde::Serialize + Send + 'static>(
        self,
        question: impl FnOnce(&dyn Testbed) -> Result<T, TestbedError> + Send + 'static,
    ) -> Response {
        let turn = self.0.lock_owned().await;
        let Some(testbed) = turn.clone() else {
            return Problem::not_found(
                "this network is no testbed: its links are not the controller's to change",
            )
            .into_response();
        };
        // The turn ends with the work, which goes on when the client has gone.
        let work = spawn_blocking(move || {
            let answer = question(testbed.as_ref());
            drop(turn);
            answer
        });
        match work.await {
            Ok(Ok(answer)) => Json(answer).into_response(),
            Ok(Err(error)) => refuse(&error).into_response(),
            Err(_) => unavailable("the controller is stopping"),
        }
    }
}

fn refuse(error: &TestbedError) -> Problem {
    let (status, code) = match error {
        TestbedError::NoLink(_) => (StatusCode::NOT_FOUND, "not_found"),
        TestbedError::Refused(_) => (StatusCode::CONFLICT, "refused"),
        TestbedError::Failed(_) => (StatusCode::BAD_GATEWAY, "testbed"),
    };
    Problem::new(status, code, error.to_string())
}
