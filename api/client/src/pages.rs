//! Complete lists, read page by page.

use braid_api::{Item, Page, PageParameters};
use braid_types::Time;
use serde_json::Value;

use crate::{Client, Error};

/// Items of a page, as many as controllers give.
const LIMIT: u32 = 10_000;
/// A controller takes no filter of more bytes.
const MAX_FILTER: usize = 1_024;

/// All items of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct List<T> {
    /// When it was made, on the controller's clock.
    pub now: Time,
    /// The items, in the order of their key.
    pub items: Vec<T>,
}

impl Client {
    /// All items of a list.
    ///
    /// # Errors
    ///
    /// There is no answer, or it is none of a controller.
    pub fn list<T: Item>(&self) -> Result<List<T>, Error> {
        self.read_list(&self.list_text(T::Page::NAME, "")?)
    }

    /// All pages of the list `name` as one document; with a `filter`, of the items that the controller finds by it. Earlier
    /// versions do not look for any.
    ///
    /// # Errors
    ///
    /// There is no answer, or it is none of a controller.
    pub fn list_text(&self, name: &str, filter: &str) -> Result<String, Error> {
        let first = self.page(name, None, filter)?;
        let mut whole = self.parse(&first)?;
        let Some(mut cursor) = next(&whole) else { return Ok(first) };
        loop {
            let page: Value = self.parse(&self.page(name, Some(cursor.clone()), filter)?)?;
            let following = next(&page);
            append(&mut whole, page, name);
            match following {
                None => return Ok(whole.to_string()),
                Some(same) if same == cursor => {
                    return Err(Error::foreign(self.url(), "its pages do not end"));
                }
                Some(next) => cursor = next,
            }
        }
    }

    /// Reads a document of a list.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn read_list<T: Item>(&self, text: &str) -> Result<List<T>, Error> {
        let ((now, _), items) = self.parse::<T::Page>(text)?.into_parts();
        Ok(List { now, items })
    }

    fn page(&self, name: &str, cursor: Option<String>, filter: &str) -> Result<String, Error> {
        let filter = (!filter.is_empty() && filter.len() <= MAX_FILTER).then(|| filter.to_owned());
        self.get_text(name, &PageParameters { limit: Some(LIMIT), cursor, filter })
    }
}

/// Where the next page begins.
fn next(page: &Value) -> Option<String> {
    page.get("next_cursor").and_then(Value::as_str).map(str::to_owned)
}

/// Adds a page to those before; the time is that of the last one.
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
