//! The links of a testbed, shown, changed, added and removed.

use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query as Parameters, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use braid_api::{LinkChange, NewTestbedLink, Schema, TestbedChanged, TestbedEnds, TestbedLink, TestbedLinks};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Object;
use super::problem::{Asked, Problem};
use super::unavailable;
use crate::testbed::{Testbed, TestbedError};

/// Bits a second.
const RATES: RangeInclusive<u64> = 8_000..=1_000_000_000_000;
const MAX_DELAY_US: u64 = 10_000_000;

/// Lets one at a time ask.
#[derive(Clone)]
struct SharedTestbed(Arc<Mutex<Option<Arc<dyn Testbed>>>>);

pub(super) fn routes(testbed: Option<Arc<dyn Testbed>>) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(testbed_links, change_link, add_link, remove_link))
        .with_state(SharedTestbed(Arc::new(Mutex::new(testbed))))
}

/// The links of the testbed that the network is; elsewhere none.
#[utoipa::path(get, path = "/api/v1/testbed/links", responses((status = 200, body = TestbedLinks)))]
async fn testbed_links(State(shared): State<SharedTestbed>) -> Response {
    let answer = |links| TestbedLinks { schema: Schema, links };
    if shared.0.lock().await.is_none() {
        return Json(answer(Vec::new())).into_response();
    }
    shared.ask(move |testbed| testbed.links().map(answer).map_err(TestbedError::Failed)).await
}

/// Cuts, restores or changes a link of the testbed, in both directions.
#[utoipa::path(
    put, path = "/api/v1/testbed/links", params(TestbedEnds), request_body = LinkChange,
    responses((status = 200, body = TestbedChanged))
)]
async fn change_link(
    State(shared): State<SharedTestbed>,
    ends: Asked<TestbedEnds>,
    Object(change): Object<LinkChange>,
) -> Response {
    shared.ask_about(ends, mistake(&change), move |testbed, ends| testbed.change(ends, change)).await
}

/// Adds a link between two switches of the testbed while traffic runs; both get a new port.
#[utoipa::path(
    post, path = "/api/v1/testbed/links", params(TestbedEnds), request_body = NewTestbedLink,
    responses((status = 201, body = TestbedChanged))
)]
async fn add_link(
    State(shared): State<SharedTestbed>,
    ends: Asked<TestbedEnds>,
    Object(link): Object<NewTestbedLink>,
) -> Response {
    let NewTestbedLink { rate_bps, delay_us, loss } = link;
    let mistake = mistake(&LinkChange { up: None, rate_bps: Some(rate_bps), delay_us, loss });
    let mut answer = shared.ask_about(ends, mistake, move |testbed, ends| testbed.add(ends, link)).await;
    if answer.status() == StatusCode::OK {
        *answer.status_mut() = StatusCode::CREATED;
    }
    answer
}

/// Removes a link between two switches of the testbed, with both ports.
#[utoipa::path(
    delete, path = "/api/v1/testbed/links", params(TestbedEnds),
    responses((status = 200, body = TestbedChanged))
)]
async fn remove_link(State(shared): State<SharedTestbed>, ends: Asked<TestbedEnds>) -> Response {
    shared.ask_about(ends, None, |testbed, ends| testbed.remove(ends)).await
}

/// The field that cannot be so, and why.
fn mistake(change: &LinkChange) -> Option<(&'static str, String)> {
    match *change {
        LinkChange { rate_bps: Some(rate), .. } if !RATES.contains(&rate) => {
            Some(("rate_bps", format!("{rate} is not from {} to {}", RATES.start(), RATES.end())))
        }
        LinkChange { delay_us: Some(delay), .. } if delay > MAX_DELAY_US => {
            Some(("delay_us", format!("{delay} is more than {MAX_DELAY_US}")))
        }
        LinkChange { loss: Some(loss), .. } if !(0.0..=1.0).contains(&loss) => {
            Some(("loss", format!("{loss} is not from 0 to 1")))
        }
        _ if *change == LinkChange::default() => Some((
            "",
            "no property is given: name at least one of up, rate_bps, delay_us and loss".to_owned(),
        )),
        _ => None,
    }
}

impl SharedTestbed {
    /// Asks for something that concerns one link, unless the request has a mistake.
    async fn ask_about(
        self,
        ends: Asked<TestbedEnds>,
        mistake: Option<(&'static str, String)>,
        question: impl FnOnce(&dyn Testbed, [&str; 2]) -> Result<TestbedLink, TestbedError> + Send + 'static,
    ) -> Response {
        let Parameters(TestbedEnds { from, to }) = match ends {
            Ok(ends) => ends,
            Err(rejection) => return Problem::from(rejection).into_response(),
        };
        if let Some((field, why)) = mistake {
            return Problem::invalid(field, why).into_response();
        }
        let changed = |link| TestbedChanged { schema: Schema, link };
        self.ask(move |testbed| question(testbed, [&from, &to]).map(changed)).await
    }

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
