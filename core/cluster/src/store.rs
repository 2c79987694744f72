//! What a member asks of the store, and what the store answers.
//!
//! The store has two keys: `term`, and `leader`, which exists as long as its lease.

use std::time::Duration;

use braid_types::Term;

use crate::message::{MemberId, RunId};

/// A lease. Members choose the number at random, so that it names one run of one member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LeaseId(pub u64);

/// Pairs an answer of the store with its request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RequestId(pub u64);

/// A request to the store. Reads are linearizable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreRequest {
    /// Read both keys.
    Read,
    /// Create a lease, or keep it if it exists.
    Grant {
        /// The lease.
        lease: LeaseId,
        /// Its time to live.
        ttl: Duration,
    },
    /// Begin the lease's time anew.
    KeepAlive {
        /// The lease.
        lease: LeaseId,
    },
    /// In one transaction: if there is no `leader`, or it has the lease that is replaced, and `term` has this revision, set
    /// both.
    Campaign {
        /// The lease of the leader in whose place the run comes; `None`: there must be no leader.
        replaced: Option<LeaseId>,
        /// The lease that holds the `leader` key.
        lease: LeaseId,
        /// The run that campaigns.
        run: RunId,
        /// The new term.
        term: Term,
        /// The revision of `term` that was read; 0 if there was none.
        term_revision: u64,
    },
}

/// An answer of the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoreAnswer {
    /// Both keys: to a read, and to a campaign that was lost.
    View(StoreView),
    /// The campaign was won.
    Won,
    /// The lease exists.
    Done,
    /// The lease does not exist.
    NoLease,
}

/// Both keys.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoreView {
    /// The term, and the revision in which it was written.
    pub term: Option<(Term, u64)>,
    /// The leader.
    pub leader: Option<LeaderRecord>,
}

/// The `leader` key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeaderRecord {
    /// The leader.
    pub member: MemberId,
    /// The run of its process.
    pub run: RunId,
    /// Its term.
    pub term: Term,
    /// The lease that holds the key.
    pub lease: LeaseId,
}
