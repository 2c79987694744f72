//! What an endpoint gives out: datagrams, and the state of its paths.

use std::net::SocketAddr;

use crate::bond::Bond;
use crate::noise::Suite;
use crate::path::Path;

/// A datagram to send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// The uplink to send it by.
    pub uplink: u8,
    /// Its destination.
    pub to: SocketAddr,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The state of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathStatus {
    /// The uplink here.
    pub uplink: u8,
    /// The other end's address as seen from here.
    pub remote: Option<SocketAddr>,
    /// Whether this end dials.
    pub is_dialled_here: bool,
    /// Whether it can be used.
    pub is_up: bool,
    /// The longest content of a datagram that passes whole.
    pub max_content: usize,
    /// The longest packet that a bond sends whole.
    pub max_packet: usize,
    /// Sessions since the start.
    pub sessions: u64,
    /// The ciphers of the present one.
    pub suite: Option<Suite>,
}

impl PathStatus {
    pub(super) fn of(path: &Path) -> Self {
        Self {
            uplink: path.uplink,
            remote: path.remote,
            is_dialled_here: path.is_dialled_here,
            is_up: path.is_up(),
            max_content: path.max_content(),
            max_packet: Bond::room(path.max_content()),
            sessions: path.handshakes,
            suite: path.suite(),
        }
    }
}
