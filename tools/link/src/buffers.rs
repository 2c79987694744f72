//! Reused frame buffers of a link.

/// Frames of the link, in buffers that are used again and again.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Vec<Vec<u8>>);

/// Enough for 20 ms at 400,000 frames a second; what is more is given back.
const MOST_SPARE: usize = 8_192;
/// A frame of the common MTU with a VLAN tag fits without growing.
const COMMON: usize = 1_600;

impl Buffers {
    /// An empty one.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_else(|| Vec::with_capacity(COMMON))
    }

    /// For the next frame.
    pub(crate) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < MOST_SPARE {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}
