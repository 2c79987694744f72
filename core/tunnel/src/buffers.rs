//! Memory of datagrams and packets that are done with, for the next ones.

/// More than are under way at once, mostly.
const MAX_SPARE: usize = 256;

/// Buffers to use again. What was in them stays there.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&mut self, buffer: Vec<u8>) {
        if self.0.len() < MAX_SPARE {
            self.0.push(buffer);
        }
    }
}
