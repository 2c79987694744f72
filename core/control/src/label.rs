use std::fmt;

use braid_types::MacAddr;
use serde::{Deserialize, Serialize};

/// Names a directed path inside the network, where it stands in the destination MAC address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(pub u32);

/// Locally administered and unicast, so no vendor's address looks like it. IEEE 802 §8.2.
const PREFIX: [u8; 2] = [0x02, 0xb7];

impl Label {
    /// The address that stands for this label.
    pub const fn mac(self) -> MacAddr {
        let [a, b, c, d] = self.0.to_be_bytes();
        MacAddr::new([PREFIX[0], PREFIX[1], a, b, c, d])
    }

    /// The label for which `mac` stands, if it has our prefix.
    pub const fn from_mac(mac: MacAddr) -> Option<Self> {
        let [p, q, a, b, c, d] = mac.octets();
        if p == PREFIX[0] && q == PREFIX[1] { Some(Self(u32::from_be_bytes([a, b, c, d]))) } else { None }
    }
}

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
    }
}
