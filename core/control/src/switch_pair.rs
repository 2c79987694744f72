//! The two switches between which packets are carried.

use braid_types::DatapathId;

/// Where packets enter and where they leave: the switches of the sender and of the receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SwitchPair {
    pub(crate) src: DatapathId,
    pub(crate) dst: DatapathId,
}

impl SwitchPair {
    pub(crate) const fn new(src: DatapathId, dst: DatapathId) -> Self {
        Self { src, dst }
    }

    /// The same in the other direction.
    pub(crate) const fn reversed(self) -> Self {
        Self { src: self.dst, dst: self.src }
    }
}
