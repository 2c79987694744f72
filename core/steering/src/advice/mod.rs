//! Path advice: the request of an agent on an MPTCP host, and the controller's answer.
//!
//! The agent asks when a connection is established, and again after a change. The controller answers with the subflows
//! that the connection shall have; their rules are installed by then.

mod check;
mod pairs;

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use braid_types::FiveTuple;
use serde::{Deserialize, Serialize};

pub use check::AdviceRefusal;

/// The two ends of a subflow, as the host sees it that asks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Debug)]
pub struct SubflowEnds {
    /// That host's address and port.
    pub local: SocketAddr,
    /// Its peer's.
    pub remote: SocketAddr,
}

impl fmt::Display for SubflowEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}", self.local, self.remote)
    }
}

/// A question about one connection.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct AdviceRequest {
    /// The first subflow, which names the connection.
    pub connection: SubflowEnds,
    /// The host's addresses that subflows may have.
    pub local_addresses: Vec<IpAddr>,
    /// The peer's addresses that are known, with the ports where it takes subflows in.
    pub remote_addresses: Vec<SocketAddr>,
    /// The subflows that the agent has opened, without the first.
    pub subflows: Vec<SubflowEnds>,
    /// Those that have failed lately, and would again.
    pub failed: Vec<SubflowEnds>,
    /// How many the agent opens at most.
    pub most: usize,
}

/// What the connection shall have.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Advice {
    /// Its subflows without the first. What the agent has opened and is not named here, it closes.
    pub subflows: Vec<SubflowEnds>,
    /// After how many seconds the agent shall ask again though nothing has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_again_after: Option<u32>,
}

impl SubflowEnds {
    /// The packets that the asking host sends.
    pub const fn tuple(self) -> FiveTuple {
        FiveTuple {
            src: self.local.ip(),
            dst: self.remote.ip(),
            src_port: self.local.port(),
            dst_port: self.remote.port(),
        }
    }

    fn canonical(self) -> Self {
        Self { local: canonical(self.local), remote: canonical(self.remote) }
    }
}

fn canonical(end: SocketAddr) -> SocketAddr {
    SocketAddr::new(end.ip().to_canonical(), end.port())
}
