//! The last reported items of one list as JSON, and the difference to a newer copy.

use std::collections::BTreeMap;

use axum::body::Bytes;

use crate::http::replica::{Cursor, Listed, Naming, Table};

/// The items of a list as JSON, by their keys, as watchers know them.
#[derive(Debug)]
pub(super) struct ReportedItems {
    name: &'static str,
    items: BTreeMap<String, Bytes>,
}

impl ReportedItems {
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, items: BTreeMap::new() }
    }

    /// Takes in the first items of the list as it is now; what has changed, as JSON, if anything has.
    pub(super) fn update<T: Listed>(
        &mut self,
        table: &Table<T>,
        limit: usize,
        naming: &Naming,
    ) -> Option<String> {
        let items = table.items().take(limit);
        self.set(items.map(|item| (item.value.key().write(), item.json(naming).clone())).collect())
    }

    fn set(&mut self, items: BTreeMap<String, Bytes>) -> Option<String> {
        let before = std::mem::replace(&mut self.items, items);
        let changed = self.items.iter().filter(|(key, item)| before.get(*key) != Some(item));
        let changed: Vec<_> = changed.map(|(_, item)| text(item)).collect();
        let removed: Vec<_> = before.keys().filter(|key| !self.items.contains_key(*key)).collect();
        if changed.is_empty() && removed.is_empty() {
            return None;
        }
        let removed = serde_json::to_string(&removed).unwrap_or_default();
        Some(format!(r#""{}":{{"set":[{}],"removed":{removed}}}"#, self.name, changed.join(",")))
    }

    /// Whether an item is in the list.
    pub(super) fn has<K: Cursor>(&self, key: &K) -> bool {
        self.items.contains_key(&key.write())
    }

    /// The list as JSON.
    pub(super) fn list(&self) -> String {
        let items: Vec<_> = self.items.values().map(text).collect();
        format!(r#""{}":[{}]"#, self.name, items.join(","))
    }
}

/// JSON is UTF-8.
fn text(item: &Bytes) -> &str {
    std::str::from_utf8(item).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_changed_is_told() {
        let mut table = ReportedItems::new("hosts");
        let item = |(key, name): &(u8, &str)| (key.to_string(), Bytes::from(format!(r#"[{key},"{name}"]"#)));
        let mut update = |items: &[(u8, &str)]| table.set(items.iter().map(item).collect());
        assert_eq!(update(&[]), None);
        assert_eq!(
            update(&[(1, "a"), (2, "b")]).as_deref(),
            Some(r#""hosts":{"set":[[1,"a"],[2,"b"]],"removed":[]}"#)
        );
        assert_eq!(update(&[(1, "a"), (2, "b")]), None);
        assert_eq!(update(&[(2, "c")]).as_deref(), Some(r#""hosts":{"set":[[2,"c"]],"removed":["1"]}"#));
        assert_eq!(table.list(), r#""hosts":[[2,"c"]]"#);
    }
}
