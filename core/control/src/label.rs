//! Labels: paths through the fabric as destination MAC addresses, in groups that share one rule per switch.

use std::fmt;

use braid_types::MacAddr;
use serde::{Deserialize, Serialize};

/// The number of a directed path in the network, carried in the destination MAC address.
///
/// Labels of paths that leave their middle switch by the same link share a prefix, the group number. One rule
/// there serves all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(pub u32);

/// Locally administered and unicast, so it matches no vendor's address. IEEE 802 §8.2.
const PREFIX: [u8; 2] = [0x02, 0xb7];
/// The prefix of bypasses, which are carried in the source address.
const BYPASS_PREFIX: [u8; 2] = [0x02, 0xb8];

/// Marks labels in groups.
const IN_GROUP: u32 = 1 << 31;
/// The bits of the member number.
const MEMBER_BITS: u32 = 9;
/// The number of members of a group.
pub(crate) const MEMBERS: u32 = (1 << MEMBER_BITS) - 1;
/// The number of groups.
pub(crate) const GROUPS: u32 = 1 << (31 - MEMBER_BITS);

impl Label {
    /// The group with this number, as a label that stands for all its members.
    pub(crate) const fn of_group(number: u32) -> Self {
        Self(IN_GROUP | (number % GROUPS) << MEMBER_BITS)
    }

    /// The label of a group's member, from 1 to [`MEMBERS`].
    pub(crate) const fn member(self, number: u32) -> Self {
        Self(self.0 | number & MEMBERS)
    }

    /// The member number within its group.
    pub(crate) const fn member_number(self) -> u32 {
        self.0 & MEMBERS
    }

    /// The group of a label, if it is in one.
    pub(crate) const fn group(self) -> Option<Self> {
        if self.0 & IN_GROUP != 0 { Some(Self(self.0 & !MEMBERS)) } else { None }
    }

    /// The number of its group, if it is in one.
    pub(crate) const fn group_number(self) -> Option<u32> {
        if self.0 & IN_GROUP != 0 { Some((self.0 & !IN_GROUP) >> MEMBER_BITS) } else { None }
    }

    /// Whether it stands for a group instead of a path.
    pub const fn is_group(self) -> bool {
        self.0 & IN_GROUP != 0 && self.0 & MEMBERS == 0
    }

    /// The source address after a bypass: neither a label's nor a bypass's.
    pub(crate) const NONE: MacAddr = Self(0).mac();

    /// The destination MAC address of this label.
    pub const fn mac(self) -> MacAddr {
        self.with(PREFIX)
    }

    /// The source MAC address of the bypass with this number.
    pub const fn bypass_mac(self) -> MacAddr {
        self.with(BYPASS_PREFIX)
    }

    /// The label in a destination MAC address, if it has the label prefix.
    pub const fn from_mac(mac: MacAddr) -> Option<Self> {
        Self::without(PREFIX, mac)
    }

    /// The bypass number in a source MAC address, if it has the bypass prefix.
    pub const fn from_bypass_mac(mac: MacAddr) -> Option<Self> {
        Self::without(BYPASS_PREFIX, mac)
    }

    const fn with(self, [p, q]: [u8; 2]) -> MacAddr {
        let [a, b, c, d] = self.0.to_be_bytes();
        MacAddr::new([p, q, a, b, c, d])
    }

    const fn without(prefix: [u8; 2], mac: MacAddr) -> Option<Self> {
        let [p, q, a, b, c, d] = mac.octets();
        if p == prefix[0] && q == prefix[1] { Some(Self(u32::from_be_bytes([a, b, c, d]))) } else { None }
    }
}

/// The mask that matches all labels of a group.
pub(crate) const GROUP_MASK: MacAddr = {
    let [a, b, c, d] = (!MEMBERS).to_be_bytes();
    MacAddr::new([0xff, 0xff, a, b, c, d])
};

/// The value and mask that match the source addresses of all bypasses.
pub(crate) const BYPASSES: [MacAddr; 2] =
    [MacAddr::new([BYPASS_PREFIX[0], BYPASS_PREFIX[1], 0, 0, 0, 0]), MacAddr::new([0xff, 0xff, 0, 0, 0, 0])];

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "L{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_a_group_begin_alike() {
        let group = Label::of_group(5);
        let members = [1, MEMBERS].map(|number| group.member(number));
        assert!(group.is_group() && group.group_number() == Some(5));
        for member in members {
            assert!(member.group() == Some(group) && !member.is_group());
            assert_eq!(group.member(member.member_number()), member);
            assert_eq!(member.mac().to_u64() & GROUP_MASK.to_u64(), group.mac().to_u64());
        }
        let other = Label::of_group(6).member(1);
        assert_ne!(other.mac().to_u64() & GROUP_MASK.to_u64(), group.mac().to_u64());
        assert_eq!((Label(7).group(), Label(7).is_group()), (None, false));
    }

    #[test]
    fn a_label_is_a_local_unicast_address_and_reads_back() {
        let mac = Label(0x0102_0304).mac();
        assert_eq!(mac.to_string(), "02:b7:01:02:03:04");
        assert!(mac.is_local() && !mac.is_multicast());
        assert_eq!(Label::from_mac(mac), Some(Label(0x0102_0304)));
        assert_eq!(Label::from_mac(MacAddr::BROADCAST), None);
        let bypass = Label(0x0102_0304).bypass_mac();
        assert_eq!(
            (Label::from_bypass_mac(bypass), Label::from_mac(bypass)),
            (Some(Label(0x0102_0304)), None)
        );
    }
}
