//! The ends of a tunnel.

use std::net::IpAddr;

/// Where what is encapsulated goes from and to, by one path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The sending edge's address.
    pub src: IpAddr,
    /// The receiving edge's, of the same family.
    pub dst: IpAddr,
}
