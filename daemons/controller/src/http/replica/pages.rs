//! Pages of lists, from a copy that is new enough.

use std::time::Duration;

use axum::extract::Query as Parameters;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use braid_api::PageParameters;
use braid_filter::{Filter, FilterError};
use tokio::time::Instant;

use super::filling::{Choice, Filling};
use super::listed::{Cursor, name};
use super::{Listed, Replica, Tabled, Tables};
use crate::http::problem::{Asked, Problem};

/// Items of a page, unless another number is asked for.
const PAGE: usize = 1_000;
const MAX_PAGE: usize = 10_000;
/// Bytes of a filter.
const MAX_FILTER: usize = 1_024;
/// Those who read on are shown what is not older than this.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Answers `GET` for a list.
pub(in crate::http) async fn page<T: Tabled>(
    replica: &Replica,
    part: Asked<PageParameters>,
) -> Result<Response, Problem> {
    let Parameters(PageParameters { limit, cursor, filter }) = part?;
    let limit = limit.map_or(PAGE, |limit| limit as usize);
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(Problem::invalid("limit", format!("a page has 1 to {MAX_PAGE} items, not {limit}")));
    }
    let filter = read_filter(filter.as_deref().unwrap_or_default())?;
    let after = cursor.map(|cursor| read_cursor::<T>(&cursor)).transpose()?;
    let asked_at = Instant::now();
    // Those who read on are shown what is a little older.
    let since = after.as_ref().map_or(asked_at, |_| asked_at.checked_sub(MAX_AGE).unwrap_or(asked_at));
    let mut page = Filling::new(after, limit);
    let body = loop {
        let choose = |tables: &Tables| {
            page.fill(T::table(tables), since, Choice { filter: &filter, naming: &tables.naming })
        };
        match replica.read(choose) {
            Ok(body) => break body,
            Err(after) => T::renew(replica, after, since).await?,
        }
    };
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

fn read_filter(text: &str) -> Result<Filter, Problem> {
    if text.len() > MAX_FILTER {
        return Err(Problem::invalid("filter", format!("a filter has at most {MAX_FILTER} bytes")));
    }
    text.parse().map_err(|error: FilterError| Problem::invalid("filter", error.to_string()))
}

fn read_cursor<T: Listed>(cursor: &str) -> Result<T::Key, Problem> {
    let invalid =
        || Problem::invalid("cursor", format!("{cursor:?} is not where a page of {} ended", name::<T>()));
    T::Key::read(cursor).ok_or_else(invalid)
}
