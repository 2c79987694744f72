//! Lists as they are asked for: page after page.

use std::time::Duration;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query as Parameters, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::listed::Cursor;
use super::{Listed, Replica};
use crate::http::problem::Problem;
use crate::state_copy::{List, Lists};

/// Items of a page, unless another number is asked for.
const PAGE: usize = 1_000;
const MAX_PAGE: usize = 10_000;
/// Those who read on are shown what is not older than this.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Which part of a list is asked for.
#[derive(Deserialize)]
pub(in crate::http) struct Part {
    limit: Option<usize>,
    cursor: Option<String>,
}

/// Answers `GET` for a list.
pub(in crate::http) async fn list<T: Listed>(
    State(replica): State<Replica>,
    part: Result<Parameters<Part>, QueryRejection>,
) -> Result<Response, Problem> {
    let Parameters(Part { limit, cursor }) = part?;
    let limit = limit.unwrap_or(PAGE);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(Problem::invalid("limit", format!("a page has 1 to {MAX_PAGE} items, not {limit}")));
    }
    let after = cursor.map(|cursor| read_cursor::<T>(&cursor)).transpose()?;
    match after {
        Some(_) => replica.refresh_if_older::<T>(MAX_AGE).await?,
        None => replica.refresh(Lists::of(&[T::LIST])).await?,
    }
    Ok(json(replica.read(|tables| T::table(tables).page(after, limit))))
}

/// Answers `GET /api/v1/policy`.
pub(in crate::http) async fn policy(State(replica): State<Replica>) -> Result<Response, Problem> {
    replica.refresh(Lists::of(&[List::Policy])).await?;
    let (now, policy) = replica.read(|tables| tables.policy.clone());
    let (now, policy) = (now.as_nanos(), serde_json::to_string(&*policy).unwrap_or_default());
    Ok(json(format!(r#"{{"schema":"braid/v1","now":{now},"policy":{policy}}}"#)))
}

fn read_cursor<T: Listed>(cursor: &str) -> Result<T::Key, Problem> {
    let invalid =
        || Problem::invalid("cursor", format!("{cursor:?} is not where a page of {} ended", T::NAME));
    T::Key::read(cursor).ok_or_else(invalid)
}

fn json(body: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
