//! The member on the engine's thread: what it is told, and what it asks for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use braid_cluster::{
    Event, Member, MemberId, Message, Outgoing, RequestId, Settings, StoreAnswer, StoreRequest,
};
use braid_types::{Term, Time};
use tokio::sync::Notify;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tracing::{info, warn};

use super::Joined;
use super::etcd::Etcd;
use super::handle::Handle;
use super::peers::{self, Incoming};
use super::policy::{self, Kept, Wanted};
use crate::engine::Shared;

/// Messages and answers that wait for the engine's thread.
const MAX_WAITING: usize = 256;
/// The interval in which the list of members is read.
const MEMBERS_INTERVAL: Duration = Duration::from_secs(2);

/// What the thread that asks etcd says.
enum FromStore {
    Answer(RequestId, Option<StoreAnswer>),
    /// The addresses of members, by name.
    Members(Vec<(String, String)>),
}

/// A member with its connections.
pub(super) struct Cluster {
    engine: Shared,
    pub(super) name: String,
    pub(super) id: MemberId,
    /// Where it listens for other members.
    pub(super) address: String,
    pub(super) member: Member,
    requests: mpsc::Sender<(RequestId, StoreRequest)>,
    /// The addresses of the other members, and the ways to them.
    pub(super) peers: BTreeMap<MemberId, (String, mpsc::SyncSender<Message>)>,
    /// Policies that were loaded here, for the thread that keeps them.
    pub(super) policies: mpsc::Sender<Wanted>,
    /// The newest term of a switch that the member knows of.
    told: Term,
}

/// A member of a cluster, and the task that keeps it: it leads when elected, and follows when not.
pub(crate) fn member(engine: Shared, joined: Joined) -> (Handle, impl Future<Output = ()>) {
    let Joined { name, identity, etcd, listener, address, .. } = joined;
    let id = identity.id.clone();
    let (incoming_sender, incoming) = channel(MAX_WAITING);
    peers::accept(listener, name.clone(), incoming_sender);
    let (answer_sender, answers) = channel(MAX_WAITING);
    let (requests, queue) = mpsc::channel();
    let (policies, wanted) = mpsc::channel();
    let (kept_sender, kept) = channel(MAX_WAITING);
    let policy_store = etcd.clone();
    peers::spawn("cluster-policy", move || policy::keep(policy_store, &wanted, &kept_sender));
    let asking = id.clone();
    peers::spawn("cluster-store", move || ask(etcd, &asking, &queue, &answer_sender));
    let now = engine.borrow().now();
    let member = Member::new(now, identity, Settings::default());
    info!(cluster = name, member = %id, "a member of a cluster");
    let (told, address) = (Term(0), address.to_string());
    let peers = BTreeMap::new();
    let cluster = Cluster { engine, name, id, address, member, requests, peers, policies, told };
    let (cluster, woken) = (Rc::new(RefCell::new(cluster)), Rc::new(Notify::new()));
    let handle = Handle { cluster, woken };
    (handle.clone(), keep(handle, incoming, answers, kept))
}

/// Lets the member do what is due, for ever.
async fn keep(
    handle: Handle,
    mut incoming: Receiver<Incoming>,
    mut answers: Receiver<FromStore>,
    mut kept: Receiver<Kept>,
) {
    let Handle { cluster, woken } = handle;
    loop {
        let sleep = cluster.borrow_mut().drain();
        tokio::select! {
            Some(message) = incoming.recv() => cluster.borrow_mut().take(message),
            Some(answer) = answers.recv() => cluster.borrow_mut().take_from_store(answer),
            Some(policy) = kept.recv() => cluster.borrow().apply(policy),
            () = woken.notified() => {}
            () = tokio::time::sleep(sleep) => {}
        }
        let mut cluster = cluster.borrow_mut();
        // The rest of what has arrived comes first, so that nobody counts as silent because this thread was.
        while let Ok(message) = incoming.try_recv() {
            cluster.take(message);
        }
        while let Ok(answer) = answers.try_recv() {
            cluster.take_from_store(answer);
        }
        cluster.turn();
    }
}

/// Asks etcd what the member wants to know, and between that for the list of members.
fn ask(
    mut etcd: Etcd,
    member: &MemberId,
    queue: &mpsc::Receiver<(RequestId, StoreRequest)>,
    answers: &Sender<FromStore>,
) {
    let mut listed: Option<Instant> = None;
    loop {
        if listed.is_none_or(|at| at.elapsed() >= MEMBERS_INTERVAL) {
            listed = Some(Instant::now());
            if let Ok(members) = etcd.members()
                && answers.blocking_send(FromStore::Members(members)).is_err()
            {
                return;
            }
        }
        let request = match queue.recv_timeout(MEMBERS_INTERVAL) {
            // The member has given up what it asked for before.
            Ok(first) => queue.try_iter().last().unwrap_or(first),
            Err(mpsc::RecvTimeoutError::Timeout) => continue,
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        };
        let (id, request) = request;
        let answer = etcd.answer(member, request);
        if answers.blocking_send(FromStore::Answer(id, answer)).is_err() {
            return;
        }
    }
}

impl Cluster {
    pub(super) fn now(&self) -> Time {
        self.engine.borrow().now()
    }

    /// What has happened meanwhile, and what is due.
    fn turn(&mut self) {
        let (now, newest) = {
            let engine = self.engine.borrow();
            (engine.now(), engine.switches().newest_term())
        };
        if newest.is_newer_than(self.told) {
            self.told = newest;
            self.member.handle_switch_term(now, newest);
        }
        // The engine's thread has come to this: it does not hang.
        self.member.handle_progress();
        if now >= self.member.poll_timeout() {
            self.member.handle_timeout(now);
        }
    }

    fn take(&mut self, incoming: Incoming) {
        let now = self.now();
        match incoming {
            Incoming::Message(from, message) => self.member.handle_message(now, &from, message),
            Incoming::Closed(from) => self.member.handle_closed(now, &from),
        }
    }

    fn take_from_store(&mut self, answer: FromStore) {
        match answer {
            FromStore::Answer(id, answer) => {
                let now = self.now();
                self.member.handle_store(now, id, answer);
            }
            FromStore::Members(members) => self.connect(members),
        }
    }

    /// A policy that holds from now on.
    fn apply(&self, Kept { text, answer }: Kept) {
        info!("the cluster has a new policy");
        crate::policy::set(&self.engine, text);
        // The client may have gone.
        let _ = answer.map(|answer| answer.send(Ok(self.now())));
    }

    /// Connects to members that are new or have moved.
    fn connect(&mut self, members: Vec<(String, String)>) {
        for (name, address) in members {
            let member = MemberId::new(name);
            let is_known = self.peers.get(&member).is_some_and(|(known, _)| *known == address);
            if member != self.id && !is_known {
                info!(%member, address, "another member of the cluster");
                let sender = peers::connect(&self.name, &self.id, address.clone());
                self.peers.insert(member, (address, sender));
            }
        }
    }

    /// Does what the member asks for. Returns the time until something is due.
    fn drain(&mut self) -> Duration {
        while let Some(request) = self.member.poll_store() {
            let _ = self.requests.send(request);
        }
        while let Some(Outgoing { to, message }) = self.member.poll_message() {
            let wanted = self.peers.iter().filter(|(member, _)| to.as_ref().is_none_or(|to| to == *member));
            // A member that takes nothing gets the next one.
            for (_, (_, sender)) in wanted {
                let _ = sender.try_send(message);
            }
        }
        while let Some(event) = self.member.poll_event() {
            match event {
                Event::Elected { term } => {
                    info!(%term, "this controller leads the cluster");
                    self.engine.borrow_mut().switches_mut().lead(term);
                }
                Event::Deposed { newest } => {
                    warn!(%newest, "another controller leads the cluster");
                    self.engine.borrow_mut().follow(newest);
                }
                Event::Store { answers: true } => info!("the cluster's store answers again"),
                Event::Store { answers: false } => {
                    warn!(
                        "the cluster's store does not answer: whoever leads goes on, and nobody is elected"
                    );
                }
            }
        }
        self.member.poll_timeout().since(self.now())
    }
}
