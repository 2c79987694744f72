//! A flow table with tuple space search. Srinivasan, Suri, Varghese (1999).

use std::collections::HashMap;

use braid_openflow::{Cookie, FlowMod, FlowModFlags, Message, Seconds};
use braid_types::{Index, Time};

use super::flow_cache::FlowCache;
use super::matching::Matcher;
use crate::action::Program;
use crate::packets::key::Key;

/// A flow, and the message that created it, from which it is described.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) matcher: Matcher,
    pub(crate) priority: u16,
    pub(crate) cookie: Cookie,
    pub(crate) idle_timeout: Seconds,
    pub(crate) hard_timeout: Seconds,
    pub(crate) flags: FlowModFlags,
    pub(crate) program: Program,
    pub(crate) message: Vec<u8>,
    pub(crate) created: Time,
    pub(crate) used: Time,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Entry {
    /// Counts a packet that hit it.
    pub(crate) const fn count(&mut self, now: Time, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
        self.used = now;
    }

    /// The message that created it, or changed it last.
    pub(crate) fn flow_mod(&self) -> FlowMod<'_> {
        match Message::decode(&self.message) {
            Ok((_, Message::FlowMod(flow_mod))) => flow_mod,
            _ => FlowMod::default(),
        }
    }
}

/// The flows of a table, grouped by mask. A look-up takes one hash for each group, in the order of their highest
/// priority, until no later group can win. Srinivasan, Suri, Varghese, "Packet Classification using Tuple Space
/// Search" (1999).
#[derive(Debug, Default)]
pub(crate) struct Table {
    entries: Vec<Option<Entry>>,
    free: Vec<usize>,
    // Invariant: sorted by `highest`, from the highest down.
    groups: Vec<Tuple>,
    cache: FlowCache,
    pub(crate) lookups: u64,
    pub(crate) matches: u64,
}

#[derive(Debug)]
struct Tuple {
    mask: Key,
    highest: u16,
    /// The entries with a value, from the highest priority down.
    values: Index<Key, Vec<(u16, usize)>>,
}

impl Table {
    pub(crate) const fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// The matching entry of the highest priority.
    pub(crate) fn find(&mut self, key: &Key) -> Option<&mut Entry> {
        self.lookups += 1;
        let index = match self.groups.len() {
            0 | 1 => self.search(key),
            _ => self.recall(key),
        };
        self.matches += u64::from(index.is_some());
        self.entries.get_mut(index?)?.as_mut()
    }

    /// As [`Self::search`], which runs only once for packets with equal matched fields.
    fn recall(&mut self, key: &Key) -> Option<usize> {
        let relevant = key.masked(&self.cache.mask);
        self.cache.find(&relevant).unwrap_or_else(|| {
            let found = self.search(key);
            self.cache.keep(relevant, found);
            found
        })
    }

    fn search(&self, key: &Key) -> Option<usize> {
        let mut best: Option<(u16, usize)> = None;
        for tuple in &self.groups {
            if best.is_some_and(|(priority, _)| priority >= tuple.highest) {
                break;
            }
            let found = tuple.values.get(&key.masked(&tuple.mask)).and_then(|entries| entries.first());
            best = match (best, found) {
                (Some(best), Some(found)) if found.0 <= best.0 => Some(best),
                (best, found) => found.copied().or(best),
            };
        }
        best.map(|(_, index)| index)
    }

    /// Adds an entry; returns the one with the same match and priority that it replaces.
    pub(crate) fn add(&mut self, entry: Entry) -> Option<Entry> {
        let old = self.exact(&entry.matcher, entry.priority).and_then(|index| self.remove(index));
        let (matcher, priority) = (entry.matcher, entry.priority);
        let index = self.free.pop().unwrap_or(self.entries.len());
        match self.entries.get_mut(index) {
            Some(place) => *place = Some(entry),
            None => self.entries.push(Some(entry)),
        }
        let tuple = match self.groups.iter().position(|tuple| tuple.mask == matcher.mask) {
            Some(place) => place,
            None => {
                self.groups.push(Tuple { mask: matcher.mask, highest: 0, values: HashMap::default() });
                self.groups.len() - 1
            }
        };
        let tuple = &mut self.groups[tuple];
        let values = tuple.values.entry(matcher.value).or_default();
        let place = values.partition_point(|(other, _)| *other > priority);
        values.insert(place, (priority, index));
        tuple.highest = tuple.highest.max(priority);
        self.sort();
        self.forget();
        old
    }

    /// The place of the entry with this match and priority.
    pub(crate) fn exact(&self, matcher: &Matcher, priority: u16) -> Option<usize> {
        let tuple = self.groups.iter().find(|tuple| tuple.mask == matcher.mask)?;
        let values = tuple.values.get(&matcher.value)?;
        values.iter().find(|(other, _)| *other == priority).map(|(_, index)| *index)
    }

    pub(crate) fn remove(&mut self, index: usize) -> Option<Entry> {
        let entry = self.entries.get_mut(index)?.take()?;
        self.free.push(index);
        let place = self.groups.iter().position(|tuple| tuple.mask == entry.matcher.mask)?;
        let tuple = &mut self.groups[place];
        if let Some(values) = tuple.values.get_mut(&entry.matcher.value) {
            values.retain(|(_, other)| *other != index);
            if values.is_empty() {
                tuple.values.remove(&entry.matcher.value);
            }
        }
        if tuple.values.is_empty() {
            self.groups.remove(place);
        }
        self.forget();
        // `highest` stays while other values are left: too high a bound costs a look-up and is never wrong.
        Some(entry)
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut Entry> {
        self.entries.get_mut(index)?.as_mut()
    }

    /// All entries with their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter_map(|(index, entry)| Some((index, entry.as_ref()?)))
    }

    /// Invalidates cached results.
    fn forget(&mut self) {
        self.cache.clear(self.groups.iter().fold(Key::default(), |all, tuple| all.joined(&tuple.mask)));
    }

    fn sort(&mut self) {
        self.groups.sort_by_key(|tuple| std::cmp::Reverse(tuple.highest));
    }
}
