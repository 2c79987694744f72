//! Advice: which MPTCP subflows the agent on a host opens.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The two ends of a subflow, as the agent's host sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, ToSchema)]
pub struct SubflowEnds {
    /// That host's address and port.
    #[schema(value_type = String)]
    pub local: SocketAddr,
    /// Its peer's.
    #[schema(value_type = String)]
    pub remote: SocketAddr,
}

/// A request for advice on one connection.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
pub struct AdviceRequest {
    /// The first subflow, which names the connection.
    pub connection: SubflowEnds,
    /// The host's addresses that subflows may have.
    #[schema(value_type = Vec<String>)]
    pub local_addresses: Vec<IpAddr>,
    /// The known addresses of the peer, with the ports where it accepts subflows.
    #[schema(value_type = Vec<String>)]
    pub remote_addresses: Vec<SocketAddr>,
    /// The subflows that the agent has opened, without the first.
    pub subflows: Vec<SubflowEnds>,
    /// Those that have failed recently, and would again.
    pub failed: Vec<SubflowEnds>,
    /// The greatest number of subflows that the agent opens.
    pub max_subflows: usize,
}

/// The subflows of a connection, whose rules are in place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Advice {
    /// Its subflows without the first. The agent closes those that it has opened and that are not named here.
    pub subflows: Vec<SubflowEnds>,
    /// After how many seconds the agent asks again though nothing has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ask_again_after: Option<u32>,
}

impl fmt::Display for SubflowEnds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {}", self.local, self.remote)
    }
}
