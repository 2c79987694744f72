//! Reused packet buffers in two sizes.

/// Capacity for a full Ethernet frame with a tag and room to grow.
const SMALL_CAPACITY: usize = 1_600;
/// Capacity for the longest GSO packet.
const LARGE_CAPACITY: usize = 65_536 + 64;
/// Free buffers kept: enough for a turn of all interfaces, and at most 24 MiB.
const MAX_FREE_SMALL: usize = 4_096;
const MAX_FREE_LARGE: usize = 256;

/// A pool of buffers: recently freed memory is in the cache and needs no new pages.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    small: Vec<Vec<u8>>,
    large: Vec<Vec<u8>>,
}

impl Buffers {
    /// An empty buffer with room for `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Vec<u8> {
        let (kept, size) = if length <= SMALL_CAPACITY {
            (&mut self.small, SMALL_CAPACITY)
        } else {
            (&mut self.large, LARGE_CAPACITY)
        };
        kept.pop().unwrap_or_else(|| Vec::with_capacity(size.max(length)))
    }

    /// Returns a buffer to the pool, if it has one of the two sizes.
    pub(crate) fn give_back(&mut self, mut buffer: Vec<u8>) {
        let (kept, most) = match buffer.capacity() {
            SMALL_CAPACITY => (&mut self.small, MAX_FREE_SMALL),
            LARGE_CAPACITY => (&mut self.large, MAX_FREE_LARGE),
            _ => return,
        };
        if kept.len() < most {
            buffer.clear();
            kept.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_for_what_fits_in_them() {
        let mut buffers = Buffers::default();
        for length in [0, 60, 1_600, 1_601, 65_600, 80_000] {
            let mut buffer = buffers.take(length);
            assert!(buffer.is_empty() && buffer.capacity() >= length);
            buffer.resize(length, 1);
            buffers.give_back(buffer);
            let kept = buffers.small.len() + buffers.large.len();
            assert_eq!(kept, usize::from(length <= LARGE_CAPACITY), "{length}");
            assert!(buffers.take(length).is_empty() && buffers.small.is_empty() && buffers.large.is_empty());
        }
    }

    #[test]
    fn no_more_are_kept_than_are_of_use() {
        let mut buffers = Buffers::default();
        (0..5_000).for_each(|_| buffers.give_back(Vec::with_capacity(SMALL_CAPACITY)));
        (0..300).for_each(|_| buffers.give_back(Vec::with_capacity(LARGE_CAPACITY)));
        buffers.give_back(Vec::with_capacity(7));
        assert_eq!((buffers.small.len(), buffers.large.len()), (MAX_FREE_SMALL, MAX_FREE_LARGE));
    }
}
