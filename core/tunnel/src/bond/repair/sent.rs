//! The last packets that were sent by one path, to send them again.

use std::collections::VecDeque;
use std::sync::Arc;

/// The bounds of what is kept: a fifth of a second at 200 Mbit/s.
const MAX_PACKETS: usize = 4_096;
const MAX_BYTES: usize = 6 << 20;

/// A path's packets, numbered as they are sent.
#[derive(Clone, Debug, Default)]
pub(in crate::bond) struct Sent {
    next: u32,
    bytes: usize,
    contents: VecDeque<Arc<Vec<u8>>>,
    /// The memory of the last one that is no longer kept.
    spare: Option<Arc<Vec<u8>>>,
}

impl Sent {
    /// The number of the next packet; all before were sent.
    pub(in crate::bond) const fn next(&self) -> u32 {
        self.next
    }

    /// Keeps the next packet, which `put` makes with its number.
    pub(in crate::bond) fn push(&mut self, put: impl FnOnce(u32, &mut Vec<u8>)) -> Arc<Vec<u8>> {
        let mut content = self.spare.take().unwrap_or_default();
        if let Some(memory) = Arc::get_mut(&mut content) {
            put(self.next, memory);
        } else {
            // It still waits to be sent.
            let mut memory = Vec::new();
            put(self.next, &mut memory);
            content = Arc::new(memory);
        }
        self.next = self.next.wrapping_add(1);
        self.bytes = self.bytes.saturating_add(content.len());
        self.contents.push_back(Arc::clone(&content));
        while self.contents.len() > MAX_PACKETS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.contents.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.len());
            self.spare = Some(oldest);
        }
        content
    }

    /// A packet that is still kept.
    pub(in crate::bond) fn get(&self, seq: u32) -> Option<&[u8]> {
        let back = usize::try_from(self.next.wrapping_sub(seq)).ok()?;
        let place = self.contents.len().checked_sub(back)?;
        self.contents.get(place).map(|content| content.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_packets_are_kept_by_their_numbers() {
        let mut sent = Sent { next: u32::MAX - 1, ..Sent::default() };
        for byte in 0..10 {
            let content = sent.push(|_, content| *content = vec![byte; 10]);
            assert_eq!(*content, [byte; 10]);
        }
        assert_eq!((sent.get(u32::MAX - 1), sent.get(0)), (Some(&[0; 10][..]), Some(&[2; 10][..])));
        assert_eq!((sent.get(sent.next()), sent.get(u32::MAX - 2), sent.get(1 << 30)), (None, None, None));
        let held = sent.push(|_, content| *content = vec![7; 1_500]);
        (0..100_000).for_each(|_| drop(sent.push(|_, content| *content = vec![0; 1_500])));
        assert_eq!(*held, [7; 1_500], "what is not sent yet stays as it is");
        assert!(sent.contents.len() <= MAX_PACKETS && sent.bytes <= MAX_BYTES);
    }
}
