use std::fmt;

use braid_types::MacAddr;
use serde::{Deserialize, Serialize};

/// Names a directed path inside the network, where it stands in the destination MAC address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(pub u32);

/// Locally administered and unicast, so no vendor's address looks like it. IEEE 802 §8.2.
const PREFIX: [u8; 2] = [0x02, 0xb7];
/// The same for detours, which stand in the source address.
const DETOUR_PREFIX: [u8; 2] = [0x02, 0xb8];

impl Label {
    /// The source address of packets that have been on a detour: no label's and no detour's.
    pub(crate) const NONE: MacAddr = Self(0).mac();

    /// The address that stands for this label.
    pub const fn mac(self) -> MacAddr {
        self.with(PREFIX)
    }

    /// The source address that stands for the detour of this number.
    pub const fn detour_mac(self) -> MacAddr {
        self.with(DETOUR_PREFIX)
    }

    /// The label for which `mac` stands, if it has our prefix.
    pub const fn from_mac(mac: MacAddr) -> Option<Self> {
        Self::without(PREFIX, mac)
    }

    /// The number of the detour for which `mac` stands, if it has that prefix.
    pub const fn from_detour_mac(mac: MacAddr) -> Option<Self> {
        Self::without(DETOUR_PREFIX, mac)
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

/// Selects the source addresses of all detours, with the second as the mask.
pub(crate) const DETOURS: [MacAddr; 2] =
    [MacAddr::new([DETOUR_PREFIX[0], DETOUR_PREFIX[1], 0, 0, 0, 0]), MacAddr::new([0xff, 0xff, 0, 0, 0, 0])];

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "L{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_local_unicast_address_and_reads_back() {
        let mac = Label(0x0102_0304).mac();
        assert_eq!(mac.to_string(), "02:b7:01:02:03:04");
        assert!(mac.is_local() && !mac.is_multicast());
        assert_eq!(Label::from_mac(mac), Some(Label(0x0102_0304)));
        assert_eq!(Label::from_mac(MacAddr::BROADCAST), None);
        let detour = Label(0x0102_0304).detour_mac();
        assert_eq!(
            (Label::from_detour_mac(detour), Label::from_mac(detour)),
            (Some(Label(0x0102_0304)), None)
        );
    }
}
