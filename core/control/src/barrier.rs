//! Barriers: each is named by its switch and a token, for as long as its reply can arrive.

use std::ops::RangeInclusive;

use braid_types::DatapathId;

/// A barrier that was sent to a switch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Barrier {
    pub(crate) dpid: DatapathId,
    pub(crate) token: u32,
}

impl Barrier {
    /// Every barrier that a switch may have, for ranges of ordered maps.
    pub(crate) const fn all_of(dpid: DatapathId) -> RangeInclusive<Self> {
        RangeInclusive::new(Self { dpid, token: 0 }, Self { dpid, token: u32::MAX })
    }
}

/// The source of tokens, shared by all machines that send barriers.
#[derive(Debug, Default)]
pub(crate) struct BarrierTokens {
    last: u32,
}

impl BarrierTokens {
    /// A barrier for a switch, with a token that no barrier in flight has.
    pub(crate) const fn draw(&mut self, dpid: DatapathId) -> Barrier {
        self.last = self.last.wrapping_add(1);
        Barrier { dpid, token: self.last }
    }
}
