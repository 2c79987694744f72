//! A copy of the engine's state for the HTTP thread, and the request for one.

use std::sync::Arc;
use std::time::Duration;

use braid_control::view::{EdgeView, SwitchView, TransferRecord};
use braid_control::{Counters, Sizes};
use braid_steering::{Count, Policies, TransferId};
use braid_types::Time;
use tokio::sync::oneshot;

use super::{Items, Lists};
use crate::drawing::Drawn;

/// Asks for a copy of some lists.
#[derive(Debug)]
pub(crate) struct CopyRequest {
    pub(crate) lists: Lists,
    pub(crate) answer: oneshot::Sender<StateCopy>,
}

/// A copy of what the engine shows, as far as it was asked for.
#[derive(Debug, Default)]
pub(crate) struct StateCopy {
    /// What happened until then is in it.
    pub(crate) now: Time,
    /// The lists that are in it. Others are empty.
    pub(crate) lists: Lists,
    pub(crate) items: Items,
    pub(crate) edges: Vec<EdgeView>,
    pub(crate) transfers: TransferChanges,
    pub(crate) policy: Arc<Policies>,
    pub(crate) totals: Totals,
    /// How long the engine was occupied with it.
    pub(crate) took: Duration,
}

/// What has changed of transfers since the last copy.
#[derive(Debug, Default)]
pub(crate) struct TransferChanges {
    /// These are all, whatever earlier copies had.
    pub(crate) are_all: bool,
    /// What was counted of transfers that earlier copies had.
    pub(crate) counts: Vec<Count>,
    /// Each as it is now; `None` if it has ended.
    pub(crate) changed: Vec<(TransferId, Option<TransferRecord>)>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) sizes: Sizes,
    pub(crate) counters: Counters,
    /// Channels that were refused or broken off because the other end did not behave.
    pub(crate) refused: u64,
}

/// A switch with what only the daemon knows of it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ConnectedSwitch {
    pub(crate) switch: SwitchView,
    /// Where it connects from.
    pub(crate) address: Option<std::net::SocketAddr>,
    pub(crate) drawn: Drawn,
}
