//! One copied list with lazily encoded items and pages.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use axum::body::Bytes;
use braid_filter::Filter;
use braid_types::{Time, following};
use tokio::time::Instant;

use super::listed::{Cursor, name};
use super::{Listed, Naming};

/// A list that was not copied for so long is not being read.
const MAX_UNREAD: Duration = Duration::from_secs(60);
/// Bytes of items after which a page ends, whether or not they fit: a filter that few of a hundred thousand items meet keeps
/// nobody else waiting.
const MAX_BYTES: usize = 1 << 20;

/// Which items of a list are in a page, and how they are written.
#[derive(Clone, Copy)]
pub(in crate::http) struct Choice<'a> {
    pub(super) filter: &'a Filter,
    pub(super) naming: &'a Naming,
}

impl Choice<'_> {
    fn takes(&self, json: &[u8]) -> bool {
        self.filter.is_empty() || self.filter.fits(&mut serde_json::Deserializer::from_slice(json))
    }
}

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
    pub(in crate::http) fn json(&self, naming: &Naming) -> &Bytes {
        // Maps have text for keys, so that it is always written.
        self.json.get_or_init(|| serde_json::to_vec(&self.value.wire(naming)).unwrap_or_default().into())
    }
}

impl<T: Listed> Table<T> {
    /// These are all items now, by key.
    pub(super) fn replace(&mut self, now: Time, values: Vec<T>) {
        self.note(now);
        if self.has_exactly(&values) {
            let items = self.items.values_mut().zip(values);
            return items
                .filter(|(item, value)| item.value != *value)
                .for_each(|(item, value)| *item = Item::new(value));
        }
        let mut before = std::mem::take(&mut self.items);
        let item = |value: T| {
            let key = value.key();
            // What was encoded stays so.
            let known = before.remove(&key).filter(|known| known.value == value);
            (key, known.unwrap_or_else(|| Item::new(value)))
        };
        self.items = values.into_iter().map(item).collect();
    }

    /// These items are gone, and these are new or have changed.
    pub(super) fn update(&mut self, now: Time, gone: &[T::Key], changed: Vec<T>) {
        for key in gone {
            self.items.remove(key);
        }
        for value in changed {
            self.items.insert(value.key(), Item::new(value));
        }
        self.note(now);
    }

    /// Forgets the items of a list that nobody reads: it is copied anew for the next reader.
    pub(super) fn release_unread(&mut self) {
        if self.copied_at.is_some_and(|at| at.elapsed() > MAX_UNREAD) {
            (self.items, self.copied_at) = (BTreeMap::new(), None);
        }
    }

    /// Changes an item, if it is there; `change` says whether it has.
    pub(super) fn change(&mut self, key: &T::Key, change: impl FnOnce(&mut T) -> bool) {
        if let Some(item) = self.items.get_mut(key)
            && change(&mut item.value)
        {
            item.json = OnceLock::new();
        }
    }

    /// Names have changed: everything is encoded anew.
    pub(super) fn rename(&mut self) {
        self.items.values_mut().for_each(|item| item.json = OnceLock::new());
    }

    /// Whether an item is in the list.
    pub(in crate::http) fn has(&self, key: &T::Key) -> bool {
        self.items.contains_key(key)
    }

    /// How many items there are.
    pub(in crate::http) fn len(&self) -> usize {
        self.items.len()
    }

    /// The items by key.
    pub(in crate::http) fn items(&self) -> impl DoubleEndedIterator<Item = &Item<T>> {
        self.items.values()
    }

    /// A part of the list as an answer of the API: at most `limit` of the items after `after` that fit, and where the next
    /// part begins.
    pub(super) fn page(&self, after: Option<T::Key>, limit: usize, choice: Choice<'_>) -> String {
        let mut rest = self.items.range(following(after)).peekable();
        let (mut items, mut length, mut seen, mut last) = (Vec::new(), 0, 0, None);
        while items.len() < limit
            && seen < MAX_BYTES
            && let Some((key, item)) = rest.next()
        {
            last = Some(key);
            let json = item.json(choice.naming);
            seen += json.len() + 1;
            if choice.takes(json) {
                length += json.len() + 1;
                items.push(json);
            }
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
        let (now, name) = (self.now.as_nanos(), name::<T>());
        format!(r#"{{"schema":"braid/v1","now":{now},"next_cursor":{next},"{name}":["#)
    }

    /// Whether the keys of these values are those of the list, in its order.
    fn has_exactly(&self, values: &[T]) -> bool {
        let keys = self.items.keys().zip(values);
        self.items.len() == values.len() && keys.into_iter().all(|(key, value)| *key == value.key())
    }

    fn note(&mut self, now: Time) {
        (self.now, self.copied_at) = (now, Some(Instant::now()));
    }
}

const TAIL: &str = "]}";

#[cfg(test)]
mod tests {
    use braid_control::view::HostView;
    use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort};
    use serde_json::Value;

    use super::*;

    fn host(number: u64, name: usize) -> HostView {
        let at = SwitchPort::new(DatapathId(1), PortNo(1));
        let addresses = vec![std::net::Ipv4Addr::LOCALHOST.into(); name];
        HostView { mac: MacAddr::from_u64(number), at, addresses, last_seen: Time::ZERO }
    }

    fn table(hosts: &[(u64, usize)]) -> Table<HostView> {
        let mut table = Table::default();
        table.replace(Time::from_nanos(7), hosts.iter().map(|(number, name)| host(*number, *name)).collect());
        table
    }

    fn page(table: &Table<HostView>, after: Option<MacAddr>, limit: usize, filter: &str) -> String {
        let filter = filter.parse().expect("a filter");
        table.page(after, limit, Choice { filter: &filter, naming: &Naming::default() })
    }

    /// The Ethernet addresses of all pages, and how many pages there were.
    fn read(table: &Table<HostView>, limit: usize) -> (Vec<String>, usize) {
        read_filtered(table, limit, "")
    }

    fn read_filtered(table: &Table<HostView>, limit: usize, filter: &str) -> (Vec<String>, usize) {
        let (mut all, mut pages, mut cursor) = (Vec::new(), 0, None);
        loop {
            let page: Value = serde_json::from_str(&page(table, cursor, limit, filter)).expect("JSON");
            assert_eq!((&page["schema"], &page["now"]), (&"braid/v1".into(), &7.into()));
            let hosts = page["hosts"].as_array().expect("a list");
            assert!(hosts.len() <= limit);
            all.extend(hosts.iter().filter_map(|host| host["mac"].as_str().map(str::to_owned)));
            pages += 1;
            let Some(next) = page["next_cursor"].as_str() else { return (all, pages) };
            cursor = MacAddr::read(next);
            assert!(cursor.is_some(), "{next}");
        }
    }

    #[test]
    fn pages_have_every_item_once_and_in_order() {
        let hosts = table(&[(3, 0), (1, 0), (5, 0), (4, 0), (2, 0)]);
        let all: Vec<_> = (1..=5).map(|number| MacAddr::from_u64(number).to_string()).collect();
        for (limit, pages) in [(1, 5), (2, 3), (5, 1), (9, 1)] {
            assert_eq!(read(&hosts, limit), (all.clone(), pages), "{limit}");
        }
        assert_eq!(read(&table(&[]), 1), (Vec::new(), 1), "an empty list is a page");
        let gone: Value =
            serde_json::from_str(&page(&hosts, Some(MacAddr::from_u64(9)), 1, "")).expect("JSON");
        assert_eq!((&gone["hosts"], &gone["next_cursor"]), (&serde_json::json!([]), &Value::Null));
    }

    #[test]
    fn of_a_hundred_thousand_items_a_filter_finds_all_that_fit_page_by_page() {
        let count = 100_000;
        let table = table(&(0..count).map(|number| (number, 0)).collect::<Vec<_>>());
        let wanted = |fits: &dyn Fn(u64) -> bool| -> Vec<_> {
            (0..count).filter(|it| fits(*it)).map(|number| MacAddr::from_u64(number).to_string()).collect()
        };
        let has = |it: u64| it >> 8 & 0xff == 0x7f || it & 0xff == 0x7f;
        let (last, pages) = read_filtered(&table, 1_000, "mac=00:00:00:01:86:9f");
        assert_eq!(last, wanted(&|it| it == 99_999));
        assert!(pages > 1, "however few fit");
        assert_eq!(read_filtered(&table, 1_000, "nothing"), (Vec::new(), pages));
        assert_eq!(read_filtered(&table, 1_000, "mac~:7f").0, wanted(&has));
        let (all, pages) = read_filtered(&table, 1_000, "-mac~:7f");
        assert_eq!(all, wanted(&|it| !has(it)));
        assert!(pages >= all.len() / 1_000);
    }

    #[test]
    fn a_page_ends_where_it_would_be_too_long() {
        let table = table(&(0..9).map(|number| (number, 30_000)).collect::<Vec<_>>());
        let (all, pages) = read(&table, 9);
        assert_eq!((all.len(), pages), (9, 3));
        assert!(page(&table, None, 9, "").len() < 2 * MAX_BYTES);
    }

    #[test]
    fn what_has_not_changed_is_not_encoded_again() {
        let mut table = table(&[(1, 0), (2, 0)]);
        let naming = Naming::default();
        let encoded = |table: &Table<HostView>| -> Vec<_> {
            table.items().map(|it| it.json(&naming).clone()).collect()
        };
        let is_same = |one: &Bytes, other: &Bytes| one.as_ptr() == other.as_ptr();
        let before = encoded(&table);
        table.replace(Time::ZERO, vec![host(1, 0), host(2, 1)]);
        let after = encoded(&table);
        assert_eq!((is_same(&before[0], &after[0]), is_same(&before[1], &after[1])), (true, false));
        table.update(Time::ZERO, &[MacAddr::from_u64(2)], vec![host(3, 0)]);
        assert!(is_same(&before[0], &encoded(&table)[0]));
        table.change(&MacAddr::from_u64(1), |_| false);
        assert!(is_same(&before[0], &encoded(&table)[0]));
        table.change(&MacAddr::from_u64(1), |host| {
            host.last_seen = Time::from_nanos(9);
            true
        });
        assert!(page(&table, None, 1, "").contains(r#""last_seen":9"#));
        assert_eq!(table.items().count(), 2);
    }
}
