//! Fronts: standbys through which the leader serves switches that it does not reach itself.
//!
//! ```text
//!  switch ── OpenFlow ──▶ front: its channel, lent ── relay ── TLS between members ──▶ the leader's channel
//! ```
//!
//! A standby offers the switches that it reaches, and the leader asks for those that it lacks. For each of these the standby
//! opens a connection, on which the leader speaks OpenFlow as with any switch: what is slow or hostile costs itself alone.

mod admission;
mod line;
mod offering;
mod pacing;
mod relay;
mod relays;
mod wire;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use braid_cluster::MemberId;
use braid_types::Term;
use tokio::sync::mpsc::{self, Sender};

use super::facts::Leading;
use super::peers::{self, Local, Refusals};
use crate::channels::Incoming;
use crate::engine::SharedPresence;
use crate::openflow_tls::OpenFlowTls;
use offering::Offering;
use relays::Relays;

pub(super) use admission::Admission;
pub(super) use wire::Switch;

/// Switches that one member passes on.
const MAX_FRONTED: usize = 2_048;
/// Connections with the leader that wait for the thread that serves them.
const MAX_WAITING: usize = 16;

/// This member as a front, while it stands by. Its threads end with this.
#[derive(Debug)]
pub(super) struct Fronts {
    shared: Arc<Shared>,
    /// Threads look whether it is still there.
    _alive: Arc<()>,
}

/// What the threads share.
#[derive(Debug)]
struct Shared {
    local: Local,
    refusals: Refusals,
    presence: SharedPresence,
    channels: Sender<Incoming>,
    /// Whose datapath ids are.
    tls: Option<OpenFlowTls>,
    standing: Mutex<Standing>,
    /// Switches that are being passed on, and those among them that the leader can serve.
    open: AtomicUsize,
    fronted: AtomicUsize,
}

/// Who leads, as far as this member knows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Standing {
    leader: Leader,
    /// Where it takes fronts, if it does.
    target: Option<Leading>,
    /// The newest term that was seen anywhere.
    newest: Term,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
enum Leader {
    #[default]
    Unknown,
    Own,
    Other(MemberId),
}

impl Fronts {
    /// Offers switches to whoever leads, on threads of its own.
    pub(super) fn start(
        local: Local,
        refusals: Refusals,
        presence: SharedPresence,
        channels: Sender<Incoming>,
        tls: Option<OpenFlowTls>,
    ) -> Self {
        let standing = Mutex::default();
        let (open, fronted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let shared = Shared { local, refusals, presence, channels, tls, standing, open, fronted };
        let (shared, alive) = (Arc::new(shared), Arc::new(()));
        let (opened, queue) = mpsc::channel(MAX_WAITING);
        let offering = Offering::new(shared.clone(), Arc::downgrade(&alive), opened);
        peers::spawn("cluster-fronts", move || offering.keep());
        let relaying = shared.clone();
        peers::spawn("cluster-relays", move || Relays::run(relaying, queue));
        Self { shared, _alive: alive }
    }

    /// What this member takes of others while it leads, which `leads` says.
    pub(super) fn admission(&self, leads: Arc<AtomicBool>) -> Admission {
        let Shared { presence, channels, tls, .. } = &*self.shared;
        Admission::new(leads, presence.clone(), channels.clone(), tls.clone())
    }

    /// Who leads from now on: this member, another one, or nobody that is known; and where that one takes fronts.
    pub(super) fn note(&self, leads: bool, leader: Option<&MemberId>, target: Option<Leading>, newest: Term) {
        let other = leader.cloned().map_or(Leader::Unknown, Leader::Other);
        let leader = if leads { Leader::Own } else { other };
        *self.shared.standing() = Standing { leader, target, newest };
    }

    /// How many switches the leader serves through this member.
    pub(super) fn fronted(&self) -> u32 {
        u32::try_from(self.shared.fronted.load(Ordering::Relaxed)).unwrap_or(u32::MAX)
    }
}

impl Shared {
    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Standing {
    /// Whether this member leads, or another one than that. As long as nobody is known, nothing has changed.
    fn has_replaced(&self, leader: &MemberId) -> bool {
        match &self.leader {
            Leader::Unknown => false,
            Leader::Own => true,
            Leader::Other(other) => other != leader,
        }
    }
}
