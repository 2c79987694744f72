//! The duties of a leader: heartbeats and its lease, as long as its brain makes progress. A standby keeps a lease for when it
//! leads.

use std::time::Duration;

use braid_types::{Term, Time};

use super::Member;
use crate::message::{Message, Outgoing};
use crate::store::{LeaseId, StoreRequest};

/// A term of this member.
#[derive(Debug)]
pub(super) struct Leading {
    pub(super) term: Term,
    /// The lease that held the `leader` key when it was won.
    pub(super) lease: LeaseId,
    pub(super) heartbeat_at: Time,
    keep_alive_at: Time,
    /// When a standby was asked to take over.
    pub(super) handed_over_at: Option<Time>,
    /// Whether the brain has made progress since the last heartbeat, and since the lease was kept alive.
    has_news: bool,
    is_alive: bool,
}

impl Leading {
    pub(super) const fn new(now: Time, term: Term, lease: LeaseId) -> Self {
        let (heartbeat_at, keep_alive_at, handed_over_at) = (now, now, None);
        Self { term, lease, heartbeat_at, keep_alive_at, handed_over_at, has_news: true, is_alive: true }
    }

    /// Whether a standby was asked to take over, not longer ago than this.
    pub(super) fn is_handed_over(&self, now: Time, limit: Duration) -> bool {
        self.handed_over_at.is_some_and(|at| now.since(at) <= limit)
    }

    pub(super) const fn progressed(&mut self) {
        (self.has_news, self.is_alive) = (true, true);
    }
}

impl Member {
    /// Sends a heartbeat if one is due and the brain has made progress.
    pub(super) fn send_heartbeat(&mut self, now: Time) {
        let reach = self.own_reach(now);
        let Some(leading) = &mut self.leading else { return };
        let lease = self.lease.filter(|own| own.id == leading.lease);
        let has_lease = lease.and_then(|own| own.until).is_some_and(|until| now < until);
        if now < leading.heartbeat_at {
            return;
        }
        leading.heartbeat_at = now + self.settings.heartbeat;
        if std::mem::take(&mut leading.has_news) {
            let message = Message::Heartbeat { term: leading.term, has_lease, reach };
            self.outgoing.push_back(Outgoing { to: None, message });
        }
    }

    /// The request that keeps the lease alive, if it is due and the brain has made progress.
    pub(super) fn keep_alive(&mut self, now: Time) -> Option<StoreRequest> {
        let interval = self.settings.lease / 4;
        let Some(leading) = &mut self.leading else { return self.keep_spare(now) };
        if now < leading.keep_alive_at || !leading.is_alive {
            return None;
        }
        leading.is_alive = false;
        leading.keep_alive_at = now + interval;
        Some(StoreRequest::KeepAlive { lease: leading.lease })
    }

    /// As [`keep_alive`](Self::keep_alive), for the lease with which a standby can campaign at once.
    fn keep_spare(&mut self, now: Time) -> Option<StoreRequest> {
        if now < self.spare_at || self.calls.is_failing() {
            return None;
        }
        self.spare_at = now + self.settings.lease / 4;
        let lasting = self.lease.filter(|own| own.until.is_some_and(|until| now < until));
        Some(lasting.map_or_else(|| self.grant(), |own| StoreRequest::KeepAlive { lease: own.id }))
    }
}
