//! A map keyed by consecutive numbers, stored in pages.

use std::marker::PhantomData;

use crate::Index;

/// Values of a page. A page may survive for a single value, so this bounds the waste of memory.
const PAGE: u64 = 8;

/// A type with a number, mostly given out one after the other.
pub trait Number: Copy {
    /// The number.
    fn number(self) -> u64;
}

/// Values by consecutive numbers: found in one step, and kept in order. Values that came together lie together, as
/// they are mostly used and removed together.
#[derive(Debug)]
pub struct Numbered<K, V> {
    pages: Index<u64, Page<V>>,
    len: usize,
    key: PhantomData<K>,
}

/// Invariant: it is not empty.
#[derive(Debug)]
struct Page<V> {
    values: Box<[Option<V>]>,
    len: usize,
}

impl<V> Default for Page<V> {
    fn default() -> Self {
        Self { values: (0..PAGE).map(|_| None).collect(), len: 0 }
    }
}

impl<K, V> Default for Numbered<K, V> {
    fn default() -> Self {
        Self { pages: Index::default(), len: 0, key: PhantomData }
    }
}

impl<K: Number, V> Numbered<K, V> {
    /// The number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of this number.
    pub fn get(&self, number: K) -> Option<&V> {
        let (page, place) = place(number);
        self.pages.get(&page)?.values.get(place)?.as_ref()
    }

    /// The value of this number, to be changed.
    pub fn get_mut(&mut self, number: K) -> Option<&mut V> {
        let (page, place) = place(number);
        self.pages.get_mut(&page)?.values.get_mut(place)?.as_mut()
    }

    /// Sets the value of this number; returns the earlier one.
    pub fn insert(&mut self, number: K, value: V) -> Option<V> {
        let (page, place) = place(number);
        let page = self.pages.entry(page).or_default();
        let before = page.values.get_mut(place).and_then(|known| known.replace(value));
        page.len += usize::from(before.is_none());
        self.len += usize::from(before.is_none());
        before
    }

    /// Removes and returns the value of this number.
    pub fn remove(&mut self, number: K) -> Option<V> {
        let (at, place) = place(number);
        let page = self.pages.get_mut(&at)?;
        let value = page.values.get_mut(place)?.take()?;
        page.len -= 1;
        self.len -= 1;
        if page.len == 0 {
            self.pages.remove(&at);
        }
        Some(value)
    }

    /// All values, in the order of numbers. O(n log n).
    #[expect(clippy::disallowed_methods, reason = "sorted at once")]
    pub fn iter(&self) -> impl Iterator<Item = &V> {
        let mut pages: Vec<_> = self.pages.iter().collect();
        pages.sort_unstable_by_key(|(page, _)| **page);
        pages.into_iter().flat_map(|(_, page)| page.values.iter().flatten())
    }
}

fn place(number: impl Number) -> (u64, usize) {
    let number = number.number();
    (number / PAGE, (number % PAGE) as usize)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    impl Number for u64 {
        fn number(self) -> u64 {
            self
        }
    }

    proptest! {
        #[test]
        fn it_holds_what_an_ordered_map_does(changes in prop::collection::vec((0_u64..100, any::<Option<u8>>()), 0..300)) {
            let (mut numbered, mut map) = (Numbered::<u64, u8>::default(), BTreeMap::new());
            for (number, value) in changes {
                if let Some(value) = value {
                    prop_assert_eq!(numbered.insert(number, value), map.insert(number, value));
                } else {
                    prop_assert_eq!(numbered.remove(number), map.remove(&number));
                }
                prop_assert_eq!(numbered.get(number), map.get(&number));
                prop_assert_eq!(numbered.get_mut(number).copied(), map.get(&number).copied());
                prop_assert_eq!(numbered.len(), map.len());
                prop_assert!(numbered.iter().eq(map.values()));
                prop_assert!(numbered.pages.len() <= map.len());
            }
        }
    }
}
