//! Terms: periods in which one controller leads.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a period in which one controller leads; the generation id of its MASTER role.
///
/// Terms are compared as switches compare generation ids, by their distance modulo 2⁶⁴. OpenFlow 1.3.5 §6.3.6. So they have
/// no order in general, and [`Ord`] is not implemented.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Term(pub u64);

impl Term {
    /// Whether a switch that has seen `other` takes this one for a newer one.
    #[must_use]
    pub const fn is_newer_than(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0).cast_signed() > 0
    }

    /// The newer of both.
    #[must_use]
    pub const fn newest(self, other: Self) -> Self {
        if other.is_newer_than(self) { other } else { self }
    }

    /// The term after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_compared_as_switches_compare_generation_ids() {
        assert!(Term(2).is_newer_than(Term(1)));
        assert!(!Term(1).is_newer_than(Term(1)));
        assert!(!Term(1).is_newer_than(Term(2)));
        assert!(Term(u64::MAX).next().is_newer_than(Term(u64::MAX)), "they start again after the last one");
        assert!(Term(1).is_newer_than(Term(u64::MAX)), "a switch without a generation says u64::MAX");
        assert_eq!(Term(3).newest(Term(7)), Term(7));
        assert_eq!(Term(7).newest(Term(3)), Term(7));
    }
}
