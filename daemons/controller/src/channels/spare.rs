//! Buffers for output that all channels share: a channel has one only while it has output.

use std::cell::RefCell;

/// Spare buffers: as many as a turn fills while the controller is busy.
const MAX_SPARE: usize = 64;
/// The greatest capacity of one. It holds what packets in one read from one switch cause.
const MAX_CAPACITY: usize = 256 << 10;

/// Empty buffers that were given back. The last one is taken first, as it is still in the processor's cache.
#[derive(Debug, Default)]
pub(super) struct SpareBuffers(RefCell<Vec<Vec<u8>>>);

impl SpareBuffers {
    /// An empty buffer.
    pub(super) fn take(&self) -> Vec<u8> {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Keeps the memory of a buffer for the next that needs one, or releases it.
    pub(super) fn give_back(&self, mut buffer: Vec<u8>) {
        let mut spare = self.0.borrow_mut();
        if spare.len() < MAX_SPARE && (1..=MAX_CAPACITY).contains(&buffer.capacity()) {
            buffer.clear();
            spare.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_last_buffer_is_used_again() {
        let spare = SpareBuffers::default();
        spare.give_back(vec![1; 10]);
        spare.give_back(vec![2; 20]);
        assert_eq!((spare.take().capacity(), spare.take().capacity(), spare.take().capacity()), (20, 10, 0));
    }

    #[test]
    fn few_buffers_are_kept_and_none_that_are_large_or_have_no_memory() {
        let spare = SpareBuffers::default();
        [0, MAX_CAPACITY + 1].into_iter().for_each(|length| spare.give_back(vec![0; length]));
        assert_eq!(spare.0.borrow().len(), 0);
        (0..2 * MAX_SPARE).for_each(|_| spare.give_back(vec![0; 10]));
        assert_eq!(spare.0.borrow().len(), MAX_SPARE);
        assert!(spare.take().is_empty());
    }
}
