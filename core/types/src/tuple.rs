//! TCP five-tuples and their reverse, and the ports of advised subflows.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// The local ports of advised subflows, above those that Linux assigns by itself (`net.ipv4.ip_local_port_range`).
///
/// The first four bits of each are ones, which no port of Linux's default range has: a switch can tell them apart by these.
pub const ADVISED_PORTS: RangeInclusive<u16> = 0xf000..=65_000;

/// The five-tuple of one direction of a TCP connection. The protocol is always TCP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FiveTuple {
    /// The sender's address.
    pub src: IpAddr,
    /// The receiver's address, of the same family as `src`.
    pub dst: IpAddr,
    /// The sender's TCP port.
    pub src_port: u16,
    /// The receiver's TCP port.
    pub dst_port: u16,
}

impl FiveTuple {
    /// The other direction of the same connection.
    pub const fn reversed(self) -> Self {
        Self { src: self.dst, dst: self.src, src_port: self.dst_port, dst_port: self.src_port }
    }
}

impl fmt::Display for FiveTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (src, dst) = (SocketAddr::new(self.src, self.src_port), SocketAddr::new(self.dst, self.dst_port));
        write!(f, "{src} > {dst}")
    }
}

impl fmt::Debug for FiveTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bits_tell_advised_ports_from_those_that_linux_assigns() {
        let first_bits = |port: u16| port >> 12;
        assert!(ADVISED_PORTS.clone().all(|port| first_bits(port) == 0b1111));
        assert!((32_768..=60_999).all(|port| first_bits(port) != 0b1111));
    }
}
