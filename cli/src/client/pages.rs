//! Lists as controllers give them: page after page.

use serde_json::Value;

use super::{Controller, fetch, read};

/// Items of a page, as many as controllers give.
const LIMIT: &str = "10000";

impl Controller {
    /// The list `name` with all its pages, as one answer.
    ///
    /// # Errors
    ///
    /// No controller answers, or it says what none should.
    pub(super) fn whole(&self, name: &str) -> anyhow::Result<String> {
        let first = self.page(name, None)?;
        let mut whole = read(&first).map_err(|reason| self.no_answer(&reason))?;
        let Some(mut cursor) = next(&whole) else { return Ok(first) };
        loop {
            let page = self.page(name, Some(&cursor))?;
            let page = read(&page).map_err(|reason| self.no_answer(&reason))?;
            let following = next(&page);
            append(&mut whole, page, name);
            match following {
                None => return Ok(whole.to_string()),
                Some(same) if same == cursor => return Err(self.no_answer("its pages do not end")),
                Some(next) => cursor = next,
            }
        }
    }

    fn page(&self, name: &str, cursor: Option<&str>) -> anyhow::Result<String> {
        let cursor = cursor.map(|cursor| ("cursor", cursor.to_owned()));
        let parameters: Vec<_> = [("limit", LIMIT.to_owned())].into_iter().chain(cursor).collect();
        fetch::get(&self.0, &format!("/api/v1/{name}"), &parameters)
    }
}

/// Where the next page begins.
fn next(page: &Value) -> Option<String> {
    page.get("next_cursor").and_then(Value::as_str).map(str::to_owned)
}

/// What a page has joins what the ones before had; the time is that of the last one.
fn append(whole: &mut Value, mut page: Value, name: &str) {
    let more = page.get_mut(name).and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
    if let Some(items) = whole.get_mut(name).and_then(Value::as_array_mut) {
        items.extend(more);
    }
    for field in ["now", "next_cursor"] {
        if let (Some(old), Some(new)) = (whole.get_mut(field), page.get_mut(field)) {
            *old = new.take();
        }
    }
}
