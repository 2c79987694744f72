//! Assignments that clients ask this leader for: in the store before they are answered, and taken over from the leader before.

use std::collections::BTreeMap;
use std::sync::mpsc;

use braid_assign::{AssignmentId, Claim, Owner};
use braid_cluster::{
    Entries, IntentAnswer, IntentError, IntentEvent, IntentId, IntentRequest, IntentSettings, Intents,
    RequestId,
};
use braid_control::{Event, Refusal, Reply, Request, Threat};
use braid_types::{Term, Time};
use tokio::sync::mpsc::Sender;
use tokio::sync::oneshot;

use super::assignments;
use super::etcd::{Etcd, Writer};
use crate::engine::Shared;

/// The answer of the store to a request about intents.
pub(super) struct IntentAnswered {
    id: RequestId,
    answer: Option<IntentAnswer>,
    /// What could not be read.
    corrupt: Option<String>,
}

/// A client that waits for the store.
enum Waiting {
    /// It gets this reply about a new assignment.
    Assigned { id: AssignmentId, reply: Reply, answer: oneshot::Sender<Reply> },
    /// Its assignment is released then.
    Releasing { id: AssignmentId, answer: oneshot::Sender<Reply> },
}

/// The assignments of this member's clients.
pub(super) struct Assignments {
    engine: Shared,
    intents: Intents,
    requests: mpsc::Sender<(RequestId, IntentRequest)>,
    waiting: BTreeMap<IntentId, Waiting>,
    /// What could not be read last.
    corrupt: Option<String>,
}

/// Asks etcd what the leader wants to know or to write about intents.
pub(super) fn ask(
    mut etcd: Etcd,
    writer: &Writer,
    queue: &mpsc::Receiver<(RequestId, IntentRequest)>,
    answers: &Sender<IntentAnswered>,
) {
    let limit = IntentSettings::default().max_entries;
    while let Ok(first) = queue.recv() {
        // Earlier ones were given up.
        let (id, request) = queue.try_iter().last().unwrap_or(first);
        let mut answer = etcd.intents(writer, request, limit);
        let corrupt = answer.as_mut().and_then(leave_out_corrupt);
        if answers.blocking_send(IntentAnswered { id, answer, corrupt }).is_err() {
            return;
        }
    }
}

/// Leaves out what cannot be read, so that nobody overwrites it. Returns the first of it, and why.
fn leave_out_corrupt(answer: &mut IntentAnswer) -> Option<String> {
    let IntentAnswer::View(view) = answer else { return None };
    let mut first = None;
    view.entries.retain(|key, value| match assignments::read(key, value) {
        Ok(_) => true,
        Err(why) => {
            first.get_or_insert_with(|| {
                format!(
                    "the assignment {key:?} in the cluster's store cannot be read, and is left alone: {why}"
                )
            });
            false
        }
    });
    first
}

impl Assignments {
    pub(super) fn new(engine: Shared, requests: mpsc::Sender<(RequestId, IntentRequest)>) -> Self {
        let intents = Intents::new(IntentSettings::default());
        Self { engine, intents, requests, waiting: BTreeMap::new(), corrupt: None }
    }

    fn now(&self) -> Time {
        self.engine.borrow().now()
    }

    pub(super) fn lead(&mut self, term: Term) {
        self.intents.lead(self.now(), term);
        self.drain();
    }

    /// Another member leads, and has the assignments.
    pub(super) fn follow(&mut self) {
        self.intents.follow();
        self.drain();
        self.restore(&Entries::new());
    }

    /// Sets paths aside; the client has its answer once the store has the assignment.
    pub(super) fn assign(&mut self, claim: Claim, answer: oneshot::Sender<Reply>) {
        let reply = self.ask(Request::Assign(claim.clone()));
        let Some(Reply::Assignment(view)) = &reply else { return tell(answer, reply) };
        let id = view.id;
        match self.intents.put(self.now(), assignments::key(id), assignments::value(&claim)) {
            Ok(intent) => {
                let waiting = reply.map(|reply| Waiting::Assigned { id, reply, answer });
                waiting.into_iter().for_each(|waiting| _ = self.waiting.insert(intent, waiting));
                self.drain();
            }
            Err(why) => {
                self.release_now(id);
                tell(answer, Some(not_kept(why)));
            }
        }
    }

    /// Releases an assignment, once the store has forgotten it.
    pub(super) fn release(&mut self, id: AssignmentId, owner: Option<Owner>, answer: oneshot::Sender<Reply>) {
        // As a renewal, it says whether the asker may.
        let reply = self.ask(Request::Renew { assignment: id, owner });
        if !matches!(reply, Some(Reply::Assignment(_))) {
            return tell(answer, reply);
        }
        match self.intents.remove(self.now(), assignments::key(id)) {
            Ok(intent) => {
                self.waiting.insert(intent, Waiting::Releasing { id, answer });
                self.drain();
            }
            Err(why) => tell(answer, Some(not_kept(why))),
        }
    }

    pub(super) fn take_answer(&mut self, answered: IntentAnswered) -> Option<Threat> {
        let IntentAnswered { id, answer, corrupt } = answered;
        let is_view = matches!(answer, Some(IntentAnswer::View(_)));
        let now = self.now();
        self.intents.handle_answer(now, id, answer);
        self.drain();
        let is_new = is_view && corrupt.is_some() && corrupt != self.corrupt;
        if is_view {
            self.corrupt = corrupt;
        }
        let why = self.corrupt.clone().filter(|_| is_new)?;
        Some(Threat::CorruptStore { why })
    }

    /// Does what is due; when that is next.
    pub(super) fn turn(&mut self) -> Option<Time> {
        let now = self.now();
        if self.intents.poll_timeout().is_some_and(|at| now >= at) {
            let engine = self.engine.borrow();
            let is_left = |key: &str| key.parse().is_ok_and(|id| engine.brain().has_assignment(id));
            self.intents.retain(is_left);
            drop(engine);
            self.intents.handle_timeout(now);
            self.drain();
        }
        self.intents.poll_timeout()
    }

    fn drain(&mut self) {
        while let Some(request) = self.intents.poll_request() {
            let _ = self.requests.send(request);
        }
        while let Some(event) = self.intents.poll_event() {
            match event {
                IntentEvent::Restored(entries) => self.restore(&entries),
                IntentEvent::Kept(id) => self.kept(id),
                IntentEvent::NotKept(id, why) => self.lost(id, why),
            }
        }
    }

    fn kept(&mut self, id: IntentId) {
        let (reply, answer) = match self.waiting.remove(&id) {
            Some(Waiting::Assigned { reply, answer, .. }) => (Some(reply), answer),
            Some(Waiting::Releasing { id, answer }) => (self.release_now(id), answer),
            None => return,
        };
        tell(answer, reply);
    }

    fn lost(&mut self, id: IntentId, why: IntentError) {
        let answer = match self.waiting.remove(&id) {
            Some(Waiting::Assigned { id, answer, .. }) => {
                self.release_now(id);
                answer
            }
            Some(Waiting::Releasing { answer, .. }) => answer,
            None => return,
        };
        tell(answer, Some(not_kept(why)));
    }

    /// What the cluster has promised is what the brain has from now on.
    fn restore(&self, entries: &Entries) {
        let promised = entries.iter().filter_map(|(key, value)| assignments::read(key, value).ok()).collect();
        let now = self.now();
        self.engine.borrow_mut().handle(now, &Event::Assignments { promised });
    }

    fn release_now(&self, id: AssignmentId) -> Option<Reply> {
        self.ask(Request::Release { assignment: id, owner: None })
    }

    /// The brain's reply to a request that it answers at once; nothing while the controller stops.
    fn ask(&self, request: Request) -> Option<Reply> {
        let (sender, mut receiver) = oneshot::channel();
        self.engine.borrow_mut().ask(request, sender);
        receiver.try_recv().ok()
    }
}

fn not_kept(why: IntentError) -> Reply {
    Reply::Refused(Refusal::NotKept(why.to_string()))
}

/// Answers a client, which may have gone.
fn tell(answer: oneshot::Sender<Reply>, reply: Option<Reply>) {
    if let Some(reply) = reply {
        drop(answer.send(reply));
    }
}
