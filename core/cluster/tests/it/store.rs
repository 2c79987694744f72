//! A model of etcd: the keys of the election, intents, leases, revisions; it may be down, slow, restored or wiped.

use std::collections::BTreeMap;
use std::time::Duration;

use braid_cluster::{
    IntentAnswer, IntentRequest, IntentView, LeaderRecord, LeaseId, MemberId, StoreAnswer, StoreRequest,
    StoreView,
};
use braid_types::{Term, Time};

#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    revision: u64,
    term: Option<(Term, u64)>,
    leader: Option<LeaderRecord>,
    pub(crate) intents: IntentView,
    /// When each lease ends, and its time to live.
    leases: BTreeMap<LeaseId, (Time, Duration)>,
    pub(crate) is_down: bool,
    pub(crate) delay: Duration,
    /// Whether it was restored or wiped.
    pub(crate) has_forgotten: bool,
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
            StoreRequest::Campaign { replaced, lease, run, term, term_revision } => {
                let (member, leads) = (from.clone(), self.leader.as_ref().map(|leader| leader.lease));
                let is_as_read = leads == replaced && self.term_revision() == term_revision;
                self.campaign(LeaderRecord { member, run, term, lease }, is_as_read)
            }
        })
    }

    /// The answer to a request about intents; `None` while it is down.
    pub(crate) fn handle_intents(
        &mut self,
        now: Time,
        from: &MemberId,
        request: IntentRequest,
    ) -> Option<IntentAnswer> {
        if self.is_down {
            return None;
        }
        self.expire(now);
        let IntentRequest::Write { term, revision, changes } = request else {
            return Some(IntentAnswer::View(self.intents.clone()));
        };
        let leads = self.leader.as_ref().is_some_and(|it| it.member == *from && it.term == term);
        if !leads || self.intents.owner.map_or(0, |(_, revision)| revision) != revision {
            return Some(IntentAnswer::Refused);
        }
        self.revision += 1;
        self.intents.owner = Some((term, self.revision));
        for (key, value) in changes {
            match value {
                Some(value) => _ = self.intents.entries.insert(key, value),
                None => _ = self.intents.entries.remove(&key),
            }
        }
        Some(IntentAnswer::Written(self.revision))
    }

    fn term_revision(&self) -> u64 {
        self.term.map_or(0, |(_, revision)| revision)
    }

    fn campaign(&mut self, leader: LeaderRecord, is_as_read: bool) -> StoreAnswer {
        if !is_as_read {
            return StoreAnswer::View(self.view());
        }
        if !self.leases.contains_key(&leader.lease) {
            return StoreAnswer::NoLease;
        }
        self.revision += 1;
        self.term = Some((leader.term, self.revision));
        self.leader = Some(leader);
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
        (self.is_down, self.delay, self.has_forgotten) = (is_down, delay, true);
        if !is_down {
            self.start(now);
        }
    }
}
