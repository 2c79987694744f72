//! A copy of the engine's state for the HTTP thread, and the request for one.

use std::sync::Arc;
use std::time::Duration;

use braid_api::SwitchRole;
use braid_cluster::MemberId;
use braid_control::view::{EdgeView, HostView, LinkView, SwitchView, TransferRecord};
use braid_control::{Counters, Sizes};
use braid_steering::{Count, Policies, TransferId};
use braid_types::Time;
use tokio::sync::oneshot;

use super::Lists;
use crate::names::Names;
use crate::reload::Reloads;
use crate::switch_metadata::SwitchMetadata;

/// A request for a copy of some lists.
#[derive(Debug)]
pub(crate) struct CopyRequest {
    pub(crate) lists: Lists,
    pub(crate) answer: oneshot::Sender<StateCopy>,
}

/// A copy of the requested parts of the engine's state.
#[derive(Debug, Default)]
pub(crate) struct StateCopy {
    /// The copy includes all events up to this time.
    pub(crate) now: Time,
    /// The lists that the copy contains; the others are empty.
    pub(crate) lists: Lists,
    pub(crate) switches: Vec<ConnectedSwitch>,
    pub(crate) hosts: Vec<HostView>,
    pub(crate) first_links: Vec<LinkView>,
    pub(crate) edges: Vec<EdgeView>,
    pub(crate) transfers: TransferChanges,
    pub(crate) policy: Arc<Policies>,
    pub(crate) totals: Totals,
    pub(crate) names: Names,
    /// The engine's time spent on the copy.
    pub(crate) took: Duration,
}

/// Changes of transfers since the last copy.
#[derive(Debug, Default)]
pub(crate) struct TransferChanges {
    /// `changed` has all transfers: those of earlier copies that are not in it are gone.
    pub(crate) are_all: bool,
    /// New counts of transfers that earlier copies contained.
    pub(crate) counts: Vec<Count>,
    /// Transfers that have ended, or have no established stream yet: under load most that have changed.
    pub(crate) ended: Vec<TransferId>,
    /// The current records of the others that have changed.
    pub(crate) changed: Vec<TransferRecord>,
}

/// Sizes and counters of the whole controller.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) sizes: Sizes,
    pub(crate) counters: Counters,
    /// OpenFlow connections that were refused or closed because the peer misbehaved.
    pub(crate) refused: u64,
    /// Packets of hosts that were dropped unhandled because the controller was overloaded.
    pub(crate) shed: u64,
    pub(crate) reloads: Reloads,
}

/// A switch with its address and metadata, which only the daemon knows.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ConnectedSwitch {
    pub(crate) switch: SwitchView,
    pub(crate) role: SwitchRole,
    /// The address that it connects from.
    pub(crate) address: Option<std::net::SocketAddr>,
    /// The member through which it is reached.
    pub(crate) via: Option<MemberId>,
    pub(crate) metadata: SwitchMetadata,
}
