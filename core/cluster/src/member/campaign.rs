//! What a member asks of the store: reads, and what follows from what it has read.
//!
//! A change whose answer is lost is followed by a read, so that it is no special case. A campaign holds only if the store is as
//! it was read last, so that a standby that hears its leader no more need not read first.

use braid_types::{Term, Time};

use super::leading::Leading;
use super::{Event, Member, OwnLease};
use crate::calls::Pending;
use crate::store::{LeaderRecord, LeaseId, StoreAnswer, StoreRequest, StoreView};

impl Member {
    /// Does what is due.
    pub(super) fn act(&mut self, now: Time) {
        self.called_at = self.called_at.max(now);
        self.send_heartbeat(now);
        if self.calls.is_busy() {
            return;
        }
        if self.leading.is_none() && !self.calls.is_failing() && self.hears_silence(now) {
            return self.decide(now);
        }
        if now >= self.read_at {
            return self.calls.send(now, StoreRequest::Read);
        }
        if let Some(request) = self.keep_alive(now) {
            self.calls.send(now, request);
        }
    }

    /// Whether the leader of the store was heard, and is not any more.
    fn hears_silence(&self, now: Time) -> bool {
        let silence = self.settings.silence;
        self.view.leader.as_ref().is_some_and(|it| self.hearing.is_silent(it, now, silence))
    }

    /// Takes the answer to a request; `None` if there is none.
    pub(super) fn take_answer(&mut self, now: Time, pending: Pending, answer: Option<StoreAnswer>) {
        let Some(answer) = answer else {
            let wait = self.settings.retry_interval;
            self.read_at = now + wait + wait.mul_f64(self.random.next_f64());
            return;
        };
        match (pending.request, answer) {
            (_, StoreAnswer::View(view)) => self.take_view(now, view),
            (StoreRequest::Campaign { lease, term, .. }, StoreAnswer::Won) => {
                self.lead(now, term, lease);
                self.read_at = now + self.settings.read_interval;
            }
            (StoreRequest::Grant { lease, ttl }, StoreAnswer::Done) => {
                self.lease = Some(OwnLease { id: lease, until: Some(pending.sent_at + ttl) });
                self.decide(now);
            }
            (StoreRequest::KeepAlive { lease }, StoreAnswer::Done) => {
                let until = Some(pending.sent_at + self.settings.lease);
                self.lease.iter_mut().filter(|own| own.id == lease).for_each(|own| own.until = until);
            }
            (
                StoreRequest::KeepAlive { .. } | StoreRequest::Grant { .. } | StoreRequest::Campaign { .. },
                StoreAnswer::NoLease,
            ) => {
                self.lease = None;
                self.read_at = now;
            }
            _ => self.read_at = now,
        }
    }

    /// Takes what the store says, and decides.
    fn take_view(&mut self, now: Time, view: StoreView) {
        let terms = [view.term.map(|(term, _)| term), view.leader.as_ref().map(|it| it.term)];
        terms.into_iter().flatten().for_each(|term| self.newest = self.newest.newest(term));
        self.runs.note(&self.identity, view.leader.as_ref(), self.newest);
        self.view = view;
        self.read_at = now + self.settings.read_interval;
        self.decide(now);
    }

    /// Does what follows from the store as it was read last.
    fn decide(&mut self, now: Time) {
        match (self.view.leader.clone(), self.term()) {
            (None, _) => self.consider_campaign(now),
            (Some(leader), Some(term)) => self.consider_as_leader(now, &leader, term),
            (Some(leader), None) => self.consider_as_standby(now, &leader),
        }
    }

    /// Nobody leads, as far as the store knows.
    fn consider_campaign(&mut self, now: Time) {
        let is_led = self.leading.is_none() && self.hearing.is_alive(now, self.settings.silence);
        // The standby that was asked to lead campaigns.
        let is_left = self.leading.as_ref().is_some_and(|it| it.is_handed_over(now, self.settings.silence));
        // A leader that is alive gets its lease back by itself, unless it does not reach the store.
        if is_left || is_led && !self.hearing.is_leaseless(now, self.settings.leaseless_limit) {
            self.read_at = now + self.settings.retry_interval;
            return;
        }
        self.campaign(now, None);
    }

    fn consider_as_leader(&mut self, now: Time, leader: &LeaderRecord, term: Term) {
        let is_own = self.lease.is_some_and(|own| own.id == leader.lease);
        if is_own && leader.term.is_newer_than(term) {
            // The answer to the campaign was lost.
            return self.lead(now, leader.term, leader.lease);
        }
        if !is_own && leader.term.is_newer_than(term) {
            return self.depose(now);
        }
        if !is_own || leader.term != term || self.newest.is_newer_than(term) {
            // The store has forgotten a term, and has an older one: a new campaign goes beyond all of them.
            self.campaign(now, Some(leader.lease));
        }
    }

    fn consider_as_standby(&mut self, now: Time, leader: &LeaderRecord) {
        let is_own = self.lease.is_some_and(|own| own.id == leader.lease);
        if is_own && !self.newest.is_newer_than(leader.term) {
            return self.lead(now, leader.term, leader.lease);
        }
        let is_past = self.runs.is_past(&self.identity, leader);
        if is_past || self.hearing.is_silent(leader, now, self.settings.silence) {
            self.campaign(now, Some(leader.lease));
        }
    }

    /// Campaigns with a lease that lasts, in the place of the leader with this one; or asks for a lease first.
    fn campaign(&mut self, now: Time, replaced: Option<LeaseId>) {
        let lasts = |until: Time| until.since(now) > self.settings.lease / 2;
        let request = match self.lease {
            Some(OwnLease { id: lease, until: Some(until) }) if lasts(until) => {
                let term_revision = self.view.term.map_or(0, |(_, revision)| revision);
                let (run, term) = (self.identity.run, self.next_term());
                StoreRequest::Campaign { replaced, lease, run, term, term_revision }
            }
            _ => self.grant(),
        };
        self.calls.send(now, request);
    }

    /// The request for a lease.
    pub(super) fn grant(&mut self) -> StoreRequest {
        // A lease whose grant was not confirmed may exist, and is asked for again.
        let unconfirmed = self.lease.filter(|lease| lease.until.is_none()).map(|lease| lease.id);
        let lease = unconfirmed.unwrap_or_else(|| self.new_lease());
        self.lease = Some(OwnLease { id: lease, until: None });
        StoreRequest::Grant { lease, ttl: self.settings.lease }
    }

    /// A lease of this run, with a number that etcd takes: above 0, and signed.
    const fn new_lease(&mut self) -> LeaseId {
        LeaseId((self.random.next_u64() >> 1) | 1)
    }

    /// Above every term that this member has seen.
    pub(super) fn next_term(&self) -> Term {
        // A store whose term cannot be read says 0.
        let stored = self.view.term.map(|(term, _)| term).filter(|term| *term != Term(0));
        let known = stored.unwrap_or(self.identity.first_term);
        self.identity.stamp.above(known.newest(self.newest))
    }

    fn lead(&mut self, now: Time, term: Term, lease: LeaseId) {
        self.newest = self.newest.newest(term);
        let (member, run) = (self.identity.id.clone(), self.identity.run);
        self.view.leader = Some(LeaderRecord { member, run, term, lease });
        self.leading = Some(Leading::new(now, term, lease));
        self.events.push_back(Event::Elected { term });
        self.send_heartbeat(now);
    }
}
