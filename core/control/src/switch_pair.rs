//! The ingress and egress switch of a path.

use braid_types::DatapathId;

/// The switches of a sender and of a receiver, where packets enter and leave.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SwitchPair {
    pub(crate) src: DatapathId,
    pub(crate) dst: DatapathId,
}

impl SwitchPair {
    pub(crate) const fn new(src: DatapathId, dst: DatapathId) -> Self {
        Self { src, dst }
    }

    /// The pair in the other direction.
    pub(crate) const fn reversed(self) -> Self {
        Self { src: self.dst, dst: self.src }
    }
}
