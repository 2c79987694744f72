//! A model of etcd: two keys, leases, revisions; it may be down, slow, restored or wiped.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_cluster::{LeaderRecord, LeaseId, MemberId, StoreAnswer, StoreRequest, StoreView};
use braid_types::{Term, Time};

#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    revision: u64,
    term: Option<(Term, u64)>,
    leader: Option<LeaderRecord>,
    /// When each lease ends, and its time to live.
    leases: BTreeMap<LeaseId, (Time, Duration)>,
    pub(crate) is_down: bool,
    pub(crate) delay: Duration,
    snapshot: Option<Box<Store>>,
}

impl Store {
    /// The answer; `None` while it is down.
    pub(crate) fn handle(
        &mut self,
        now: Time,
        from: &MemberId,
        request: StoreRequest,
    ) -> Option<StoreAnswer> {
        if self.is_down {
            return None;
        }
        self.expire(now);
        Some(match request {
            StoreRequest::Read => StoreAnswer::View(self.view()),
            StoreRequest::Grant { lease, ttl } => {
                self.leases.entry(lease).or_insert((now + ttl, ttl));
                StoreAnswer::Done
            }
            StoreRequest::KeepAlive { lease } => match self.leases.get_mut(&lease) {
                Some((until, ttl)) => {
                    *until = now + *ttl;
                    StoreAnswer::Done
                }
                None => StoreAnswer::NoLease,
            },
            StoreRequest::Revoke { lease } => {
                self.end(lease);
                StoreAnswer::Done
            }
            StoreRequest::Campaign { lease, term, term_revision } => {
                self.campaign(from, lease, term, term_revision)
            }
        })
    }

    fn campaign(&mut self, from: &MemberId, lease: LeaseId, term: Term, revision: u64) -> StoreAnswer {
        if self.leader.is_some() || self.term.map_or(0, |(_, revision)| revision) != revision {
            return StoreAnswer::View(self.view());
        }
        if !self.leases.contains_key(&lease) {
            return StoreAnswer::NoLease;
        }
        self.revision += 1;
        self.term = Some((term, self.revision));
        self.leader = Some(LeaderRecord { member: from.clone(), term, lease });
        StoreAnswer::Won
    }

    pub(crate) fn view(&self) -> StoreView {
        StoreView { term: self.term, leader: self.leader.clone() }
    }

    fn expire(&mut self, now: Time) {
        let over: Vec<_> =
            self.leases.iter().filter(|(_, (until, _))| *until <= now).map(|it| *it.0).collect();
        over.into_iter().for_each(|lease| self.end(lease));
    }

    fn end(&mut self, lease: LeaseId) {
        self.leases.remove(&lease);
        if self.leader.take_if(|leader| leader.lease == lease).is_some() {
            self.revision += 1;
        }
    }

    /// It comes back. As in etcd, all leases begin anew.
    pub(crate) fn start(&mut self, now: Time) {
        self.is_down = false;
        self.leases.values_mut().for_each(|(until, ttl)| *until = now + *ttl);
    }

    pub(crate) fn keep_snapshot(&mut self) {
        let copy = Self { snapshot: None, ..self.clone() };
        self.snapshot = Some(Box::new(copy));
    }

    /// Forgets what happened since the snapshot, or everything.
    pub(crate) fn restore(&mut self, now: Time) {
        let (is_down, delay) = (self.is_down, self.delay);
        let snapshot = self.snapshot.take();
        *self = snapshot.map(|it| *it).unwrap_or_default();
        (self.is_down, self.delay) = (is_down, delay);
        if !is_down {
            self.start(now);
        }
    }
}
