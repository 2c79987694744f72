use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::body::Bytes;
use braid_types::{Time, following};
use tokio::time::Instant;

use super::Listed;
use super::listed::Cursor;

/// Bytes of a page after which no item follows.
const MAX_BYTES: usize = 1 << 20;

/// A list as it was copied last, in the order of its keys. What is asked for of it is encoded once.
#[derive(Debug)]
pub(in crate::http) struct Table<T: Listed> {
    /// What happened until then is in it.
    pub(in crate::http) now: Time,
    /// When that came here.
    pub(super) copied_at: Option<Instant>,
    items: BTreeMap<T::Key, Item<T>>,
}

/// An item of a list.
#[derive(Debug)]
pub(in crate::http) struct Item<T> {
    pub(in crate::http) value: T,
    json: OnceLock<Bytes>,
}

impl<T: Listed> Default for Table<T> {
    fn default() -> Self {
        Self { now: Time::ZERO, copied_at: None, items: BTreeMap::new() }
    }
}

impl<T: Listed> Item<T> {
    const fn new(value: T) -> Self {
        Self { value, json: OnceLock::new() }
    }

    /// The item as JSON.
    pub(in crate::http) fn json(&self) -> &Bytes {
        // Views have text for keys, and are always written.
        self.json.get_or_init(|| serde_json::to_vec(&self.value).unwrap_or_default().into())
    }
}

impl<T: Listed> Table<T> {
    /// These are all items now.
    pub(super) fn replace(&mut self, now: Time, values: Vec<T>) {
        let mut before = std::mem::take(&mut self.items);
        let item = |value: T| {
            let key = value.key();
            // What was encoded stays so.
            let known = before.remove(&key).filter(|known| known.value == value);
            (key, known.unwrap_or_else(|| Item::new(value)))
        };
        self.items = values.into_iter().map(item).collect();
        self.note(now);
    }

    /// These items have changed, or are gone; if they are all, the others are gone, too.
    pub(super) fn update(&mut self, now: Time, are_all: bool, changes: Vec<(T::Key, Option<T>)>) {
        if are_all {
            self.items.clear();
        }
        for (key, value) in changes {
            match value {
                Some(value) => _ = self.items.insert(key, Item::new(value)),
                None => _ = self.items.remove(&key),
            }
        }
        self.note(now);
    }

    /// The items by key.
    pub(in crate::http) fn items(&self) -> impl Iterator<Item = &Item<T>> {
        self.items.values()
    }

    /// A part of the list as an answer of the API: at most `limit` of the items after `after`, and where the next part begins.
    pub(super) fn page(&self, after: Option<T::Key>, limit: usize) -> String {
        let mut rest = self.items.range(following(after)).peekable();
        let (mut items, mut length, mut last) = (Vec::new(), 0, None);
        while items.len() < limit
            && length < MAX_BYTES
            && let Some((key, item)) = rest.next()
        {
            length += item.json().len() + 1;
            items.push(item.json());
            last = Some(key);
        }
        let next = last.filter(|_| rest.peek().is_some()).map(Cursor::write);
        let mut page = self.head(next);
        page.reserve(length + TAIL.len());
        for (index, item) in items.into_iter().enumerate() {
            page.push_str(if index > 0 { "," } else { "" });
            // JSON is UTF-8.
            page.push_str(std::str::from_utf8(item).unwrap_or_default());
        }
        page + TAIL
    }

    /// Up to the items.
    fn head(&self, next: Option<String>) -> String {
        let next = serde_json::to_string(&next).unwrap_or_default();
        let (now, name) = (self.now.as_nanos(), T::NAME);
        format!(r#"{{"schema":"braid/v1","now":{now},"next_cursor":{next},"{name}":["#)
    }

    fn note(&mut self, now: Time) {
        (self.now, self.copied_at) = (now, Some(Instant::now()));
    }
}

const TAIL: &str = "]}";
