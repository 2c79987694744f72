//! Requests to the store, one at a time, each with its deadline.

use std::time::Duration;

use braid_types::Time;

use crate::store::{RequestId, StoreRequest};

/// At most one request that waits for its answer. What was asked before it is answered in vain: a read tells.
#[derive(Debug)]
pub(crate) struct Calls {
    timeout: Duration,
    last: u64,
    unsent: Option<(RequestId, StoreRequest)>,
    pending: Option<Pending>,
    /// Since when requests fail.
    failing_since: Option<Time>,
}

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    id: RequestId,
    pub(crate) request: StoreRequest,
    pub(crate) sent_at: Time,
}

impl Calls {
    pub(crate) const fn new(timeout: Duration) -> Self {
        Self { timeout, last: 0, unsent: None, pending: None, failing_since: None }
    }

    pub(crate) const fn is_busy(&self) -> bool {
        self.pending.is_some()
    }

    /// Whether the last request failed.
    pub(crate) const fn is_failing(&self) -> bool {
        self.failing_since.is_some()
    }

    pub(crate) const fn send(&mut self, now: Time, request: StoreRequest) {
        self.last = self.last.wrapping_add(1);
        let id = RequestId(self.last);
        self.pending = Some(Pending { id, request, sent_at: now });
        self.unsent = Some((id, request));
    }

    pub(crate) const fn poll(&mut self) -> Option<(RequestId, StoreRequest)> {
        self.unsent.take()
    }

    /// Takes the request that is answered, if it is the one that waits.
    pub(crate) fn answered(&mut self, id: RequestId) -> Option<Pending> {
        self.pending.take_if(|pending| pending.id == id)
    }

    /// Takes the request that has waited for too long.
    pub(crate) fn overdue(&mut self, now: Time) -> Option<Pending> {
        let timeout = self.timeout;
        self.pending.take_if(|pending| now.since(pending.sent_at) >= timeout)
    }

    /// Notes whether the store answers; true if that has changed.
    pub(crate) fn note(&mut self, now: Time, answers: bool) -> bool {
        let before = self.is_failing();
        self.failing_since = if answers { None } else { self.failing_since.or(Some(now)) };
        before != self.is_failing()
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        self.pending.map(|pending| pending.sent_at + self.timeout)
    }
}
