//! `GET /api/v1/switches/{switch}/rules`: the engine reads them from the switch, other threads make text of them.

mod document;
mod group;
mod purpose;

use std::sync::Arc;

use axum::extract::{Path, Query as Parameters, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use braid_api::{Rules, RulesParameters, SwitchName};
use braid_control::view::{RuleMeanings, RuleNumbers};
use braid_openflow::TableId;
use tokio::task::spawn_blocking;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::problem::{Asked, Problem};
use super::questions::Questions;
use crate::engine::{ReadRules, ReadRulesError};
use document::{document, numbers};

/// Numbers that the engine explains at once: some ten microseconds, and 2 ms if they are groups of paths out of use.
const MAX_NUMBERS: usize = 32;

pub(super) fn routes(questions: &Questions) -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(rules)).with_state(questions.clone())
}

/// Whether this is answered by a switch, so that only its master can.
pub(super) fn is_of_switch(path: &str) -> bool {
    path.strip_prefix("/api/v1/switches/").is_some_and(|rest| rest.ends_with("/rules"))
}

/// The rules in a switch, and what they are for. The switch is asked now: it has 3 seconds. While it answers, others who
/// ask for the same get the same answer. In a cluster, the leader asks.
#[utoipa::path(
    get, path = "/api/v1/switches/{switch}/rules", params(SwitchName, RulesParameters),
    responses((status = 200, body = Rules))
)]
async fn rules(
    State(questions): State<Questions>,
    Path(SwitchName { switch }): Path<SwitchName>,
    parameters: Asked<RulesParameters>,
) -> Result<Response, Response> {
    let table = table(parameters).map_err(IntoResponse::into_response)?;
    let read = questions
        .ask_deferred(move |it, reader| it.engine.borrow_mut().read_rules(&switch, table, reader))
        .await?;
    let read = read.map_err(|error| problem(&error).into_response())?;
    let numbers = elsewhere(&read, numbers).await?;
    let meanings = explain(&questions, numbers).await?;
    let body = elsewhere(&read, move |read| document(read, &meanings)).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

fn table(parameters: Asked<RulesParameters>) -> Result<Option<TableId>, Problem> {
    let Parameters(RulesParameters { table }) = parameters?;
    let table = table.map(TableId);
    match table {
        Some(table) if table > TableId::MAX => {
            Err(Problem::invalid("table", format!("tables have numbers from 0 to {}", TableId::MAX)))
        }
        table => Ok(table),
    }
}

fn problem(error: &ReadRulesError) -> Problem {
    let (status, code) = match error {
        ReadRulesError::Unknown(_) | ReadRulesError::NotConnected(_) => (StatusCode::NOT_FOUND, "not_found"),
        ReadRulesError::NotMaster(_) => (StatusCode::CONFLICT, "not_master"),
        ReadRulesError::Left(_) | ReadRulesError::Busy(_) | ReadRulesError::TooManyReads => {
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable")
        }
        ReadRulesError::Refused(..) => (StatusCode::BAD_GATEWAY, "refused"),
        ReadRulesError::TimedOut(_) => (StatusCode::GATEWAY_TIMEOUT, "timeout"),
    };
    Problem::new(status, code, error.to_string())
}

/// Works on what was read on another thread: it can be long.
async fn elsewhere<T: Send + 'static>(
    read: &Arc<ReadRules>,
    work: impl FnOnce(&ReadRules) -> T + Send + 'static,
) -> Result<T, Response> {
    let read = Arc::clone(read);
    spawn_blocking(move || work(&read))
        .await
        .map_err(|_| Problem::unavailable("the controller is stopping").into_response())
}

/// What the numbers in rules mean, in so many questions that none takes the engine long.
async fn explain(questions: &Questions, mut numbers: RuleNumbers) -> Result<RuleMeanings, Response> {
    let mut meanings = RuleMeanings::default();
    while !numbers.is_empty() {
        let some = numbers.take(MAX_NUMBERS);
        meanings.extend(questions.ask(move |it| it.engine.borrow().brain().explain(&some)).await?);
    }
    Ok(meanings)
}

#[cfg(test)]
mod tests;
