//! The flow cache: recent lookup results of a table, found with one hash.

use std::hash::BuildHasher;

use braid_types::Index;

use crate::packets::key::Key;

/// The number of cached results; a power of two.
const PLACES: usize = 512;

/// The latest lookup results of a table: one hash, however many masks its flows have. A new result replaces the one in its
/// slot.
#[derive(Debug, Default)]
pub(crate) struct FlowCache {
    /// The union of the masks of the table's flows: packets that differ elsewhere have the same result.
    pub(crate) mask: Key,
    // Invariant: empty, or `PLACES` of them.
    places: Vec<Place>,
    /// Results of other ages are invalid.
    age: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    age: u64,
    key: Key,
    found: Option<u32>,
}

impl FlowCache {
    /// Drops all results; from now on flows match on `mask`.
    pub(crate) fn clear(&mut self, mask: Key) {
        self.mask = mask;
        self.age += 1;
    }

    /// The result for `key`, which is masked; `None` if none is cached.
    pub(crate) fn find(&self, key: &Key) -> Option<Option<usize>> {
        let place = self.places.get(place_of(key))?;
        let known = place.age == self.age && place.key == *key;
        known.then_some(place.found.map(|index| index as usize))
    }

    pub(crate) fn keep(&mut self, key: Key, found: Option<usize>) {
        if self.places.is_empty() {
            // Age 0 is never used: a table is changed before its first lookup.
            self.places.resize(PLACES, Place::default());
        }
        // A table has at most 2^16 flows.
        let found = found.map(|index| index as u32);
        if let Some(place) = self.places.get_mut(place_of(&key)) {
            *place = Place { age: self.age, key, found };
        }
    }
}

fn place_of(key: &Key) -> usize {
    Index::<Key, ()>::default().hasher().hash_one(key) as usize & (PLACES - 1)
}
