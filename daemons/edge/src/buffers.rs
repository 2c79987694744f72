//! Reused packet buffers in two sizes.

/// Room for a full frame of Ethernet, with a tag and something to grow.
const SMALL: usize = 1_600;
/// Room for the longest GSO packet.
const LARGE: usize = 65_536 + 64;
/// Buffers that are kept: what a turn of all interfaces takes, and no more than 24 MiB.
const MOST_SMALL: usize = 4_096;
const MOST_LARGE: usize = 256;

/// Buffers that are used again: memory that has just been given back is in the cache, and needs no new pages.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    small: Vec<Vec<u8>>,
    large: Vec<Vec<u8>>,
}

impl Buffers {
    /// An empty one with room for `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Vec<u8> {
        let (kept, size) = if length <= SMALL { (&mut self.small, SMALL) } else { (&mut self.large, LARGE) };
        kept.pop().unwrap_or_else(|| Vec::with_capacity(size.max(length)))
    }

    /// Keeps a buffer that is not needed any more, if it is one of those that are used again.
    pub(crate) fn give_back(&mut self, mut buffer: Vec<u8>) {
        let (kept, most) = match buffer.capacity() {
            SMALL => (&mut self.small, MOST_SMALL),
            LARGE => (&mut self.large, MOST_LARGE),
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
            assert_eq!(kept, usize::from(length <= LARGE), "{length}");
            assert!(buffers.take(length).is_empty() && buffers.small.is_empty() && buffers.large.is_empty());
        }
    }

    #[test]
    fn no_more_are_kept_than_are_of_use() {
        let mut buffers = Buffers::default();
        (0..5_000).for_each(|_| buffers.give_back(Vec::with_capacity(SMALL)));
        (0..300).for_each(|_| buffers.give_back(Vec::with_capacity(LARGE)));
        buffers.give_back(Vec::with_capacity(7));
        assert_eq!((buffers.small.len(), buffers.large.len()), (MOST_SMALL, MOST_LARGE));
    }
}
