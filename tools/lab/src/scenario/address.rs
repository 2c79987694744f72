//! Addresses of interfaces.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use braid_types::{text_schema, with_schema};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// An address of an interface with the length of its subnet's prefix, such as `10.0.1.1/24`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cidr {
    /// The address with host bits; never unspecified, multicast or loopback.
    pub address: IpAddr,
    /// The prefix length, at most 32 or 128.
    pub prefix: u8,
}

/// An invalid interface address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an address with its prefix length, such as 10.0.1.1/24 or 2001:db8::1/64")]
pub struct CidrError {
    text: String,
}

impl Cidr {
    /// Whether `address` is in the subnet.
    pub fn contains(self, address: IpAddr) -> bool {
        IpNet::new(self.address, self.prefix).is_ok_and(|subnet| subnet.contains(&address))
    }

    /// The subnet, with host bits of zero.
    pub(crate) fn subnet(self) -> Option<IpNet> {
        IpNet::new(self.address, self.prefix).ok().map(|net| net.trunc())
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        parse(text).ok_or_else(|| CidrError { text: text.to_owned() })
    }
}

fn parse(text: &str) -> Option<Cidr> {
    let net: IpNet = text.parse().ok()?;
    is_assignable(net.addr()).then_some(Cidr { address: net.addr(), prefix: net.prefix_len() })
}

fn is_assignable(address: IpAddr) -> bool {
    !(address.is_unspecified() || address.is_multicast() || address.is_loopback())
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl Serialize for Cidr {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

with_schema!(
    Cidr,
    text_schema("an address with its prefix length, such as 10.0.1.1/24", r"[0-9a-fA-F:.]+/\d{1,3}")
);

impl<'de> Deserialize<'de> for Cidr {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_round_trip() {
        for text in ["10.0.1.1/24", "2001:db8::1/64", "10.0.0.1/32"] {
            assert_eq!(text.parse::<Cidr>().map(|cidr| cidr.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn a_subnet_ends_with_its_prefix() {
        let contains =
            |cidr: &str, address: &str| cidr.parse::<Cidr>().unwrap().contains(address.parse().unwrap());
        assert!(contains("10.0.1.1/24", "10.0.1.255") && !contains("10.0.1.1/24", "10.0.2.0"));
        assert!(contains("10.0.0.1/0", "192.0.2.1") && !contains("10.0.0.1/32", "10.0.0.0"));
        assert!(
            contains("2001:db8::1/64", "2001:db8::ffff") && !contains("2001:db8::1/64", "2001:db8:0:1::1")
        );
        assert!(contains("2001:db8::1/0", "::1") && !contains("2001:db8::1/0", "10.0.0.1"));
    }

    #[test]
    fn what_no_interface_can_have_is_refused() {
        for text in
            ["10.0.1.1", "10.0.1.1/33", "0.0.0.0/0", "224.0.0.1/4", "127.0.0.1/8", "::/64", "a/8", "::1/129"]
        {
            assert!(text.parse::<Cidr>().is_err(), "{text}");
        }
    }
}
