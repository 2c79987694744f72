//! The member on the engine's thread: what it is told, and what it asks for.

mod facts;
mod fronts;
mod members;
mod reach;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

use braid_cluster::{
    Event, Member, MemberId, Message, Outgoing, RequestId, Settings, StoreAnswer, StoreRequest,
};
use braid_control::{Reply, Request, Threat};
use braid_types::{Term, Time};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Notify, oneshot};
use tracing::{info, warn};

use super::Joined;
use super::etcd::{Etcd, Writer};
use super::facts::{Feed, Following, Publication};
use super::fronts::Fronts;
use super::handle::Handle;
use super::intents::{self, Assignments, IntentAnswered};
use super::peers::{self, Incoming, Local, Refusals, Services};
use super::policy::{self, PolicyNews, Wanted};
use super::registry::{self, Registered};
use super::standing::{LeaderApi, SharedStanding};
use crate::channels;
use crate::engine::{Reached, Shared};
use crate::openflow_tls::OpenFlowTls;

/// Messages and answers that wait for the engine's thread.
const MAX_WAITING: usize = 256;

/// The answer to a request to the store.
type Answered = (RequestId, Option<StoreAnswer>);

/// A member with its connections.
pub(super) struct Cluster {
    engine: Shared,
    pub(super) local: Local,
    refusals: Refusals,
    /// Where other members reach it.
    pub(super) address: String,
    /// The address that alarms about this controller name.
    own: IpAddr,
    /// The key of discovery frames.
    key: [u8; 32],
    registered: registry::Shared,
    pub(super) member: Member,
    requests: mpsc::Sender<(RequestId, StoreRequest)>,
    /// To ask why it does not answer.
    pub(super) store: Etcd,
    /// The addresses of the other members, and the ways to them.
    pub(super) peers: BTreeMap<MemberId, (String, mpsc::SyncSender<Message>)>,
    /// Where their APIs are reached.
    apis: BTreeMap<MemberId, Option<String>>,
    /// What the API is told of who leads.
    standing: SharedStanding,
    /// Policies that were loaded here, for the thread that keeps them.
    pub(super) policies: mpsc::Sender<Wanted>,
    pub(super) assignments: Assignments,
    /// What this member tells its standbys while it leads.
    feed: Feed,
    pub(super) publication: Publication,
    /// What it knows of the leader while it stands by.
    pub(super) following: Following,
    /// Members that tell facts.
    fact_senders: BTreeSet<MemberId>,
    /// This member as one through which the leader serves switches.
    pub(super) fronts: Fronts,
    /// Members through which this one, as the leader, serves switches.
    fronted: BTreeSet<MemberId>,
    /// The newest term of a switch that the member knows of.
    told: Term,
    /// The switches that the member reaches, as it was told last.
    counted: Option<(Time, Reached)>,
    /// How often it has stepped aside because a standby reached more.
    pub(super) stepped_aside: u64,
    /// What could not be read of the store last.
    corrupt: Option<String>,
}

/// What arrives from the member's threads.
struct Arriving {
    incoming: Receiver<Incoming>,
    answers: Receiver<Answered>,
    registered: Receiver<Registered>,
    policies: Receiver<PolicyNews>,
    intents: Receiver<IntentAnswered>,
}

/// A member of a cluster, and the task that keeps it: it leads when elected, and follows when not. The task ends with the
/// reason for which the member has no place.
pub(crate) fn member(
    engine: Shared,
    joined: Joined,
    standing: SharedStanding,
    (channels, tls): (Sender<channels::Incoming>, Option<OpenFlowTls>),
) -> (Handle, impl Future<Output = io::Error>) {
    let Joined { name, identity, etcd, listener, registry } = joined;
    let (local, shared) = (registry.local.clone(), registry.shared.clone());
    let (address, key) = (registry.record.address.clone(), registry.key);
    let own = listener.local_addr().map_or(Ipv4Addr::LOCALHOST.into(), |it| it.ip());
    let (incoming_sender, incoming) = channel(MAX_WAITING);
    let (refusals, publication) = (Refusals::new(incoming_sender.clone()), Publication::default());
    let presence = engine.borrow().switches().presence().clone();
    let fronts = Fronts::start(local.clone(), refusals.clone(), presence, channels, tls);
    let admission = Some(fronts.admission(shared.leads.clone()));
    let services = Services { publication: publication.clone(), admission };
    peers::accept(listener, local.clone(), incoming_sender, services);
    let following = Following::start(local.clone(), refusals.clone());
    let feed = Feed::new(publication.clone());
    let (answer_sender, answers) = channel(MAX_WAITING);
    let (requests, queue) = mpsc::channel();
    let (policies, wanted) = mpsc::channel();
    let (policy_sender, policy_news) = channel(MAX_WAITING);
    let (intent_sender, intents) = channel(MAX_WAITING);
    let (intent_requests, intent_queue) = mpsc::channel();
    let (registered_sender, registered) = channel(MAX_WAITING);
    let (store, policy_store, intent_store) = (etcd.clone(), etcd.clone(), etcd.clone());
    let writer = Writer { member: identity.id.clone(), run: identity.run };
    peers::spawn("cluster-intents", move || {
        intents::ask(intent_store, &writer, &intent_queue, &intent_sender);
    });
    peers::spawn("cluster-policy", move || policy::keep(policy_store, &wanted, &policy_sender));
    peers::spawn("cluster-registry", move || registry.keep(&registered_sender));
    let (asking, gate) = (identity.id.clone(), shared.clone());
    peers::spawn("cluster-store", move || ask((etcd, gate), &asking, &queue, &answer_sender));
    standing.name(identity.id.as_str());
    let now = engine.borrow().now();
    info!(cluster = name, member = %identity.id, "a member of a cluster");
    let member = Member::new(now, identity, Settings::default());
    let (told, peers, registered_before) = (Term(0), BTreeMap::new(), shared);
    let assignments = Assignments::new(engine.clone(), intent_requests);
    let cluster = Cluster {
        engine,
        local,
        refusals,
        address,
        own,
        key,
        registered: registered_before,
        member,
        requests,
        store,
        peers,
        apis: BTreeMap::new(),
        standing,
        policies,
        assignments,
        feed,
        publication,
        following,
        fact_senders: BTreeSet::new(),
        fronts,
        fronted: BTreeSet::new(),
        told,
        counted: None,
        stepped_aside: 0,
        corrupt: None,
    };
    let (cluster, woken) = (Rc::new(RefCell::new(cluster)), Rc::new(Notify::new()));
    let handle = Handle { cluster, woken };
    (handle.clone(), keep(handle, Arriving { incoming, answers, registered, policies: policy_news, intents }))
}

/// Lets the member do what is due, as long as it has a place.
async fn keep(handle: Handle, arriving: Arriving) -> io::Error {
    let Handle { cluster, woken } = handle;
    let Arriving { mut incoming, mut answers, mut registered, mut policies, mut intents } = arriving;
    loop {
        let sleep = cluster.borrow_mut().drain();
        tokio::select! {
            Some(message) = incoming.recv() => cluster.borrow_mut().take(message),
            Some(answer) = answers.recv() => cluster.borrow_mut().take_answer(answer),
            Some(news) = registered.recv() => {
                if let Err(error) = cluster.borrow_mut().take_registered(news) {
                    return error;
                }
            }
            Some(news) = policies.recv() => cluster.borrow().apply(news),
            Some(answer) = intents.recv() => cluster.borrow_mut().take_intents(answer),
            () = woken.notified() => {}
            () = tokio::time::sleep(sleep) => {}
        }
        let mut cluster = cluster.borrow_mut();
        // The rest of what has arrived comes first, so that nobody counts as silent because this thread was.
        while let Ok(message) = incoming.try_recv() {
            cluster.take(message);
        }
        while let Ok(answer) = answers.try_recv() {
            cluster.take_answer(answer);
        }
        cluster.turn();
    }
}

/// Asks etcd what the member wants to know. One without a place gets no answer, so that it is not elected.
fn ask(
    (mut etcd, gate): (Etcd, registry::Shared),
    member: &MemberId,
    queue: &mpsc::Receiver<(RequestId, StoreRequest)>,
    answers: &Sender<Answered>,
) {
    while let Ok(first) = queue.recv() {
        // The member has given up what it asked for before.
        let (id, request) = queue.try_iter().last().unwrap_or(first);
        let has_place = gate.is_registered.load(Ordering::Relaxed);
        let answer = if has_place { etcd.answer(member, request) } else { None };
        if answers.blocking_send((id, answer)).is_err() {
            return;
        }
    }
}

impl Cluster {
    pub(super) fn now(&self) -> Time {
        self.engine.borrow().now()
    }

    /// Passes on a request that concerns nobody but this controller.
    pub(super) fn ask(&self, request: Request, answer: oneshot::Sender<Reply>) {
        self.engine.borrow_mut().ask(request, answer);
    }

    /// The newest term that a switch has seen and no member has raised; the oldest of all if there is none.
    pub(super) fn foreign_term(&self) -> Term {
        self.engine.borrow().switches().newest_foreign_term().unwrap_or_default()
    }

    /// What has happened meanwhile, and what is due.
    fn turn(&mut self) {
        let (now, newest) = {
            let engine = self.engine.borrow();
            (engine.now(), engine.switches().newest_term())
        };
        if newest.is_newer_than(self.told) {
            self.told = newest;
            if self.member.leads() && self.engine.borrow().switches().term().is_none() {
                // Standbys need not hear that the engine has just left all switches to another member.
                self.feed.follow(&self.engine);
            }
            self.member.handle_switch_term(now, newest);
        }
        // The engine's thread has come to this: it does not hang.
        self.member.handle_progress();
        self.tell_reach(now);
        if now >= self.member.poll_timeout() {
            self.member.handle_timeout(now);
        }
    }

    fn take(&mut self, incoming: Incoming) {
        let now = self.now();
        match incoming {
            Incoming::Message(from, message) => self.member.handle_message(now, &from, message),
            Incoming::Opened(from, connection) => self.member.handle_opened(&from, connection),
            Incoming::Closed(from, connection) => self.member.handle_closed(now, &from, connection),
            Incoming::Refused { peer, why, count } => {
                self.engine.borrow_mut().raise_alarm(peer, Threat::ForeignMember { why }, count);
            }
        }
    }

    fn take_answer(&mut self, (id, answer): Answered) {
        let now = self.now();
        self.member.handle_store(now, id, answer);
    }

    /// An alarm about this controller itself.
    fn alarm(&self, threat: Threat) {
        self.engine.borrow_mut().raise_alarm(self.own, threat, 1);
    }

    /// A policy that holds from now on, or one that cannot be read.
    fn apply(&self, news: PolicyNews) {
        match news {
            PolicyNews::Kept { text, answer } => {
                info!("the cluster has a new policy");
                crate::policy::set(&self.engine, text);
                // The client may have gone.
                let _ = answer.map(|answer| answer.send(Ok(self.now())));
            }
            PolicyNews::Corrupt { why } => self.alarm(Threat::CorruptStore { why }),
        }
    }

    fn take_intents(&mut self, answered: IntentAnswered) {
        let threat = self.assignments.take_answer(answered);
        threat.into_iter().for_each(|threat| self.alarm(threat));
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
            self.follow(event);
        }
        self.note_standing();
        let due = [self.assignments.turn(), self.feed.turn(&self.engine)];
        due.into_iter().flatten().fold(self.member.poll_timeout(), Time::min).since(self.now())
    }

    /// Tells the API who leads.
    fn note_standing(&self) {
        let leader = self.member.leader(self.now()).filter(|_| !self.member.leads());
        self.following.set_leader(leader.as_ref().and_then(|(leader, _)| self.leading(leader)));
        self.note_leader_of_fronts(leader.map(|(leader, _)| leader));
        let leader = leader.map(|(leader, _)| LeaderApi {
            name: leader.to_string(),
            url: self.apis.get(leader).cloned().flatten(),
        });
        self.standing.note(self.member.leads(), leader);
    }

    /// Does what follows from an event of the member.
    fn follow(&mut self, event: Event) {
        match event {
            Event::Elected { term } => {
                info!(%term, "this controller leads the cluster");
                self.registered.leads.store(true, Ordering::Relaxed);
                self.recall();
                self.engine.borrow_mut().switches_mut().lead(term);
                self.feed.lead(self.now());
                self.assignments.lead(term);
            }
            Event::Deposed { newest, is_handed_over } => {
                warn!(%newest, "another controller leads the cluster");
                self.registered.leads.store(false, Ordering::Relaxed);
                self.engine.borrow_mut().follow(newest);
                self.feed.follow(&self.engine);
                self.assignments.follow();
                if !is_handed_over {
                    self.alarm(Threat::LeadershipLost { why: DEPOSED.to_owned() });
                }
            }
            Event::SteppedAside { to, own, theirs } => self.note_stepped_aside(&to, own, theirs),
            Event::Store { answers: true } => info!("the cluster's store answers again"),
            Event::Store { answers: false } => {
                let reason = self.store.failure().map(|why| format!(" ({why})")).unwrap_or_default();
                let why =
                    format!("the cluster's store does not answer this controller{reason}: {NOT_ELECTED}");
                self.alarm(Threat::StoreUnreachable { why });
            }
        }
    }
}

const DEPOSED: &str = "this controller led its cluster and was replaced, since others did not hear it in time or it lost its \
     lease: look for what delayed it; `braid cluster status` says who leads";
const NOT_ELECTED: &str =
    "whoever leads goes on, and this one is not elected; look after etcd and the network to it";
