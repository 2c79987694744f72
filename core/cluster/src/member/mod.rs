//! One controller of a cluster.
//!
//! ```text
//!             won                        a newer leader is heard or in the store
//!  Standby ─────────▶ Leader ────────────────────────────────────────────────────▶ Standby
//!   │   ▲               │  ▲
//!   │   └ lost          └──┘ the lease is lost, or a switch has seen a newer term of the cluster: campaigns in a newer one
//!   └─ nobody leads, or the leader that was heard is silent: campaigns in its place
//! ```
//!
//! A leader without the store goes on until it is fenced: by a newer leader that it hears, or by the store when it is back.

mod campaign;
mod leading;
mod requests;
mod runs;
mod stepping_aside;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use braid_types::{SplitMix64, Term, Time};

use crate::calls::Calls;
use crate::hearing::Hearing;
use crate::message::{ConnectionId, MemberId, Message, Outgoing, RunId};
use crate::reach::Reaches;
use crate::settings::Settings;
use crate::store::{LeaseId, RequestId, StoreAnswer, StoreRequest, StoreView};
use crate::terms::TermStamp;
use leading::Leading;
pub use requests::{HandOverError, TakeOverError};
use runs::Runs;

/// Who a member is, for one run of its process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Its name in the cluster.
    pub id: MemberId,
    /// This run of its process.
    pub run: RunId,
    /// What its terms have in common. Different for each member, so that no two share a term even if the store forgets which
    /// it has given.
    pub stamp: TermStamp,
    /// Where terms begin if the store knows none: above those of controllers without a cluster.
    pub first_term: Term,
    /// The seed of its leases and waiting times, different for each run.
    pub seed: u64,
}

/// A report of a member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// This member leads, from now on in this term. A leader may get a newer term.
    Elected {
        /// The term.
        term: Term,
    },
    /// This member leads no more.
    Deposed {
        /// The newest term that it has seen.
        newest: Term,
        /// Whether it has just handed leadership over.
        is_handed_over: bool,
    },
    /// This member leads, reaches fewer switches than a standby, and has asked that one to lead.
    SteppedAside {
        /// The standby.
        to: MemberId,
        /// The switches that this member reaches.
        own: u32,
        /// The switches that the standby reaches.
        theirs: u32,
    },
    /// The store does not answer, or answers again.
    Store {
        /// Whether it answers.
        answers: bool,
    },
}

/// A lease of this member.
#[derive(Clone, Copy, Debug)]
struct OwnLease {
    id: LeaseId,
    /// When it ends at the earliest; `None` until it is granted.
    until: Option<Time>,
}

/// One controller of a cluster. Performs no I/O.
#[derive(Debug)]
pub struct Member {
    identity: Identity,
    settings: Settings,
    random: SplitMix64,
    leading: Option<Leading>,
    hearing: Hearing,
    calls: Calls,
    lease: Option<OwnLease>,
    /// When a standby renews it.
    spare_at: Time,
    /// The newest term of this cluster that was seen anywhere.
    newest: Term,
    runs: Runs,
    /// The newest connection from each other member.
    connections: BTreeMap<MemberId, ConnectionId>,
    /// The store as it was read last.
    view: StoreView,
    read_at: Time,
    /// When standbys were heard last.
    followers: BTreeMap<MemberId, Time>,
    reaches: Reaches,
    called_at: Time,
    outgoing: VecDeque<Outgoing>,
    events: VecDeque<Event>,
}

impl Member {
    /// A member that has just started. It reads the store first.
    pub fn new(now: Time, identity: Identity, settings: Settings) -> Self {
        let mut member = Self {
            random: SplitMix64::new(identity.seed),
            identity,
            settings,
            leading: None,
            hearing: Hearing::default(),
            calls: Calls::new(settings.store_timeout),
            lease: None,
            spare_at: now,
            newest: Term(0),
            runs: Runs::default(),
            connections: BTreeMap::new(),
            view: StoreView::default(),
            read_at: now,
            followers: BTreeMap::new(),
            reaches: Reaches::new(now, settings),
            called_at: now,
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
        };
        member.act(now);
        member
    }

    /// Whether this member leads.
    pub const fn leads(&self) -> bool {
        self.leading.is_some()
    }

    /// The term in which this member leads.
    pub fn term(&self) -> Option<Term> {
        self.leading.as_ref().map(|leading| leading.term)
    }

    /// The leader as far as this member knows, with its term: itself, the one that it hears, or the one in the store.
    pub fn leader(&self, now: Time) -> Option<(&MemberId, Term)> {
        if let Some(leading) = &self.leading {
            return Some((&self.identity.id, leading.term));
        }
        let heard = self.hearing.leader().filter(|(.., at)| now.since(*at) < self.settings.silence);
        let stored = || self.view.leader.as_ref().filter(|it| !self.runs.is_past(&self.identity, it));
        heard
            .map(|(leader, term, _)| (leader, term))
            .or_else(|| stored().map(|leader| (&leader.member, leader.term)))
    }

    /// When this member has heard of another one last: a leader of its followers, a standby of its leader.
    pub fn last_heard(&self, member: &MemberId) -> Option<Time> {
        let leader = self.hearing.leader().filter(|(leader, ..)| *leader == member).map(|(.., at)| at);
        leader.max(self.followers.get(member).copied())
    }

    /// The newest term that this member has seen.
    pub const fn newest(&self) -> Term {
        self.newest
    }

    /// The store as it was read last.
    pub const fn view(&self) -> &StoreView {
        &self.view
    }

    /// Whether the store answers.
    pub const fn store_answers(&self) -> bool {
        !self.calls.is_failing()
    }

    /// The brain has made progress: its thread has finished a turn. Only this lets a leader send heartbeats and keep its
    /// lease.
    pub fn handle_progress(&mut self) {
        self.leading.iter_mut().for_each(Leading::progressed);
    }

    /// A switch has seen this term. One that no member of this cluster has raised starts no election: two clusters on the same
    /// switches would depose each other for ever. See [`take_over`](Self::take_over).
    pub fn handle_switch_term(&mut self, now: Time, term: Term) {
        if self.identity.stamp.is_of_cluster(term) {
            self.note_term(now, term);
        }
        self.act(now);
    }

    /// A member has connected.
    pub fn handle_opened(&mut self, from: &MemberId, connection: ConnectionId) {
        let newest = self.connections.entry(from.clone()).or_insert(connection);
        *newest = connection.max(*newest);
    }

    /// A member has sent a message.
    pub fn handle_message(&mut self, now: Time, from: &MemberId, message: Message) {
        match message {
            Message::Heartbeat { term, has_lease, reach } => {
                self.reaches.note(now, from, reach);
                self.on_heartbeat(now, from, term, has_lease);
            }
            Message::Follow { newest, reach } => {
                self.reaches.note(now, from, reach);
                self.followers.insert(from.clone(), now);
                self.note_term(now, newest);
            }
            Message::HandOver { term } if !self.newest.is_newer_than(term) => {
                self.hearing.note_gone(from);
                self.read_at = now;
                self.reaches.keep_calm(now + self.settings.calm);
            }
            Message::HandOver { .. } => {}
        }
        self.act(now);
    }

    /// A connection from a member closed. Only the end of the newest one says that the member has gone: an older one may be
    /// noticed late.
    pub fn handle_closed(&mut self, now: Time, from: &MemberId, connection: ConnectionId) {
        if self.connections.get(from) == Some(&connection) {
            self.connections.remove(from);
            self.followers.remove(from);
            self.reaches.forget(from);
            self.hearing.note_gone(from);
            self.read_at = now;
        }
        self.act(now);
    }

    /// The store has answered; `None`: it refused, or cannot be reached.
    pub fn handle_store(&mut self, now: Time, id: RequestId, answer: Option<StoreAnswer>) {
        if let Some(pending) = self.calls.answered(id) {
            self.note_store(now, answer.is_some());
            self.take_answer(now, pending, answer);
        }
        self.act(now);
    }

    /// Call at [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Time) {
        let stall = now.since(self.called_at).saturating_sub(self.settings.heartbeat);
        if stall > self.settings.heartbeat {
            // This member was stopped. What others sent meanwhile waits to be read.
            self.hearing.excuse(stall, now);
            self.reaches.begin_anew();
            self.read_at = now;
        }
        self.called_at = now;
        if let Some(pending) = self.calls.overdue(now) {
            self.note_store(now, false);
            self.take_answer(now, pending, None);
        }
        self.act(now);
    }

    /// The next request to the store.
    pub const fn poll_store(&mut self) -> Option<(RequestId, StoreRequest)> {
        self.calls.poll()
    }

    /// The next message to send.
    pub fn poll_message(&mut self) -> Option<Outgoing> {
        self.outgoing.pop_front()
    }

    /// The next report.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due; at least once in a heartbeat's interval.
    pub fn poll_timeout(&self) -> Time {
        let tick = self.called_at + self.settings.heartbeat;
        let read = (!self.calls.is_busy()).then_some(self.read_at);
        let heartbeat = self.leading.as_ref().map(|leading| leading.heartbeat_at);
        let silence = self.hearing.deadline(self.settings.silence).filter(|at| *at > self.called_at);
        let all = [read, heartbeat, silence, self.calls.deadline()];
        all.into_iter().flatten().fold(tick, Time::min).max(self.called_at + MIN_SLEEP)
    }

    fn on_heartbeat(&mut self, now: Time, from: &MemberId, term: Term, has_lease: bool) {
        self.note_term(now, term);
        match self.leading.as_ref().map(|leading| leading.term) {
            Some(own) if term.is_newer_than(own) => self.depose(now),
            Some(_) => return,
            None => {}
        }
        self.hearing.note(now, from, term, has_lease);
        let message = Message::Follow { newest: self.newest, reach: self.own_reach(now) };
        self.outgoing.push_back(Outgoing { to: Some(from.clone()), message });
    }

    fn note_term(&mut self, now: Time, term: Term) {
        self.newest = self.newest.newest(term);
        // The store says whether there is a newer leader, or the store has forgotten terms.
        if self.leading.as_ref().is_some_and(|leading| self.newest.is_newer_than(leading.term)) {
            self.read_at = self.read_at.min(now);
        }
    }

    fn note_store(&mut self, now: Time, answers: bool) {
        if self.calls.note(now, answers) {
            self.events.push_back(Event::Store { answers });
        }
    }

    fn depose(&mut self, now: Time) {
        let leading = self.leading.take();
        let is_handed_over = leading.is_some_and(|it| it.is_handed_over(now, self.settings.lease));
        self.followers.clear();
        self.events.push_back(Event::Deposed { newest: self.newest, is_handed_over });
    }
}

/// The shortest time between two timeouts.
const MIN_SLEEP: Duration = Duration::from_millis(1);
