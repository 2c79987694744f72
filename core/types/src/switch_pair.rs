//! The two switches between which packets are carried.

use crate::DatapathId;

/// Where packets enter and where they leave: the switches of the sender and of the receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SwitchPair {
    /// The sender's.
    pub src: DatapathId,
    /// The receiver's.
    pub dst: DatapathId,
}

impl SwitchPair {
    /// From one switch to another.
    pub const fn new(src: DatapathId, dst: DatapathId) -> Self {
        Self { src, dst }
    }

    /// The same in the other direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { src: self.dst, dst: self.src }
    }
}
