//! What becomes of a switch that connects: this controller's role to it, or why it cannot join.

use std::net::SocketAddr;

use braid_control::Threat;
use braid_types::{DatapathId, Term};

use crate::switch_access::RosterError;

/// What this controller is to a connected switch. It writes only where it is master.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PeerRole {
    Master,
    /// It has asked for the role in a newer term than the one that the switch refused.
    Claiming,
    /// Another controller is master.
    Slave,
}

/// A switch with the same datapath id is connected already.
#[derive(Debug, thiserror::Error)]
#[error("datapath id {dpid} is in use by the switch at {other}: give each switch its own")]
pub(crate) struct Duplicate {
    pub(super) dpid: DatapathId,
    pub(super) other: SocketAddr,
}

impl Duplicate {
    pub(crate) const fn threat(&self) -> Threat {
        Threat::DuplicateDatapathId { dpid: self.dpid, holder: self.other.ip() }
    }
}

/// The reason for which a switch cannot join.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JoinError {
    #[error(transparent)]
    Duplicate(#[from] Duplicate),
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// This is so of connections through standbys only.
    #[error("this controller reaches the switch already, or does not lead any more")]
    NotNeeded,
}

/// What a switch says that has another master.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RoleRefusal {
    /// The term in which this controller claimed the role last, if it did.
    pub(crate) claimed: Option<Term>,
    /// The newest term that the switch has seen, if it has said so.
    pub(crate) newest: Option<Term>,
}

/// What a switch that has another master was before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RoleLoss {
    /// This controller was its master.
    pub(super) was_master: bool,
    /// The role is lost: this controller has no newer term to claim it in, and knew nothing of another master.
    pub(super) is_new: bool,
    /// The newer term of the other master, if no member of the cluster has raised it.
    pub(super) foreign: Option<Term>,
}
