//! Prefixes of IP addresses.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

use crate::{ParseError, serde_as_text};

/// An IP prefix: `10.0.0.0/8`, `fd00::/16`, or one address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpPrefix(IpNet);

impl IpPrefix {
    /// The first `length` bits of `address`; `None` if it has fewer.
    pub fn new(address: IpAddr, length: u8) -> Option<Self> {
        Some(Self(IpNet::new(address.to_canonical(), length).ok()?.trunc()))
    }

    /// The prefix length.
    pub fn length(self) -> u8 {
        self.0.prefix_len()
    }

    /// Whether the prefix contains the address.
    pub fn contains(self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// The length of the longest common prefix of two addresses; 0 for different families.
pub fn common_prefix(one: IpAddr, other: IpAddr) -> u8 {
    let same = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        _ => 0,
    };
    // At most 128.
    same as u8
}

impl fmt::Display for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for IpPrefix {
    type Err = ParseError;

    /// Bits beyond the length must be zero: `10.0.0.1/8` is probably a mistake.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let one = |address: IpAddr| IpNet::from(address.to_canonical());
        let net = text.parse::<IpNet>().or_else(|_| text.parse().map(one));
        let prefix = net.ok().and_then(|net| {
            let prefix = Self::new(net.addr(), net.prefix_len())?;
            (prefix.0.addr() == net.addr().to_canonical()).then_some(prefix)
        });
        prefix.ok_or_else(|| ParseError::new("an IP address or a prefix such as 10.0.0.0/8", text))
    }
}

serde_as_text!(IpPrefix);

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> IpPrefix {
        text.parse().expect("a prefix")
    }

    #[test]
    fn prefixes_have_the_addresses_that_begin_alike() {
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert!(prefix("10.0.0.0/8").contains(ip("10.255.0.1")));
        assert!(!prefix("10.0.0.0/8").contains(ip("11.0.0.1")));
        assert!(prefix("0.0.0.0/0").contains(ip("11.0.0.1")));
        assert!(!prefix("0.0.0.0/0").contains(ip("fd00::1")));
        assert!(prefix("fd00::/16").contains(ip("fd00:1::1")));
        assert!(prefix("10.0.0.1").contains(ip("::ffff:10.0.0.1")));
        assert_eq!(common_prefix(ip("10.0.1.1"), ip("10.0.1.2")), 30);
        assert_eq!(common_prefix(ip("fd00::1"), ip("fd00::1")), 128);
    }

    #[test]
    fn prefixes_print_as_they_are_read() {
        for text in ["10.0.0.0/8", "10.0.0.1/32", "::/0", "fd00::/16"] {
            assert_eq!(prefix(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_no_prefix_is_refused() {
        for text in ["", "10.0.0.0/33", "10.0.0.1/8", "10.0.0/8", "fd00::/129", "10.0.0.0/-1", "host/8"] {
            assert!(text.parse::<IpPrefix>().is_err(), "{text}");
        }
    }
}
