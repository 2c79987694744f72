//! The numbers of groups in a switch: each kind has a range of its own, so that a number says what a group is for.
//!
//! | numbers | groups |
//! |---|---|
//! | 1 | the flood group |
//! | 0x100 to 0x7fff | those of an edge, that spray and resequence |
//! | 0x8000 to 0xffff | those over equal-cost paths |
//! | from 0x10000 on | protected ports: the port, and the ingress port in the lower 16 bits |

use braid_openflow::GroupId;
use braid_types::PortNo;
use serde::{Deserialize, Serialize};

/// The flood group of a switch.
pub const FLOOD_GROUP: GroupId = GroupId(1);

const MIN_EDGE_GROUP: u32 = 0x100;
const MAX_EDGE_GROUP: u32 = 0x7fff;
const MIN_ECMP_GROUP: u16 = 0x8000;
/// The highest port number in a group id: 16 bits, with group ids below the reserved ones.
pub(super) const MAX_PORT: u32 = 0xfeff;

/// An edge's group that sprays packets over paths or resequences them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EdgeGroup(u16);

/// The number of a select group that spreads flows over equal-cost paths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EcmpGroup(u16);

impl EdgeGroup {
    /// The group after `last`, or the first.
    pub(crate) const fn after(last: Option<Self>) -> Self {
        match last {
            Some(Self(last)) if (last as u32) < MAX_EDGE_GROUP => Self(last + 1),
            _ => Self(MIN_EDGE_GROUP as u16),
        }
    }

    /// The group with this number, if it is one of these.
    pub(crate) fn of(id: GroupId) -> Option<Self> {
        (MIN_EDGE_GROUP..=MAX_EDGE_GROUP).contains(&id.0).then_some(Self(id.0 as u16))
    }

    /// Its number.
    pub(crate) const fn id(self) -> GroupId {
        GroupId(self.0 as u32)
    }
}

impl EcmpGroup {
    /// The group after `last`, or the first.
    pub(crate) const fn after(last: Option<Self>) -> Self {
        match last {
            Some(Self(last)) if last < u16::MAX => Self(last + 1),
            _ => Self(MIN_ECMP_GROUP),
        }
    }

    /// The group with this number, if it is one of these.
    pub(crate) fn of(id: GroupId) -> Option<Self> {
        u16::try_from(id.0).ok().filter(|number| *number >= MIN_ECMP_GROUP).map(Self)
    }

    pub(super) const fn id(self) -> GroupId {
        GroupId(self.0 as u32)
    }
}

/// Whether these port numbers fit into the group id of a protected port.
pub(crate) fn can_be_protected(port: PortNo, from: PortNo) -> bool {
    (1..=MAX_PORT).contains(&port.0) && from.0 <= MAX_PORT
}

/// Whether a group id is that of a protected port.
pub(crate) fn is_protected_port(id: GroupId) -> bool {
    protected_ports_of(id).is_some()
}

/// The group that protects `port` for packets that entered by `from`.
pub(super) fn protection_group_id(port: PortNo, from: PortNo) -> GroupId {
    GroupId(port.0 << 16 | from.0 & 0xffff)
}

/// The port and ingress port in the group id of a protected port.
pub(super) fn protected_ports_of(id: GroupId) -> Option<(PortNo, PortNo)> {
    let port = id.0 >> 16;
    (1..=MAX_PORT).contains(&port).then_some((PortNo(port), PortNo(id.0 & 0xffff)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_no_other_group() {
        assert_eq!(EcmpGroup::of(FLOOD_GROUP), None);
        assert_eq!(EcmpGroup::of(protection_group_id(PortNo(1), PortNo(0))), None);
        let first = EcmpGroup::after(None);
        assert!(EdgeGroup::of(first.id()).is_none());
        assert_eq!(EcmpGroup::after(Some(EcmpGroup(u16::MAX))), first);
    }

    #[test]
    fn numbers_of_guards_are_not_those_of_other_groups() {
        assert!(!is_protected_port(FLOOD_GROUP) && !is_protected_port(GroupId(0xffff_ff00)));
        assert!(is_protected_port(protection_group_id(PortNo(1), PortNo(0))));
        assert!(!can_be_protected(PortNo(0x1_0000), PortNo(1)) && can_be_protected(PortNo(9), PortNo(0)));
    }
}
