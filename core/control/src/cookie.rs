//! Cookies of rules: Braid's mark and the rule's purpose in 64 bits, readable after a restart.

use serde::{Deserialize, Serialize};

use braid_steering::StreamId;

use crate::label::Label;

/// The value in a rule's cookie field: what the rule is for, readable after a restart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cookie(pub u64);

/// The top byte of Braid's cookies.
const MARK: u64 = 0xb7;
const MARK_SHIFT: u32 = 56;
/// Matches Braid's cookies in the bits of [`OURS_MASK`].
pub(crate) const OURS: Cookie = Cookie(MARK << MARK_SHIFT);
pub(crate) const OURS_MASK: u64 = 0xff << MARK_SHIFT;
const KIND_SHIFT: u32 = 48;
const VALUE_MASK: u64 = (1 << KIND_SHIFT) - 1;

const BASE: u64 = 0;
const STREAM: u64 = 1;
const ROUTE: u64 = 2;
const FABRIC: u64 = 3;
const DELIVER: u64 = 4;
const BYPASS: u64 = 5;
const RESEQUENCE: u64 = 6;

/// The purpose of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// The same rule on every switch.
    Base,
    /// Steers one direction of a stream.
    Stream {
        /// The stream.
        id: StreamId,
        /// Whether it is the answering host's direction.
        reverse: bool,
    },
    /// A default path.
    Route,
    /// One hop of a label's path.
    Fabric(Label),
    /// Delivers packets to an attached host.
    Deliver,
    /// One hop of a bypass.
    Bypass(Label),
    /// Resequences one direction of a stream.
    Resequence {
        /// The stream.
        id: StreamId,
        /// Whether it is the answering host's direction.
        reverse: bool,
    },
}

impl Cookie {
    /// The cookie of a rule with this purpose.
    pub const fn new(purpose: Purpose) -> Self {
        let (kind, value) = match purpose {
            Purpose::Base => (BASE, 0),
            Purpose::Stream { id, reverse } => (STREAM, (id.0 << 1) | reverse as u64),
            Purpose::Route => (ROUTE, 0),
            Purpose::Fabric(label) => (FABRIC, label.0 as u64),
            Purpose::Deliver => (DELIVER, 0),
            Purpose::Bypass(label) => (BYPASS, label.0 as u64),
            Purpose::Resequence { id, reverse } => (RESEQUENCE, (id.0 << 1) | reverse as u64),
        };
        Self(OURS.0 | (kind << KIND_SHIFT) | (value & VALUE_MASK))
    }

    /// Whether a Braid controller wrote it.
    pub const fn is_ours(self) -> bool {
        self.0 & OURS_MASK == OURS.0
    }

    /// Whether several rules of a switch may share it.
    pub(crate) fn is_shared(self) -> bool {
        !matches!(self.purpose(), Some(Purpose::Stream { .. }))
    }

    /// The purpose of the rule with this cookie; `None` if it is not Braid's or not known.
    pub fn purpose(self) -> Option<Purpose> {
        if !self.is_ours() {
            return None;
        }
        let value = self.0 & VALUE_MASK;
        match (self.0 >> KIND_SHIFT) & 0xff {
            BASE => Some(Purpose::Base),
            STREAM => Some(Purpose::Stream { id: StreamId(value >> 1), reverse: value & 1 == 1 }),
            ROUTE => Some(Purpose::Route),
            FABRIC => u32::try_from(value).ok().map(|label| Purpose::Fabric(Label(label))),
            DELIVER => Some(Purpose::Deliver),
            BYPASS => u32::try_from(value).ok().map(|label| Purpose::Bypass(Label(label))),
            RESEQUENCE => Some(Purpose::Resequence { id: StreamId(value >> 1), reverse: value & 1 == 1 }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_read_back_from_cookies() {
        let purposes = [
            Purpose::Base,
            Purpose::Stream { id: StreamId(7), reverse: true },
            Purpose::Stream { id: StreamId(0), reverse: false },
            Purpose::Route,
            Purpose::Fabric(Label(u32::MAX)),
            Purpose::Deliver,
            Purpose::Bypass(Label(9)),
            Purpose::Resequence { id: StreamId(8), reverse: true },
        ];
        for purpose in purposes {
            assert_eq!(Cookie::new(purpose).purpose(), Some(purpose));
        }
    }

    #[test]
    fn foreign_cookies_have_no_purpose() {
        assert_eq!(Cookie(0).purpose(), None);
        assert_eq!(Cookie(OURS.0 | (0xff << KIND_SHIFT)).purpose(), None);
    }
}
