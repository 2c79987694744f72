//! What API calls were answered for: the leader has the store keep it before it answers.
//!
//! ```text
//!            elected                view            written
//!  Standby ─────────▶ Reading ───────────▶ Claiming ────────▶ Ready
//!                        ▲                                      │ an answer is lost, or a write is refused
//!                        └──────────────────────────────────────┘
//! ```
//!
//! Each write is a transaction that holds only for the leader of this term, and only if nobody has written since this member
//! has read: the key `owner` changes with each of them. So a write that was given up cannot come late. In intervals the leader
//! compares the store with what it has promised, and puts back what a store has lost that was wiped or restored.

mod request;

use std::collections::{BTreeMap, VecDeque};

use braid_types::{Term, Time};

use crate::store::RequestId;
pub use request::{
    Entries, IntentAnswer, IntentError, IntentEvent, IntentId, IntentRequest, IntentSettings, IntentView,
};

/// Changes of one transaction. etcd takes 128 operations.
const MAX_CHANGES: usize = 100;

/// How far this member is with its term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Standby,
    Reading(Term),
    /// The store was read in this revision.
    Claiming(Term, u64),
    Ready(Term, u64),
}

/// A change that somebody waits for.
#[derive(Debug)]
struct Waiting {
    id: IntentId,
    key: String,
    value: Option<String>,
    until: Time,
}

/// A request without an answer so far, and the changes that it makes.
#[derive(Debug)]
struct Pending {
    id: RequestId,
    sent_at: Time,
    batch: Vec<Waiting>,
}

/// The intents of one member. Performs no I/O.
#[derive(Debug)]
pub struct Intents {
    settings: IntentSettings,
    state: State,
    /// What the leader has promised.
    entries: Entries,
    /// The term in which the entries were those of the store.
    owned: Option<Term>,
    /// Whether the entries of the store replace those of this member once it is the owner.
    restores: bool,
    queue: VecDeque<Waiting>,
    pending: Option<Pending>,
    unsent: Option<(RequestId, IntentRequest)>,
    last_request: u64,
    last_intent: u64,
    /// What differs from the store.
    repairs: BTreeMap<String, Option<String>>,
    act_at: Time,
    events: VecDeque<IntentEvent>,
}

impl Intents {
    /// Those of a member that does not lead.
    pub const fn new(settings: IntentSettings) -> Self {
        Self {
            settings,
            state: State::Standby,
            entries: Entries::new(),
            owned: None,
            restores: false,
            queue: VecDeque::new(),
            pending: None,
            unsent: None,
            last_request: 0,
            last_intent: 0,
            repairs: BTreeMap::new(),
            act_at: Time::ZERO,
            events: VecDeque::new(),
        }
    }

    /// This member was elected in this term.
    pub fn lead(&mut self, now: Time, term: Term) {
        self.give_up_request();
        self.state = State::Reading(term);
        self.act_at = now;
        self.act(now);
    }

    /// This member leads no more.
    pub fn follow(&mut self) {
        self.give_up_request();
        self.state = State::Standby;
        (self.owned, self.restores) = (None, false);
        self.entries.clear();
        self.repairs.clear();
        self.refuse_all(IntentError::NotLeader);
    }

    /// Has the store keep a value. [`IntentEvent::Kept`] says when it does.
    ///
    /// # Errors
    /// It is out of bounds, or this member does not lead.
    pub fn put(&mut self, now: Time, key: String, value: String) -> Result<IntentId, IntentError> {
        let IntentSettings { max_entries, max_bytes, .. } = self.settings;
        let bytes = key.len() + value.len();
        if bytes > max_bytes {
            return Err(IntentError::TooLong(bytes, max_bytes));
        }
        let written = self.pending.as_ref().map_or(0, |pending| pending.batch.len());
        if self.entries.len() + self.queue.len() + written >= max_entries {
            return Err(IntentError::Full(max_entries));
        }
        self.enqueue(now, key, Some(value))
    }

    /// Has the store forget a value. [`IntentEvent::Kept`] says when it has.
    ///
    /// # Errors
    /// This member does not lead.
    pub fn remove(&mut self, now: Time, key: String) -> Result<IntentId, IntentError> {
        self.enqueue(now, key, None)
    }

    /// These are left; the others have ended by themselves. The store forgets them when it is compared next.
    pub fn retain(&mut self, is_left: impl Fn(&str) -> bool) {
        // Until they are restored, nobody but the store has them.
        if !self.restores {
            self.entries.retain(|key, _| is_left(key));
        }
    }

    /// The store has answered; `None`: it refused, or cannot be reached.
    pub fn handle_answer(&mut self, now: Time, id: RequestId, answer: Option<IntentAnswer>) {
        if let Some(pending) = self.pending.take_if(|pending| pending.id == id) {
            self.take_answer(now, pending.batch, answer);
        }
        self.act(now);
    }

    /// Call at [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Time) {
        let timeout = self.settings.timeout;
        if let Some(pending) = self.pending.take_if(|pending| now.since(pending.sent_at) >= timeout) {
            self.take_answer(now, pending.batch, None);
        }
        self.act(now);
    }

    /// The next request to the store.
    pub const fn poll_request(&mut self) -> Option<(RequestId, IntentRequest)> {
        self.unsent.take()
    }

    /// The next report.
    pub fn poll_event(&mut self) -> Option<IntentEvent> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due; `None` while this member does not lead.
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.state == State::Standby {
            return None;
        }
        let answer = self.pending.as_ref().map(|pending| pending.sent_at + self.settings.timeout);
        let given_up = self.queue.front().map(|waiting| waiting.until);
        Some(given_up.into_iter().fold(answer.unwrap_or(self.act_at), Time::min))
    }

    fn enqueue(&mut self, now: Time, key: String, value: Option<String>) -> Result<IntentId, IntentError> {
        if self.state == State::Standby {
            return Err(IntentError::NotLeader);
        }
        self.last_intent += 1;
        let id = IntentId(self.last_intent);
        self.queue.push_back(Waiting { id, key, value, until: now + self.settings.patience });
        self.act(now);
        Ok(id)
    }

    fn take_answer(&mut self, now: Time, batch: Vec<Waiting>, answer: Option<IntentAnswer>) {
        match (self.state, answer) {
            (State::Reading(term), Some(IntentAnswer::View(view))) => self.take_view(term, view),
            (State::Claiming(term, _) | State::Ready(term, _), Some(IntentAnswer::Written(revision))) => {
                self.take_written(now, batch);
                (self.state, self.owned) = (State::Ready(term, revision), Some(term));
            }
            (State::Claiming(term, _) | State::Ready(term, _), _) => {
                // Whether it is written is not known, or somebody else has written: the stored content is read again.
                batch.into_iter().rev().for_each(|waiting| self.queue.push_front(waiting));
                self.state = State::Reading(term);
                self.act_at = now + self.settings.retry;
            }
            (State::Reading(_), _) => self.act_at = now + self.settings.retry,
            (State::Standby, _) => {}
        }
    }

    /// Takes what the store has.
    fn take_view(&mut self, term: Term, view: IntentView) {
        let owner = view.owner.map(|(term, _)| term);
        let revision = view.owner.map_or(0, |(_, revision)| revision);
        // Nobody else has owned them since: a store that has another view has forgotten something.
        let is_older = |own| owner.is_none_or(|owner: Term| !owner.is_newer_than(own));
        if owner == Some(term) || self.owned.is_some_and(is_older) {
            self.repairs = difference(&self.entries, &view.entries);
        } else {
            self.entries = view.entries;
            self.repairs.clear();
            self.restores = true;
        }
        self.state = State::Claiming(term, revision);
    }

    fn take_written(&mut self, now: Time, batch: Vec<Waiting>) {
        let done: Vec<_> = batch.into_iter().map(|waiting| self.apply(waiting)).collect();
        if std::mem::take(&mut self.restores) {
            let waiting = self.queue.iter().filter_map(|it| Some((it.key.clone(), it.value.clone()?)));
            let all = self.entries.clone().into_iter().chain(waiting).collect();
            self.events.push_back(IntentEvent::Restored(all));
        }
        self.events.extend(done.into_iter().map(IntentEvent::Kept));
        self.act_at = if self.repairs.is_empty() { now + self.settings.interval } else { now };
    }

    fn apply(&mut self, Waiting { id, key, value, .. }: Waiting) -> IntentId {
        match value {
            Some(value) => _ = self.entries.insert(key, value),
            None => _ = self.entries.remove(&key),
        }
        id
    }

    /// Asks the store for what is due.
    fn act(&mut self, now: Time) {
        while self.queue.front().is_some_and(|waiting| now >= waiting.until) {
            let given_up = self.queue.pop_front();
            let event = |it: Waiting| IntentEvent::NotKept(it.id, IntentError::NoAnswer);
            self.events.extend(given_up.map(event));
        }
        if self.pending.is_some() {
            return;
        }
        match self.state {
            State::Reading(_) if now >= self.act_at => self.send(now, IntentRequest::Read, Vec::new()),
            State::Claiming(term, revision) => self.claim(now, term, revision),
            State::Ready(term, revision) if !self.queue.is_empty() => self.write(now, term, revision),
            State::Ready(term, _) if now >= self.act_at => {
                self.state = State::Reading(term);
                self.send(now, IntentRequest::Read, Vec::new());
            }
            State::Standby | State::Reading(_) | State::Ready(..) => {}
        }
    }

    /// Makes this member the owner, and repairs what the store has forgotten. Nothing that it has already is written again.
    fn claim(&mut self, now: Time, term: Term, revision: u64) {
        if self.owned == Some(term) && self.repairs.is_empty() && !self.restores {
            self.state = State::Ready(term, revision);
            self.act_at = now + self.settings.interval;
            return self.act(now);
        }
        let mut changes = std::mem::take(&mut self.repairs);
        let rest = changes.keys().nth(MAX_CHANGES).cloned().map(|key| changes.split_off(&key));
        self.send(now, IntentRequest::Write { term, revision, changes }, Vec::new());
        self.repairs = rest.unwrap_or_default();
    }

    fn write(&mut self, now: Time, term: Term, revision: u64) {
        let batch: Vec<_> = self.queue.drain(..self.queue.len().min(MAX_CHANGES)).collect();
        let changes = batch.iter().map(|it| (it.key.clone(), it.value.clone())).collect();
        self.send(now, IntentRequest::Write { term, revision, changes }, batch);
    }

    fn send(&mut self, now: Time, request: IntentRequest, batch: Vec<Waiting>) {
        self.last_request += 1;
        let id = RequestId(self.last_request);
        self.pending = Some(Pending { id, sent_at: now, batch });
        self.unsent = Some((id, request));
    }

    /// What waits for an answer waits for another request.
    fn give_up_request(&mut self) {
        let batch = self.pending.take().into_iter().flat_map(|pending| pending.batch);
        batch.rev().for_each(|waiting| self.queue.push_front(waiting));
        self.unsent = None;
    }

    fn refuse_all(&mut self, why: IntentError) {
        let refused = self.queue.drain(..).map(|waiting| IntentEvent::NotKept(waiting.id, why));
        self.events.extend(refused);
    }
}

/// The changes after which the store has the desired content.
fn difference(wanted: &Entries, stored: &Entries) -> BTreeMap<String, Option<String>> {
    let missing = wanted.iter().filter(|(key, value)| stored.get(*key) != Some(value));
    let missing = missing.map(|(key, value)| (key.clone(), Some(value.clone())));
    let spare = stored.keys().filter(|key| !wanted.contains_key(*key)).map(|key| (key.clone(), None));
    missing.chain(spare).collect()
}
