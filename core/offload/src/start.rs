//! What packets begin with, and where their network header is.

use crate::checksum::u16_at;

const ETHERNET: usize = 14;
const TAG: usize = 4;
const TAGGED: u16 = 0x8100;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// What the bytes of a packet begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// An Ethernet header, perhaps with a VLAN tag.
    Ethernet,
    /// An IP header.
    Ip,
}

impl Start {
    /// The position of the IP header, and whether it is one of IPv4; `None` if there is none.
    pub(crate) fn network(self, data: &[u8]) -> Option<(usize, bool)> {
        if self == Self::Ip {
            return match data.first()? >> 4 {
                4 => Some((0, true)),
                6 => Some((0, false)),
                _ => None,
            };
        }
        let (network, kind) = match u16_at(data, 12)? {
            TAGGED => (ETHERNET + TAG, u16_at(data, 16)?),
            kind => (ETHERNET, kind),
        };
        match kind {
            IPV4 => Some((network, true)),
            IPV6 => Some((network, false)),
            _ => None,
        }
    }
}
