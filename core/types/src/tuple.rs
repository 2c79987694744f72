//! TCP five-tuples and their reverse.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

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
