//! What a front and the leader say to each other: lines of JSON.

use std::net::SocketAddr;

use braid_types::DatapathId;
use serde::{Deserialize, Serialize};

/// Bytes of a line at most: all switches that may join.
pub(super) const MAX_LINE: usize = 1 << 20;
/// Switches that the leader asks for at a time.
pub(super) const MAX_WANTED: usize = 64;

/// How the switches have changed that a standby reaches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Offer {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) more: Vec<DatapathId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) fewer: Vec<DatapathId>,
}

/// The answer: those among them that the leader does not reach.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) wanted: Vec<DatapathId>,
}

/// For which switch a connection is, and where the switch is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in crate::cluster) struct Switch {
    pub(in crate::cluster) dpid: DatapathId,
    pub(in crate::cluster) address: SocketAddr,
}
