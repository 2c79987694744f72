//! The flow cache: recent lookup results of a table, found with one hash.

use std::hash::BuildHasher;

use braid_types::Index;

use crate::packets::key::Key;

/// As many results as are cached; a power of two.
const PLACES: usize = 512;

/// The latest lookup results of a table: one hash, however many masks its flows have. A new result replaces the one in its
/// place.
#[derive(Debug, Default)]
pub(crate) struct FlowCache {
    /// What any of the table's flows matches on: packets that differ elsewhere have the same answer.
    pub(crate) mask: Key,
    // Invariant: empty, or `PLACES` of them.
    places: Vec<Place>,
    /// Answers of other ages are of no use.
    age: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    age: u64,
    key: Key,
    found: Option<u32>,
}

impl FlowCache {
    /// Forgets all answers; from now on flows match on `mask`.
    pub(crate) fn clear(&mut self, mask: Key) {
        self.mask = mask;
        self.age += 1;
    }

    /// The answer for `key`, of which only what is in the mask is set; `None` if none is remembered.
    pub(crate) fn find(&self, key: &Key) -> Option<Option<usize>> {
        let place = self.places.get(place_of(key))?;
        let known = place.age == self.age && place.key == *key;
        known.then_some(place.found.map(|index| index as usize))
    }

    pub(crate) fn keep(&mut self, key: Key, found: Option<usize>) {
        if self.places.is_empty() {
            // Age 0 is nobody's: a table is changed before it is asked.
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
