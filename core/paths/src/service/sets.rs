//! A cache of path sets in two generations, with cheap copies.

use std::hash::BuildHasherDefault;
use std::sync::Arc;

use braid_types::DatapathId;
use rpds::HashTrieMapSync;
use rustc_hash::FxHasher;

use crate::{Kind, PathSet};

/// The pair of switches, and the kind and number of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) ingress: DatapathId,
    pub(super) egress: DatapathId,
    pub(super) kind: Kind,
    pub(super) k: usize,
}

type Map = HashTrieMapSync<Key, Arc<PathSet>, BuildHasherDefault<FxHasher>>;

/// Sets in two generations: when the younger one is full it becomes the older, and sets not requested since then are
/// dropped. Copies share everything.
#[derive(Debug, Clone, Default)]
pub(super) struct Sets {
    young: Map,
    old: Map,
    size: usize,
}

/// A set without links takes room as well.
fn size(set: &PathSet) -> usize {
    4 + set.paths.len() + set.links()
}

impl Sets {
    /// A set, without marking it as requested.
    pub(super) fn peek(&self, key: &Key) -> Option<&Arc<PathSet>> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    /// A set, marked as requested, so that it is kept longer. `limit` as in [`insert`](Self::insert).
    pub(super) fn get(&mut self, key: &Key, limit: usize) -> Option<Arc<PathSet>> {
        if let Some(set) = self.young.get(key) {
            return Some(set.clone());
        }
        let set = self.old.get(key)?.clone();
        self.insert(*key, set.clone(), limit);
        Some(set)
    }

    /// Stores a set, and drops others beyond `limit` links in all.
    pub(super) fn insert(&mut self, key: Key, set: Arc<PathSet>, limit: usize) {
        let more = size(&set);
        if more > limit / 2 {
            return;
        }
        if self.size + more > limit / 2 {
            self.old = std::mem::take(&mut self.young);
            self.size = 0;
        }
        self.size += more;
        self.young.insert_mut(key, set);
    }

    /// Drops the sets that do not pass the test.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&Key, &PathSet) -> bool) {
        for map in [&mut self.young, &mut self.old] {
            let gone: Vec<_> = map.iter().filter(|(key, set)| !keep(key, set)).map(|(key, _)| *key).collect();
            for key in gone {
                map.remove_mut(&key);
            }
        }
        self.size = self.young.values().map(|set| size(set)).sum();
    }
}
