//! A queue in a ring of memory whose size is a power of two.

/// A queue in one block of memory, whose size is a power of two: every place is found with one mask.
///
/// It grows and never shrinks, so that in the long run nothing is allocated. Whenever it is empty it begins at its first
/// place again: one that holds little stays in few cache lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ring<T> {
    places: Vec<T>,
    head: u32,
    len: u32,
}

const FIRST_SIZE: usize = 16;

impl<T: Copy + Default> Ring<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), head: 0, len: 0 }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len as usize
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of memory.
    pub(crate) const fn memory(&self) -> usize {
        self.places.capacity() * size_of::<T>()
    }

    pub(crate) fn push(&mut self, item: T) {
        if self.len() == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len());
        self.places[place] = item;
        self.len += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = self.front()?;
        self.len -= 1;
        self.head = if self.len == 0 { 0 } else { self.head.wrapping_add(1) };
        Some(item)
    }

    pub(crate) fn front(&self) -> Option<T> {
        self.get(0)
    }

    pub(crate) fn get(&self, index: usize) -> Option<T> {
        (index < self.len()).then(|| self.places[self.place(index)])
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let place = (index < self.len()).then(|| self.place(index))?;
        self.places.get_mut(place)
    }

    pub(crate) const fn clear(&mut self) {
        self.len = 0;
    }

    const fn place(&self, index: usize) -> usize {
        // The mask is wrong only without places, where nothing is looked up.
        (self.head as usize).wrapping_add(index) & self.places.len().wrapping_sub(1)
    }

    #[cold]
    fn grow(&mut self) {
        let items: Vec<T> = (0..self.len()).map(|index| self.places[self.place(index)]).collect();
        let size = (items.len() * 2).max(FIRST_SIZE);
        self.places = items;
        self.places.resize(size, T::default());
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn does_what_a_double_ended_queue_does(pushes in prop::collection::vec(any::<Option<u32>>(), 0..400)) {
            let (mut ring, mut model) = (Ring::new(), VecDeque::new());
            for push in pushes {
                match push {
                    Some(item) => {
                        ring.push(item);
                        model.push_back(item);
                    }
                    None => prop_assert_eq!(ring.pop(), model.pop_front()),
                }
                prop_assert_eq!((ring.len(), ring.front()), (model.len(), model.front().copied()));
                prop_assert_eq!(ring.get(model.len() / 2), model.get(model.len() / 2).copied());
            }
        }
    }
}
