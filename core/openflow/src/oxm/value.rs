//! Value types of match fields: EtherTypes, VLAN ids, TCP flags, IPv6 extension headers, service ids.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::error::{DecodeError, EncodeError};
use crate::wire::{FixedSize, FlagName, Reader, Wire, wire_flags, wire_number};

wire_number! {
    /// The EtherType of a frame.
    pub struct EthType(u16) hexadecimal "{:#06x}" {}
}

impl EthType {
    /// IPv4.
    pub const IPV4: Self = Self(0x0800);
    /// ARP.
    pub const ARP: Self = Self(0x0806);
    /// A customer's VLAN tag. IEEE 802.1Q.
    pub const VLAN: Self = Self(0x8100);
    /// IPv6.
    pub const IPV6: Self = Self(0x86dd);
    /// MPLS.
    pub const MPLS: Self = Self(0x8847);
    /// A provider's VLAN tag. IEEE 802.1ad.
    pub const QINQ: Self = Self(0x88a8);
    /// LLDP. IEEE 802.1AB.
    pub const LLDP: Self = Self(0x88cc);
    /// A provider backbone's tag. IEEE 802.1ah.
    pub const PBB: Self = Self(0x88e7);
}

wire_number! {
    /// A VLAN's number together with the bit that says that there is a tag. OpenFlow 1.3.5 §7.2.3.7.
    pub struct VlanVid(u16) hexadecimal "{:#06x}" {
        /// The frame has no tag.
        NONE = 0,
    }
}

impl VlanVid {
    /// The frame has a tag: the value of a match on any VLAN, whose mask is the same.
    pub const PRESENT: Self = Self(0x1000);

    /// A frame with the tag of the VLAN `vid`, of which the low 12 bits count.
    pub const fn tagged(vid: u16) -> Self {
        Self(Self::PRESENT.0 | vid & 0x0fff)
    }
}

wire_flags! {
    /// The control bits of a TCP segment. ONF extension 109.
    pub struct TcpFlags(u16) {
        /// No more data from the sender.
        FIN = 1 << 0,
        /// Synchronise sequence numbers.
        SYN = 1 << 1,
        /// Reset the connection.
        RST = 1 << 2,
        /// Push.
        PSH = 1 << 3,
        /// The acknowledgement number counts.
        ACK = 1 << 4,
        /// The urgent pointer counts.
        URG = 1 << 5,
        /// Congestion was experienced.
        ECE = 1 << 6,
        /// The congestion window was reduced.
        CWR = 1 << 7,
        /// The former nonce sum, now accurate ECN.
        NS = 1 << 8,
    }
}

impl TcpFlags {
    /// The bits that count, each set or not: `+syn-ack`.
    pub(super) fn write_among(self, mask: Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (set, counts) = (u64::from(self.0), u64::from(mask.0));
        Self::NAMES.iter().filter(|(_, bit)| counts & bit != 0).try_for_each(|(name, bit)| {
            let sign = if set & bit == 0 { '-' } else { '+' };
            write!(f, "{sign}{}", FlagName::Named(name))
        })
    }
}

wire_flags! {
    /// Which extension headers an IPv6 packet has. OpenFlow 1.3.5 §7.2.3.7.
    pub struct Ipv6ExtHeaders(u16) {
        /// "No next header".
        NONEXT = 1 << 0,
        /// Encrypted payload.
        ESP = 1 << 1,
        /// Authentication.
        AUTH = 1 << 2,
        /// One or two destination headers.
        DEST = 1 << 3,
        /// Fragment.
        FRAG = 1 << 4,
        /// Router.
        ROUTER = 1 << 5,
        /// Hop by hop.
        HOP = 1 << 6,
        /// One was repeated.
        UNREP = 1 << 7,
        /// They are not in the preferred order.
        UNSEQ = 1 << 8,
    }
}

/// A service of a provider backbone, 24 bits. IEEE 802.1ah.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Isid([u8; 3]);

impl Isid {
    /// The low 24 bits of `value`.
    pub const fn from_u32(value: u32) -> Self {
        let [_, a, b, c] = value.to_be_bytes();
        Self([a, b, c])
    }

    /// The service's number, below 2^24.
    pub const fn to_u32(self) -> u32 {
        let [a, b, c] = self.0;
        u32::from_be_bytes([0, a, b, c])
    }
}

impl fmt::Debug for Isid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_u32().fmt(f)
    }
}

impl Serialize for Isid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.to_u32())
    }
}

impl FixedSize for Isid {
    const SIZE: usize = 3;
}

impl<'a> Wire<'a> for Isid {
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.array().map(Self)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.0);
        Ok(())
    }
}
