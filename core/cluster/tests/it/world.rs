//! The model: members, the store, switches, and the networks between them, in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use braid_cluster::{ConnectionId, Event, IntentAnswer, Message, RequestId, StoreAnswer, StoreRequest};
use braid_types::{SplitMix64, Term, Time};

use crate::clients::Asked;
use crate::node::{Claimed, Node};
use crate::promises::Promises;
use crate::store::Store;
use crate::switch::{Order, Reply, Switch};

/// The interval of a leader's writes.
const WRITES: Duration = Duration::from_millis(50);

/// Two ends that may be cut off from each other, in one direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum End {
    Member(usize),
    Store,
    Switch(usize),
}

pub(crate) enum Item {
    Timer { wake: u64 },
    Turn,
    Message { from: usize, message: Message },
    Opened { from: usize, connection: ConnectionId },
    Closed { from: usize, connection: ConnectionId },
    Answer { id: RequestId, answer: Option<StoreAnswer> },
    IntentAnswer { id: RequestId, answer: Option<IntentAnswer> },
    Reply { switch: usize, reply: Reply },
}

pub(crate) enum Happening {
    /// For a run of a member.
    To {
        member: usize,
        run: u32,
        item: Item,
    },
    Ask {
        member: usize,
        run: u32,
        id: RequestId,
        request: StoreRequest,
    },
    AskIntents(Asked),
    Order {
        member: usize,
        run: u32,
        switch: usize,
        order: Order,
    },
}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) random: SplitMix64,
    /// For API clients and intents, so that elections do not depend on them.
    pub(crate) clients: SplitMix64,
    pub(crate) nodes: Vec<Node>,
    pub(crate) store: Store,
    pub(crate) switches: Vec<Switch>,
    /// Directions in which nothing passes.
    pub(crate) cuts: BTreeSet<(End, End)>,
    /// Of so many thousand messages one is lost.
    pub(crate) loss: f64,
    pub(crate) delay: Duration,
    queue: BTreeMap<(Time, u64), Happening>,
    last: u64,
    /// What happens to members that are stopped.
    waiting: Vec<Vec<Item>>,
    /// Connections of switches keep their order: when the last order arrives.
    order: BTreeMap<(usize, usize), Time>,
    /// Who led in each term.
    leaders: BTreeMap<u64, usize>,
    pub(crate) elections: usize,
    /// Who stood down, and whether that was asked for.
    pub(crate) depositions: Vec<(usize, bool)>,
    /// When members have stepped aside by themselves.
    pub(crate) stepped_aside: Vec<(Time, usize)>,
    /// What API calls were answered for.
    pub(crate) promises: Promises,
}

impl World {
    pub(crate) fn new(seed: u64, members: usize, switches: usize) -> Self {
        let mut random = SplitMix64::new(seed);
        let now = Time::ZERO;
        let mut nodes = Vec::new();
        for index in 0..members {
            let skew = Duration::from_millis(random.below(3_600_000) as u64);
            nodes.push(Node::new(now, index, switches, random.next_u64(), skew));
        }
        let mut world = Self {
            now,
            random,
            clients: SplitMix64::new(!seed),
            nodes,
            store: Store::default(),
            switches: (0..switches).map(|_| Switch::default()).collect(),
            cuts: BTreeSet::new(),
            loss: 0.0,
            delay: Duration::from_millis(1),
            queue: BTreeMap::new(),
            last: 0,
            waiting: (0..members).map(|_| Vec::new()).collect(),
            order: BTreeMap::new(),
            leaders: BTreeMap::new(),
            elections: 0,
            depositions: Vec::new(),
            stepped_aside: Vec::new(),
            promises: Promises::default(),
        };
        for member in 0..members {
            world.begin(member);
        }
        world
    }

    /// Lets time pass.
    pub(crate) fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(next) = self.queue.first_entry().filter(|next| next.key().0 <= end) {
            let ((at, _), happening) = next.remove_entry();
            self.now = self.now.max(at);
            self.happen(happening);
        }
        self.now = end;
    }

    /// Lets time pass until this holds; the time that it took.
    pub(crate) fn run_until(&mut self, limit: Duration, holds: impl Fn(&Self) -> bool) -> Option<Duration> {
        let start = self.now;
        while !holds(self) {
            if self.now.since(start) >= limit {
                return None;
            }
            self.run_for(Duration::from_millis(5));
        }
        Some(self.now.since(start))
    }

    /// The member that leads in the newest term and is master of every switch, if all others stand by.
    pub(crate) fn settled_leader(&self) -> Option<usize> {
        let mut leaders = self.nodes.iter().filter(|node| node.runs() && node.member.leads());
        let (leader, other) = (leaders.next()?, leaders.next());
        let term = leader.member.term()?;
        let connection = (leader.index, leader.run);
        let is_master = |it: &Switch| it.master == Some(connection) && it.newest() == Some(term);
        (other.is_none() && self.switches.iter().all(is_master)).then_some(leader.index)
    }

    /// Whether the store's leader is a run that has been replaced.
    pub(crate) fn is_led_by_the_dead(&self) -> bool {
        let leader = self.store.view().leader;
        leader.is_some_and(|leader| self.nodes.iter().all(|node| node.run_id != leader.run))
    }

    pub(crate) fn pause(&mut self, member: usize) {
        self.nodes[member].is_paused = true;
    }

    pub(crate) fn resume(&mut self, member: usize) {
        if !std::mem::take(&mut self.nodes[member].is_paused) {
            return;
        }
        for item in std::mem::take(&mut self.waiting[member]) {
            self.take(member, item);
        }
    }

    /// Ends the process, so that its connections close.
    pub(crate) fn kill(&mut self, member: usize) {
        self.nodes[member].is_down = true;
        self.waiting[member].clear();
        let connection = self.connection(member);
        for other in self.reached(member) {
            // The end of a connection may be noticed after the next one has begun.
            let after = self.delay.mul_f64(0.2 + 1.8 * self.random.next_f64());
            self.send(other, after, Item::Closed { from: member, connection });
        }
    }

    /// The connection of a member's current run with each other member.
    fn connection(&self, member: usize) -> ConnectionId {
        ConnectionId(u64::from(self.nodes[member].run))
    }

    fn reached(&self, member: usize) -> Vec<usize> {
        let others = (0..self.nodes.len()).filter(|other| *other != member);
        others.filter(|other| !self.is_cut(End::Member(member), End::Member(*other))).collect()
    }

    pub(crate) fn restart(&mut self, member: usize) {
        if self.nodes[member].is_down {
            let seed = self.random.next_u64();
            self.nodes[member].restart(self.now, seed);
            self.begin(member);
        }
    }

    fn begin(&mut self, member: usize) {
        let connection = self.connection(member);
        for other in (0..self.nodes.len()).filter(|other| *other != member) {
            self.send(other, Duration::ZERO, Item::Opened { from: member, connection });
            let back = self.connection(other);
            self.send(member, Duration::ZERO, Item::Opened { from: other, connection: back });
        }
        self.drain(member);
        self.send(member, WRITES, Item::Turn);
    }

    pub(crate) fn schedule(&mut self, at: Time, happening: Happening) {
        self.last += 1;
        self.queue.insert((at, self.last), happening);
    }

    fn send(&mut self, member: usize, after: Duration, item: Item) {
        let run = self.nodes[member].run;
        self.schedule(self.now + after, Happening::To { member, run, item });
    }

    fn is_cut(&self, from: End, to: End) -> bool {
        self.cuts.contains(&(from, to))
    }

    /// The time that a message takes; `None` if it is lost.
    pub(crate) fn passes(&mut self, from: End, to: End) -> Option<Duration> {
        if self.is_cut(from, to) || self.random.next_f64() < self.loss {
            return None;
        }
        Some(self.delay.mul_f64(0.2 + 1.8 * self.random.next_f64()))
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::To { member, run, item } => {
                let node = &self.nodes[member];
                if node.run != run || node.is_down {
                    return;
                }
                if node.is_paused { self.waiting[member].push(item) } else { self.take(member, item) }
            }
            Happening::Ask { member, run, id, request } => {
                let from = self.nodes[member].id.clone();
                let answer = self.store.handle(self.now, &from, request);
                let delay = self.store.delay;
                if let (Some(after), true) = (self.passes(End::Store, End::Member(member)), answer.is_some())
                {
                    let item = Item::Answer { id, answer };
                    self.schedule(self.now + after + delay, Happening::To { member, run, item });
                }
            }
            Happening::AskIntents(asked) => self.answer_intents(asked),
            Happening::Order { member, run, switch, order } => {
                let reply = self.switches[switch].handle((member, run), order);
                let after = self.passes(End::Switch(switch), End::Member(member));
                if let (Some(after), Some(reply)) = (after, reply) {
                    let item = Item::Reply { switch, reply };
                    self.schedule(self.now + after, Happening::To { member, run, item });
                }
            }
        }
    }

    fn take(&mut self, member: usize, item: Item) {
        let from = match &item {
            Item::Message { from, .. } | Item::Opened { from, .. } | Item::Closed { from, .. } => {
                Some(self.nodes[*from].id.clone())
            }
            _ => None,
        };
        if let Item::Message { message, .. } = &item {
            self.note_message(member, *message);
        }
        let node = &mut self.nodes[member];
        let local = node.local(self.now);
        match (item, from) {
            (Item::Timer { wake }, _) if wake == node.wake => node.handle_timeout(local),
            (Item::IntentAnswer { id, answer }, _) => node.intents.handle_answer(local, id, answer),
            (Item::Message { message, .. }, Some(from)) => node.member.handle_message(local, &from, message),
            (Item::Opened { connection, .. }, Some(from)) => node.member.handle_opened(&from, connection),
            (Item::Closed { connection, .. }, Some(from)) => {
                node.member.handle_closed(local, &from, connection);
            }
            (Item::Answer { id, answer }, _) => node.member.handle_store(local, id, answer),
            (Item::Reply { switch, reply }, _) => match reply {
                Reply::Alive => node.probes.note_answer(self.now, switch),
                Reply::Master(term) => node.roles[switch] = Claimed { master: Some(term), refused: None },
                Reply::Refused(newest) => {
                    node.roles[switch] = Claimed { master: None, refused: Some(newest) };
                    node.member.handle_switch_term(local, newest);
                }
            },
            (Item::Turn, _) => return self.turn(member),
            _ => return,
        }
        self.drain(member);
    }

    /// A turn of a controller's brain: it writes where it is master, and claims where it is not.
    fn turn(&mut self, member: usize) {
        self.send(member, WRITES, Item::Turn);
        if self.nodes[member].hangs {
            return;
        }
        self.nodes[member].member.handle_progress();
        self.probe(member);
        let Some(term) = self.nodes[member].member.term() else { return self.drain(member) };
        for switch in 0..self.switches.len() {
            let Claimed { master, refused } = self.nodes[member].roles[switch];
            if refused.is_some_and(|newest| !term.is_newer_than(newest)) {
                continue;
            }
            let order = if master == Some(term) { Order::Write(term) } else { Order::Claim(term) };
            self.order(member, switch, order);
        }
        self.drain(member);
    }

    pub(crate) fn order(&mut self, member: usize, switch: usize, order: Order) {
        let Some(after) = self.passes(End::Member(member), End::Switch(switch)) else { return };
        let last = self.order.get(&(member, switch)).copied().unwrap_or_default();
        let at = (self.now + after).max(last);
        self.order.insert((member, switch), at);
        let run = self.nodes[member].run;
        self.schedule(at, Happening::Order { member, run, switch, order });
    }

    /// Does what a member asks for.
    pub(crate) fn drain(&mut self, member: usize) {
        while let Some(event) = self.nodes[member].member.poll_event() {
            match event {
                Event::Elected { term } => {
                    self.note_leader(member, term);
                    let node = &mut self.nodes[member];
                    node.intents.lead(node.local(self.now), term);
                }
                Event::Deposed { is_handed_over, .. } => {
                    self.depositions.push((member, is_handed_over));
                    self.nodes[member].intents.follow();
                    self.nodes[member].brain.clear();
                }
                Event::SteppedAside { own, theirs, .. } => self.note_stepped_aside(member, own, theirs),
                Event::Store { .. } => {}
            }
        }
        let run = self.nodes[member].run;
        while let Some((id, request)) = self.nodes[member].member.poll_store() {
            if let Some(after) = self.passes(End::Member(member), End::Store) {
                let ask = Happening::Ask { member, run, id, request };
                self.schedule(self.now + after, ask);
            }
        }
        self.drain_intents(member);
        while let Some(outgoing) = self.nodes[member].member.poll_message() {
            for to in (0..self.nodes.len()).filter(|to| *to != member) {
                let is_meant = outgoing.to.as_ref().is_none_or(|wanted| *wanted == self.nodes[to].id);
                if is_meant && let Some(after) = self.passes(End::Member(member), End::Member(to)) {
                    self.send(to, after, Item::Message { from: member, message: outgoing.message });
                }
            }
        }
        let node = &mut self.nodes[member];
        node.wake += 1;
        let (wake, at) = (node.wake, node.timer());
        let after = at.since(self.now);
        self.send(member, after, Item::Timer { wake });
    }

    fn note_leader(&mut self, member: usize, term: Term) {
        self.elections += 1;
        let before = self.leaders.insert(term.0, member);
        assert!(before.is_none_or(|before| before == member), "two leaders of term {term}");
    }
}
