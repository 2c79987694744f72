//! The ends of a tunnel.

use std::net::IpAddr;

/// The outer addresses of encapsulated packets on one path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ends {
    /// The sending edge's address.
    pub src: IpAddr,
    /// The receiving edge's address, of the same family.
    pub dst: IpAddr,
}
