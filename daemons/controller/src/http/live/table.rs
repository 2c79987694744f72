use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Serialize;

/// The items of a list as JSON, by their keys.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    items: BTreeMap<String, String>,
}

impl Table {
    pub(super) const fn new(name: &'static str) -> Self {
        Self { name, items: BTreeMap::new() }
    }

    /// Takes in the list as it is now; what has changed, as JSON, if anything has.
    pub(super) fn update<K: Display, T: Serialize>(
        &mut self,
        items: &[T],
        key: impl Fn(&T) -> K,
    ) -> Option<String> {
        // Views have text for keys, and are always written.
        let json = |item: &T| serde_json::to_string(item).unwrap_or_default();
        let items: BTreeMap<_, _> = items.iter().map(|item| (key(item).to_string(), json(item))).collect();
        let before = std::mem::replace(&mut self.items, items);
        let changed = self.items.iter().filter(|(key, item)| before.get(*key) != Some(item));
        let changed: Vec<_> = changed.map(|(_, item)| item.as_str()).collect();
        let gone: Vec<_> = before.keys().filter(|key| !self.items.contains_key(*key)).collect();
        if changed.is_empty() && gone.is_empty() {
            return None;
        }
        let gone = serde_json::to_string(&gone).unwrap_or_default();
        Some(format!(r#""{}":{{"set":[{}],"gone":{gone}}}"#, self.name, changed.join(",")))
    }

    /// The list as JSON.
    pub(super) fn list(&self) -> String {
        let items: Vec<_> = self.items.values().map(String::as_str).collect();
        format!(r#""{}":[{}]"#, self.name, items.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_changed_is_told() {
        let mut table = Table::new("hosts");
        let mut update = |items: &[(u8, &str)]| table.update(items, |item| item.0);
        assert_eq!(update(&[]), None);
        assert_eq!(
            update(&[(1, "a"), (2, "b")]).as_deref(),
            Some(r#""hosts":{"set":[[1,"a"],[2,"b"]],"gone":[]}"#)
        );
        assert_eq!(update(&[(1, "a"), (2, "b")]), None);
        assert_eq!(update(&[(2, "c")]).as_deref(), Some(r#""hosts":{"set":[[2,"c"]],"gone":["1"]}"#));
        assert_eq!(table.list(), r#""hosts":[[2,"c"]]"#);
    }
}
