//! MAC addresses.

use std::fmt;
use std::str::FromStr;

use crate::{ParseError, serde_as_text};

/// An Ethernet address, in network byte order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MacAddr([u8; 6]);

impl MacAddr {
    /// ff:ff:ff:ff:ff:ff.
    pub const BROADCAST: Self = Self([0xff; 6]);
    /// 00:00:00:00:00:00.
    pub const ZERO: Self = Self([0; 6]);

    /// The address with these octets.
    pub const fn new(octets: [u8; 6]) -> Self {
        Self(octets)
    }

    /// The low 48 bits of `value`.
    pub const fn from_u64(value: u64) -> Self {
        let [_, _, a, b, c, d, e, f] = value.to_be_bytes();
        Self([a, b, c, d, e, f])
    }

    /// The octets in network byte order.
    pub const fn octets(self) -> [u8; 6] {
        self.0
    }

    /// The address as a number below 2^48.
    pub const fn to_u64(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }

    /// Group addresses, broadcast among them, have the I/G bit set. IEEE 802 §8.2.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// Locally administered addresses have the U/L bit set. IEEE 802 §8.2.
    pub const fn is_local(self) -> bool {
        self.0[0] & 2 != 0
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for MacAddr {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text).map(Self).ok_or_else(|| ParseError::new("a MAC address such as 02:00:00:00:00:01", text))
    }
}

fn parse(text: &str) -> Option<[u8; 6]> {
    let mut octets = [0; 6];
    let mut parts = text.split(':');
    for octet in &mut octets {
        let part = parts.next().filter(|part| part.len() == 2)?;
        *octet = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(octets)
}

serde_as_text!(MacAddr);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let mac = MacAddr::new([0, 0x1b, 0xc0, 0xff, 0xee, 9]);
        assert_eq!(mac.to_string(), "00:1b:c0:ff:ee:09");
        assert_eq!(mac.to_string().parse(), Ok(mac));
        assert_eq!(MacAddr::from_u64(mac.to_u64()), mac);
    }

    #[test]
    fn other_forms_are_refused() {
        for text in [
            "",
            "00:11:22:33:44",
            "00:11:22:33:44:55:66",
            "0:1:2:3:4:5",
            "00-11-22-33-44-55",
            "+1:11:22:33:44:5g",
        ] {
            assert!(text.parse::<MacAddr>().is_err(), "{text}");
        }
    }
}
