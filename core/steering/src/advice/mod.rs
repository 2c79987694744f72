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

/// The two ends of a subflow, as the requesting host sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Debug)]
pub struct SubflowEnds {
    /// The host's address and port.
    pub local: SocketAddr,
    /// The peer's address and port.
    pub remote: SocketAddr,
}

impl fmt::Display for SubflowEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}", self.local, self.remote)
    }
}

/// A request about one connection.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct AdviceRequest {
    /// The first subflow, which names the connection.
    pub connection: SubflowEnds,
    /// The host's addresses that subflows may use.
    pub local_addresses: Vec<IpAddr>,
    /// The peer's known addresses, with the ports where it accepts subflows.
    pub remote_addresses: Vec<SocketAddr>,
    /// The subflows that the agent has opened, without the first.
    pub subflows: Vec<SubflowEnds>,
    /// Subflows that failed recently, and would fail again.
    pub failed: Vec<SubflowEnds>,
    /// The greatest number of subflows that the agent opens.
    pub most: usize,
}

/// The advice for a connection.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Advice {
    /// Its subflows without the first. The agent closes those that it has opened and that are not listed here.
    pub subflows: Vec<SubflowEnds>,
    /// The seconds after which the agent asks again even without a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_again_after: Option<u32>,
}

impl SubflowEnds {
    /// The packets that the requesting host sends.
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
