use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::{ParseError, serde_as_text};

/// The IP addresses that begin with the same bits: `10.0.0.0/8`, `fd00::/16`, or one address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpPrefix {
    first: IpAddr,
    length: u8,
}

impl IpPrefix {
    /// The first `length` bits of `address`; `None` if it has fewer.
    pub fn new(address: IpAddr, length: u8) -> Option<Self> {
        let address = address.to_canonical();
        let unused = width(address).checked_sub(length)?;
        Some(Self { first: from_bits(bits(address) & mask(unused), address), length })
    }

    /// How many bits the addresses have in common.
    pub const fn length(self) -> u8 {
        self.length
    }

    /// Whether the address is one of them.
    pub fn contains(self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && common_prefix(self.first, address) >= self.length
    }
}

/// How many bits two addresses begin with alike; none if they are of different families.
pub fn common_prefix(one: IpAddr, other: IpAddr) -> u8 {
    if one.is_ipv4() != other.is_ipv4() {
        return 0;
    }
    let unused = 128 - u32::from(width(one));
    let same = (bits(one) ^ bits(other)).leading_zeros() - unused;
    // At most 128.
    same as u8
}

const fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The address as a number, the same for both families: unused bits are on the left.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(it) => it.to_bits().into(),
        IpAddr::V6(it) => it.to_bits(),
    }
}

fn from_bits(bits: u128, like: IpAddr) -> IpAddr {
    match (like, u32::try_from(bits)) {
        (IpAddr::V4(_), Ok(bits)) => IpAddr::V4(bits.into()),
        _ => IpAddr::V6(bits.into()),
    }
}

fn mask(unused: u8) -> u128 {
    u128::MAX.checked_shl(unused.into()).unwrap_or(0)
}

impl fmt::Display for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.length)
    }
}

impl fmt::Debug for IpPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for IpPrefix {
    type Err = ParseError;

    /// Bits beyond the length must be zero: `10.0.0.1/8` is more likely a mistake than meant.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError::new("an IP address or a prefix such as 10.0.0.0/8", text);
        let (address, length) = text.split_once('/').map_or((text, None), |(it, length)| (it, Some(length)));
        let address = address.parse::<IpAddr>().map_err(|_| error())?.to_canonical();
        let length = length.map_or(Ok(width(address)), |length| length.parse().map_err(|_| error()))?;
        Self::new(address, length).filter(|it| it.first == address).ok_or_else(error)
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
