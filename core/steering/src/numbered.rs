use std::hash::Hash;

use braid_types::Index;

/// What has numbers: found by them in one step, and in their order by sorting, which is for what is done seldom.
#[derive(Debug)]
pub(crate) struct Numbered<K, V>(Index<K, V>);

impl<K, V> Default for Numbered<K, V> {
    fn default() -> Self {
        Self(Index::default())
    }
}

impl<K: Copy + Ord + Hash, V> Numbered<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, number: K) -> Option<&V> {
        self.0.get(&number)
    }

    pub(crate) fn get_mut(&mut self, number: K) -> Option<&mut V> {
        self.0.get_mut(&number)
    }

    pub(crate) fn insert(&mut self, number: K, value: V) {
        self.0.insert(number, value);
    }

    pub(crate) fn remove(&mut self, number: K) -> Option<V> {
        self.0.remove(&number)
    }

    /// All of it, in the order of numbers. O(n log n).
    pub(crate) fn iter(&self) -> impl Iterator<Item = &V> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_unstable_by_key(|(number, _)| **number);
        all.into_iter().map(|(_, value)| value)
    }
}
