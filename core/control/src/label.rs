//! Labels: paths through the fabric as destination MAC addresses, in groups that share one rule per switch.

use std::fmt;

use braid_types::MacAddr;
use serde::{Deserialize, Serialize};

/// Names a directed path inside the network, where it stands in the destination MAC address.
///
/// Labels of paths that leave their middle switch by one link begin alike, with the number of a group: there one rule is
/// enough for all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(pub u32);

/// Locally administered and unicast, so no vendor's address looks like it. IEEE 802 §8.2.
const PREFIX: [u8; 2] = [0x02, 0xb7];
/// The same for bypasses, which stand in the source address.
const BYPASS_PREFIX: [u8; 2] = [0x02, 0xb8];

/// Tells the labels of groups from others.
const IN_GROUP: u32 = 1 << 31;
/// Bits that tell the labels of a group apart.
const MEMBER_BITS: u32 = 9;
/// How many labels a group has.
pub(crate) const MEMBERS: u32 = (1 << MEMBER_BITS) - 1;
/// How many numbers there are for groups.
pub(crate) const GROUPS: u32 = 1 << (31 - MEMBER_BITS);

impl Label {
    /// Stands for all labels of the group of this number.
    pub(crate) const fn of_group(number: u32) -> Self {
        Self(IN_GROUP | (number % GROUPS) << MEMBER_BITS)
    }

    /// The label of a group's member, from 1 to [`MEMBERS`].
    pub(crate) const fn member(self, number: u32) -> Self {
        Self(self.0 | number & MEMBERS)
    }

    /// Which member of its group it is.
    pub(crate) const fn member_number(self) -> u32 {
        self.0 & MEMBERS
    }

    /// What stands for all labels of its group, if it is in one.
    pub(crate) const fn group(self) -> Option<Self> {
        if self.0 & IN_GROUP != 0 { Some(Self(self.0 & !MEMBERS)) } else { None }
    }

    /// The number of its group, if it is in one.
    pub(crate) const fn group_number(self) -> Option<u32> {
        if self.0 & IN_GROUP != 0 { Some((self.0 & !IN_GROUP) >> MEMBER_BITS) } else { None }
    }

    /// Whether it stands for a group, and for no path.
    pub(crate) const fn is_group(self) -> bool {
        self.0 & IN_GROUP != 0 && self.0 & MEMBERS == 0
    }

    /// The source address of packets that have been on a bypass: no label's and no bypass's.
    pub(crate) const NONE: MacAddr = Self(0).mac();

    /// The address that stands for this label.
    pub const fn mac(self) -> MacAddr {
        self.with(PREFIX)
    }

    /// The source address that stands for the bypass of this number.
    pub const fn bypass_mac(self) -> MacAddr {
        self.with(BYPASS_PREFIX)
    }

    /// The label for which `mac` stands, if it has our prefix.
    pub const fn from_mac(mac: MacAddr) -> Option<Self> {
        Self::without(PREFIX, mac)
    }

    /// The number of the bypass for which `mac` stands, if it has that prefix.
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

/// Selects the destination addresses of a group's labels.
pub(crate) const GROUP_MASK: MacAddr = {
    let [a, b, c, d] = (!MEMBERS).to_be_bytes();
    MacAddr::new([0xff, 0xff, a, b, c, d])
};

/// Selects the source addresses of all bypasses, with the second as the mask.
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
