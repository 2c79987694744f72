//! Reused frame buffers of a link.

/// A pool of frame buffers.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Vec<Vec<u8>>);

/// Free buffers kept: enough for 20 ms at 400,000 frames a second.
const MAX_FREE_BUFFERS: usize = 8_192;
/// The initial capacity: a frame of the common MTU with a VLAN tag fits.
const INITIAL_CAPACITY: usize = 1_600;

impl Buffers {
    /// An empty buffer.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_else(|| Vec::with_capacity(INITIAL_CAPACITY))
    }

    /// Keeps the buffer for a later frame, or frees it.
    pub(crate) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < MAX_FREE_BUFFERS {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}
