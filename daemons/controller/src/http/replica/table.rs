//! One copied list with lazily encoded items.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::OnceLock;
use std::time::Duration;

use axum::body::Bytes;
use braid_types::Time;
use tokio::time::Instant;

use super::coverage::{Coverage, Span};
use super::{Listed, Naming};

/// A list that was not copied for so long is not being read.
const MAX_UNREAD: Duration = Duration::from_secs(60);
/// A list as it was copied last, in the order of its keys. What is asked for of it is encoded once.
#[derive(Debug)]
pub(in crate::http) struct Table<T: Listed> {
    /// What happened until then is in it, if all of it was copied.
    pub(in crate::http) now: Time,
    /// When something of it was copied last.
    copied_at: Option<Instant>,
    /// What is in none of the spans is out of date.
    coverage: Coverage<T::Key>,
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
        Self { now: Time::ZERO, copied_at: None, coverage: Coverage::new(), items: BTreeMap::new() }
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
    pub(super) fn replace(&mut self, whole: Span<T::Key>, values: Vec<T>) {
        self.note(whole);
        if self.has_exactly(&values) {
            let items = self.items.values_mut().zip(values);
            return items
                .filter(|(item, value)| item.value != *value)
                .for_each(|(item, value)| *item = Item::new(value));
        }
        let mut before = std::mem::take(&mut self.items);
        self.items = values.into_iter().map(|value| renewed(&mut before, value)).collect();
    }

    /// These are the items after this key now, up to the end of the span.
    pub(super) fn replace_part(&mut self, after: Option<T::Key>, span: Span<T::Key>, values: Vec<T>) {
        let range = range(after.clone(), span.end.clone());
        let mut before: BTreeMap<_, _> = self.items.extract_if(range, |_, _| true).collect();
        self.items.extend(values.into_iter().map(|value| renewed(&mut before, value)));
        (self.now, self.copied_at) = (self.now.min(span.now), Some(Instant::now()));
        self.coverage.insert(after, span);
    }

    /// These items are gone, and these are new or have changed.
    pub(super) fn update(&mut self, whole: Span<T::Key>, gone: &[T::Key], changed: Vec<T>) {
        for key in gone {
            self.items.remove(key);
        }
        for value in changed {
            self.items.insert(value.key(), Item::new(value));
        }
        self.note(whole);
    }

    /// Forgets the items of a list that nobody reads: it is copied anew for the next reader.
    pub(super) fn release_unread(&mut self) {
        if self.copied_at.is_some_and(|at| at.elapsed() > MAX_UNREAD) {
            *self = Self::default();
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

    /// Whether what follows this key was copied since then.
    pub(super) fn is_covered(&self, after: &Option<T::Key>, since: Instant) -> bool {
        self.coverage.at(after).is_some_and(|span| span.asked_at >= since)
    }

    pub(super) const fn coverage(&self) -> &Coverage<T::Key> {
        &self.coverage
    }

    /// The items after one key, up to another one.
    pub(super) fn between(
        &self,
        after: Option<T::Key>,
        end: Option<T::Key>,
    ) -> impl Iterator<Item = (&T::Key, &Item<T>)> {
        self.items.range(range(after, end))
    }

    /// Whether the keys of these values are those of the list, in its order.
    fn has_exactly(&self, values: &[T]) -> bool {
        let keys = self.items.keys().zip(values);
        self.items.len() == values.len() && keys.into_iter().all(|(key, value)| *key == value.key())
    }

    fn note(&mut self, whole: Span<T::Key>) {
        (self.now, self.copied_at) = (whole.now, Some(Instant::now()));
        self.coverage.insert(None, whole);
    }
}

/// A value with its key. What was encoded stays so.
fn renewed<T: Listed>(before: &mut BTreeMap<T::Key, Item<T>>, value: T) -> (T::Key, Item<T>) {
    let key = value.key();
    let known = before.remove(&key).filter(|known| known.value == value);
    (key, known.unwrap_or_else(|| Item::new(value)))
}

/// What follows one key, up to another one.
fn range<K>(after: Option<K>, end: Option<K>) -> (Bound<K>, Bound<K>) {
    (after.map_or(Bound::Unbounded, Bound::Excluded), end.map_or(Bound::Unbounded, Bound::Included))
}

#[cfg(test)]
mod tests {
    use braid_control::view::HostView;
    use braid_types::{DatapathId, MacAddr, PortNo, SwitchPort};

    use super::*;

    fn host(number: u64, name: usize) -> HostView {
        let at = SwitchPort::new(DatapathId(1), PortNo(1));
        let addresses = vec![std::net::Ipv4Addr::LOCALHOST.into(); name];
        HostView { mac: MacAddr::from_u64(number), at, addresses, last_seen: Time::ZERO }
    }

    fn table(hosts: &[(u64, usize)]) -> Table<HostView> {
        let mut table = Table::default();
        table.replace(whole(7), hosts.iter().map(|(number, name)| host(*number, *name)).collect());
        table
    }

    fn whole(now: u64) -> Span<MacAddr> {
        Span::whole(Time::from_nanos(now), Instant::now())
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
        table.replace(whole(8), vec![host(1, 0), host(2, 1)]);
        let after = encoded(&table);
        assert_eq!((is_same(&before[0], &after[0]), is_same(&before[1], &after[1])), (true, false));
        table.update(whole(9), &[MacAddr::from_u64(2)], vec![host(3, 0)]);
        assert!(is_same(&before[0], &encoded(&table)[0]));
        let part = Span { end: Some(MacAddr::from_u64(2)), ..whole(9) };
        table.replace_part(None, part, vec![host(1, 0), host(2, 0)]);
        assert!(is_same(&before[0], &encoded(&table)[0]));
        table.change(&MacAddr::from_u64(1), |_| false);
        assert!(is_same(&before[0], &encoded(&table)[0]));
        table.change(&MacAddr::from_u64(1), |host| {
            host.last_seen = Time::from_nanos(9);
            true
        });
        let json = encoded(&table)[0].clone();
        assert!(String::from_utf8_lossy(&json).contains(r#""last_seen":9"#));
        assert_eq!(table.items().count(), 3);
    }

    #[test]
    fn a_part_replaces_what_was_between_its_ends() {
        let mut table = table(&[(1, 0), (3, 0), (5, 0), (7, 0)]);
        let numbers = |table: &Table<HostView>| -> Vec<_> {
            table.items().map(|it| it.value.mac.to_string()[16..].to_owned()).collect()
        };
        let [two, five] = [2, 5].map(|number| Some(MacAddr::from_u64(number)));
        table.replace_part(two, Span { end: five, ..whole(9) }, vec![host(4, 0), host(5, 1)]);
        assert_eq!(numbers(&table), ["1", "4", "5", "7"]);
        assert_eq!(table.now, Time::from_nanos(7), "as old as its oldest part");
        table.replace_part(five, whole(6), Vec::new());
        assert_eq!(
            (numbers(&table), table.now),
            (["1", "4", "5"].map(str::to_owned).to_vec(), Time::from_nanos(6))
        );
    }
}
