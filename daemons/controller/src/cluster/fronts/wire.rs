//! What a front and the leader say to each other: lines of JSON.

use std::net::SocketAddr;

use braid_types::DatapathId;
use serde::{Deserialize, Serialize};

use crate::openflow_tls::Owner;

/// Bytes of a line at most: all switches that may join.
pub(super) const MAX_LINE: usize = 1 << 20;
/// Switches that the leader asks for at a time.
pub(super) const MAX_WANTED: usize = 64;
/// Owners of datapath ids that a standby is told at a time.
pub(super) const MAX_OWNERS: usize = 1_024;

/// How the switches have changed that a standby reaches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Offer {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) more: Vec<DatapathId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) fewer: Vec<DatapathId>,
}

/// The answer: those among them that the leader does not reach, and whose datapath ids are, as far as the standby has not been
/// told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) wanted: Vec<DatapathId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) owners: Vec<Owner>,
}

/// For which switch a connection is, where the switch is, and the names of the certificate that it has shown, if it has one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in crate::cluster) struct Switch {
    pub(in crate::cluster) dpid: DatapathId,
    pub(in crate::cluster) address: SocketAddr,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::cluster) certificate: Option<Vec<String>>,
}
