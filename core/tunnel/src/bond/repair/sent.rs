//! The last packets that were sent by one path, to send them again.

use std::collections::VecDeque;

/// The bounds of what is kept: a fifth of a second at 200 Mbit/s.
const MAX_PACKETS: usize = 4_096;
const MAX_BYTES: usize = 6 << 20;

/// A path's packets, numbered as they are sent.
#[derive(Clone, Debug, Default)]
pub(in crate::bond) struct Sent {
    next: u32,
    bytes: usize,
    contents: VecDeque<Vec<u8>>,
}

impl Sent {
    /// The number of the next packet; all before were sent.
    pub(in crate::bond) const fn next(&self) -> u32 {
        self.next
    }

    /// Keeps the next packet.
    pub(in crate::bond) fn push(&mut self, content: Vec<u8>) {
        self.next = self.next.wrapping_add(1);
        self.bytes = self.bytes.saturating_add(content.len());
        self.contents.push_back(content);
        while self.contents.len() > MAX_PACKETS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.contents.pop_front() else { return };
            self.bytes = self.bytes.saturating_sub(oldest.len());
        }
    }

    /// A packet that is still kept.
    pub(in crate::bond) fn get(&self, seq: u32) -> Option<&[u8]> {
        let back = usize::try_from(self.next.wrapping_sub(seq)).ok()?;
        let place = self.contents.len().checked_sub(back)?;
        self.contents.get(place).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_packets_are_kept_by_their_numbers() {
        let mut sent = Sent { next: u32::MAX - 1, ..Sent::default() };
        for byte in 0..10 {
            sent.push(vec![byte; 10]);
        }
        assert_eq!((sent.get(u32::MAX - 1), sent.get(0)), (Some(&[0; 10][..]), Some(&[2; 10][..])));
        assert_eq!((sent.get(sent.next()), sent.get(u32::MAX - 2), sent.get(1 << 30)), (None, None, None));
        (0..100_000).for_each(|_| sent.push(vec![0; 1_500]));
        assert!(sent.contents.len() <= MAX_PACKETS && sent.bytes <= MAX_BYTES);
    }
}
