//! Terms that name the cluster and the member by which they were raised.
//!
//! ```text
//!  63                           32 31           18 17            4 3      0
//! ┌───────────────────────────────┬───────────────┬───────────────┬────────┐
//! │ number                        │ cluster       │ member        │ 0      │
//! └───────────────────────────────┴───────────────┴───────────────┴────────┘
//! ```
//!
//! The number is above every term that was seen. The last bits are 0: a controller without a cluster raises a term by one,
//! which is foreign then.

use braid_types::Term;

use crate::message::MemberId;

const NUMBER_SHIFT: u32 = 32;
const CLUSTER_SHIFT: u32 = 18;
const MEMBER_SHIFT: u32 = 4;
/// Bits of a cluster's name, and of a member's.
const NAME_BITS: u32 = 14;
const NAME_MASK: u64 = (1 << NAME_BITS) - 1;
/// The bits of a term that are the same for all members.
const CLUSTER_MASK: u64 = NAME_MASK << CLUSTER_SHIFT | ((1 << MEMBER_SHIFT) - 1);

/// What the terms of one member have in common. It follows from names alone, so it survives a store that has forgotten
/// everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TermStamp(u64);

impl TermStamp {
    /// The stamp of this member of this cluster. Two names may have the same: see
    /// [`is_of_same_member`](Self::is_of_same_member).
    pub fn new(cluster: &str, member: &MemberId) -> Self {
        Self(name_bits(cluster) << CLUSTER_SHIFT | name_bits(member.as_str()) << MEMBER_SHIFT)
    }

    /// Whether terms with either stamp could be the same. Two members of a cluster must not have such names.
    #[must_use]
    pub fn is_of_same_member(self, other: Self) -> bool {
        self == other
    }

    /// Whether a member of this cluster has raised this term.
    pub const fn is_of_cluster(self, term: Term) -> bool {
        (term.0 ^ self.0) & CLUSTER_MASK == 0
    }

    /// The member's first term above this one, whoever has raised that.
    #[must_use]
    pub const fn above(self, term: Term) -> Term {
        let number = (term.0 >> NUMBER_SHIFT).wrapping_add(1);
        Term(number << NUMBER_SHIFT | self.0)
    }
}

/// A name as a few bits: FNV-1a, folded.
fn name_bits(name: &str) -> u64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (0..64).step_by(NAME_BITS as usize).fold(0, |folded, shift| folded ^ hash >> shift) & NAME_MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(cluster: &str, member: &str) -> TermStamp {
        TermStamp::new(cluster, &MemberId::new(member))
    }

    #[test]
    fn a_term_is_above_any_other_and_names_cluster_and_member() {
        let own = stamp("default", "a");
        for before in [0, 1, 1_700_000_000_000_000_000, u64::MAX] {
            let term = own.above(Term(before));
            assert!(term.is_newer_than(Term(before)) && own.is_of_cluster(term), "{term} after {before}");
            assert!(stamp("default", "b").is_of_cluster(term), "all members know it");
            assert!(!stamp("other", "a").is_of_cluster(term), "no other cluster does");
        }
    }

    #[test]
    fn two_members_share_no_term_whatever_they_have_seen() {
        let (a, b) = (stamp("default", "a"), stamp("default", "b"));
        assert!(!a.is_of_same_member(b) && a.is_of_same_member(stamp("default", "a")));
        assert_ne!(a.above(Term(77)), b.above(Term(77)));
    }

    #[test]
    fn what_a_controller_without_a_cluster_makes_of_a_term_is_foreign() {
        let own = stamp("default", "a");
        let term = own.above(Term(5));
        let raised = std::iter::successors(Some(term.next()), |term| Some(term.next()));
        assert!(raised.take(15).all(|term| !own.is_of_cluster(term)));
    }
}
