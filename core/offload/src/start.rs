//! What packets begin with, and where their network header is.

use crate::checksum::u16_at;

/// The position of the kind in an Ethernet header, and the lengths of that and of a tag.
const KIND: usize = 12;
const KIND_LENGTH: usize = 2;
const TAG_LENGTH: usize = 4;
const TAG: u16 = 0x8100;
const SERVICE_TAG: u16 = 0x88a8;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// What the bytes of a packet begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// An Ethernet header, perhaps with VLAN tags.
    Ethernet,
    /// An IP header.
    Ip,
}

impl Start {
    /// The position of the IP header, and whether it is one of IPv4; `None` if there is none behind one tag at most.
    pub(crate) fn network(self, data: &[u8]) -> Option<(usize, bool)> {
        self.behind(data, &[TAG], 1)
    }

    /// The same behind whatever tags.
    pub(crate) fn network_behind_tags(self, data: &[u8]) -> Option<(usize, bool)> {
        self.behind(data, &[TAG, SERVICE_TAG], 4)
    }

    fn behind(self, data: &[u8], tags: &[u16], most: usize) -> Option<(usize, bool)> {
        if self == Self::Ip {
            return match data.first()? >> 4 {
                4 => Some((0, true)),
                6 => Some((0, false)),
                _ => None,
            };
        }
        let places = (0..=most).map(|tags| KIND + tags * TAG_LENGTH);
        let kinds = places.map_while(|at| Some((at, u16_at(data, at)?)));
        let (at, kind) = kinds.into_iter().find(|(_, kind)| !tags.contains(kind))?;
        match kind {
            IPV4 => Some((at + KIND_LENGTH, true)),
            IPV6 => Some((at + KIND_LENGTH, false)),
            _ => None,
        }
    }
}
