//! Frames that switches send out of their ports, until they arrive elsewhere.

use std::ops::Range;

use braid_types::PortNo;

/// Frames that one switch sends, in order. Its memory is used again for the next switch.
#[derive(Debug, Default)]
pub(crate) struct Relay {
    bytes: Vec<u8>,
    frames: Vec<(PortNo, Range<usize>)>,
}

impl Relay {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.frames.clear();
    }

    pub(crate) fn push(&mut self, port: PortNo, frame: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(frame);
        self.frames.push((port, start..self.bytes.len()));
    }

    pub(crate) fn frames(&self) -> impl Iterator<Item = (PortNo, &[u8])> {
        self.frames.iter().map(|(port, range)| (*port, self.bytes.get(range.clone()).unwrap_or_default()))
    }
}
