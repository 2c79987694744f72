//! Connections and subflows of this host, and when to ask for advice about each.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use braid_api::{Advice, AdviceRequest, SubflowEnds};
use braid_types::Backoff;

use crate::pm::{Connection, Event, Token};

/// Connections beyond these are left to themselves: they keep their first subflow.
const MAX_CONNECTIONS: usize = 10_000;
/// The peer's addresses beyond these are not remembered.
const MAX_ADDRESSES: usize = 32;
/// Subflows that failed, of which so many are remembered: the last ones.
const MAX_FAILED: usize = 32;
/// The waits before a question that follows failures.
const RETRY: Backoff = Backoff::between(Duration::from_secs(1), Duration::from_secs(60));
/// How long a failed subflow is reported to the controller: afterwards the cause may be gone.
const LATELY: Duration = Duration::from_secs(90);

/// What is to be done in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Open a subflow.
    Open {
        /// Of this connection.
        token: Token,
        /// Between these ends.
        ends: SubflowEnds,
        /// The number of its local end.
        id: u8,
    },
    /// Close a subflow.
    Close {
        /// Of this connection.
        token: Token,
        /// Between these ends.
        ends: SubflowEnds,
    },
}

/// Why a subflow that was advised is not opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The local address is not this host's.
    #[error("its local address is not this host's")]
    NotOwn,
    /// The peer has not told of this address and port.
    #[error("its remote end is not known to be the peer's")]
    NotThePeers,
    /// Port 0 does not identify a subflow.
    #[error("its local port is 0")]
    NoPort,
    /// It is the first subflow, or was named before.
    #[error("it is there already")]
    Repeated,
    /// It has ended since the question.
    #[error("it has just failed")]
    HasFailed,
    /// There are as many as there may be.
    #[error("there are enough")]
    TooMany,
}

/// The connections that this host has opened, and their subflows.
#[derive(Debug)]
pub struct Connections {
    most: usize,
    known: BTreeMap<Token, Managed>,
}

#[derive(Debug)]
struct Managed {
    first: SubflowEnds,
    announced: BTreeMap<u8, SocketAddr>,
    /// With the numbers of their local ends.
    subflows: BTreeMap<SubflowEnds, u8>,
    failed: Vec<(Instant, SubflowEnds)>,
    suspended: BTreeSet<SubflowEnds>,
    /// How many subflows there were beside the first when one was suspended.
    before: usize,
    /// Before the last question that followed a failure.
    wait: Option<Duration>,
    ask_at: Option<Instant>,
    /// When the unanswered question was asked. A second one would list the subflows of before, and its answer would close the
    /// new ones.
    asked_at: Option<Instant>,
}

impl Connections {
    /// None yet; each is to have up to `most` subflows beside its first.
    #[must_use]
    pub const fn new(most: usize) -> Self {
        Self { most, known: BTreeMap::new() }
    }

    /// Takes note of what happened.
    pub fn handle_event(&mut self, now: Instant, event: &Event) {
        match event {
            Event::Established(connection) if !connection.server_side => self.begin(now, connection),
            Event::Closed { token } => _ = self.known.remove(token),
            Event::Announced { token, id, address, port } => {
                self.change(now, *token, |it| {
                    let port = port.unwrap_or_else(|| it.first.remote.port());
                    if it.announced.len() < MAX_ADDRESSES {
                        it.announced.insert(*id, (*address, port).into());
                    }
                });
            }
            Event::Removed { token, id } => self.change(now, *token, |it| _ = it.announced.remove(id)),
            Event::SubflowEstablished(subflow) => {
                if let Some(it) = self.known.get_mut(&subflow.token) {
                    it.wait = None;
                }
            }
            Event::SubflowClosed(subflow) => self.handle_failure(now, subflow.token, subflow.ends),
            _ => {}
        }
    }

    /// A subflow could not be opened, has ended, or gets nothing through. Asks again after a while, ever longer.
    pub fn handle_failure(&mut self, now: Instant, token: Token, ends: SubflowEnds) {
        let Some(it) = self.known.get_mut(&token) else { return };
        it.suspended.remove(&ends);
        // What was closed on purpose is not there any more.
        if it.subflows.remove(&ends).is_none() && ends != it.first {
            return;
        }
        if it.failed.len() >= MAX_FAILED {
            it.failed.remove(0);
        }
        it.failed.push((now, ends));
        let wait = RETRY.after(it.wait);
        it.wait = Some(wait);
        let at = now + wait;
        it.ask_at = Some(it.ask_at.map_or(at, |before| before.min(at)));
    }

    /// A subflow was suspended, or resumed. While one is suspended, no more are requested than there were before: another
    /// one would take the same path.
    pub fn handle_suspension(&mut self, token: Token, ends: SubflowEnds, is_suspended: bool) {
        let Some(it) = self.known.get_mut(&token) else { return };
        if it.suspended.is_empty() {
            it.before = it.subflows.len();
        }
        match is_suspended {
            true => it.suspended.insert(ends),
            false => it.suspended.remove(&ends),
        };
    }

    /// Orders what makes the connection as advised, as far as that is allowed; says what is not, and why.
    ///
    /// `own` are this host's addresses.
    pub fn handle_advice(
        &mut self,
        now: Instant,
        token: Token,
        advice: &Advice,
        own: &[IpAddr],
    ) -> (Vec<Order>, Vec<(SubflowEnds, Refusal)>) {
        let Some(it) = self.known.get_mut(&token) else { return Default::default() };
        let asked_at = it.asked_at.take();
        let most = it.most(self.most);
        if let Some(seconds) = advice.ask_again_after {
            let at = now + Duration::from_secs(seconds.max(1).into());
            it.ask_at = Some(it.ask_at.map_or(at, |before| before.min(at)));
        }
        let (mut wanted, mut refused) = (Vec::new(), Vec::new());
        for ends in &advice.subflows {
            let judged = it.examine(ends, &wanted, own, most);
            match judged.and_then(|()| it.works_since(asked_at, ends)) {
                Ok(()) => wanted.push(*ends),
                Err(refusal) => refused.push((*ends, refusal)),
            }
        }
        (it.orders(token, &wanted), refused)
    }

    /// The next question, if one is due; it is not due again before it is answered and something changes.
    pub fn poll_question(&mut self, now: Instant, own: &[IpAddr]) -> Option<(Token, AdviceRequest)> {
        let due = |it: &Managed| it.due_at().is_some_and(|at| at <= now);
        let (token, it) = self.known.iter_mut().find(|(_, it)| due(it))?;
        (it.ask_at, it.asked_at) = (None, Some(now));
        it.failed.retain(|(at, _)| now.saturating_duration_since(*at) < LATELY);
        Some((*token, it.question(own, it.most(self.most))))
    }

    /// When the next question is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.known.values().filter_map(Managed::due_at).min()
    }

    /// Every subflow beside the first ones.
    pub fn subflows(&self) -> impl Iterator<Item = (Token, SubflowEnds)> {
        self.known.iter().flat_map(|(token, it)| it.subflows.keys().map(|ends| (*token, *ends)))
    }

    fn begin(&mut self, now: Instant, connection: &Connection) {
        if self.known.get(&connection.token).is_some_and(|known| known.first == connection.ends) {
            return;
        }
        if self.known.len() >= MAX_CONNECTIONS {
            tracing::warn!(token = %connection.token, "too many connections: this one keeps its one subflow");
            return;
        }
        let it = Managed {
            first: connection.ends,
            announced: BTreeMap::new(),
            subflows: BTreeMap::new(),
            failed: Vec::new(),
            suspended: BTreeSet::new(),
            before: 0,
            wait: None,
            ask_at: Some(now),
            asked_at: None,
        };
        self.known.insert(connection.token, it);
    }

    fn change(&mut self, now: Instant, token: Token, change: impl FnOnce(&mut Managed)) {
        if let Some(it) = self.known.get_mut(&token) {
            change(it);
            it.ask_at = Some(now);
        }
    }
}

impl Managed {
    fn remotes(&self) -> impl Iterator<Item = SocketAddr> {
        std::iter::once(self.first.remote).chain(self.announced.values().copied())
    }

    fn due_at(&self) -> Option<Instant> {
        self.ask_at.filter(|_| self.asked_at.is_none())
    }

    /// How many subflows it may have beside its first, of `most`.
    fn most(&self, most: usize) -> usize {
        if self.suspended.is_empty() { most } else { most.min(self.before) }
    }

    fn question(&self, own: &[IpAddr], most: usize) -> AdviceRequest {
        AdviceRequest {
            connection: self.first,
            local_addresses: own.to_vec(),
            remote_addresses: self.remotes().collect(),
            subflows: self.subflows.keys().copied().collect(),
            failed: self.failed.iter().map(|(_, ends)| *ends).collect(),
            max_subflows: most,
        }
    }

    fn examine(
        &self,
        ends: &SubflowEnds,
        wanted: &[SubflowEnds],
        own: &[IpAddr],
        most: usize,
    ) -> Result<(), Refusal> {
        let refuse = |it: bool, refusal| if it { Err(refusal) } else { Ok(()) };
        refuse(wanted.len() >= most, Refusal::TooMany)?;
        refuse(ends.local.port() == 0, Refusal::NoPort)?;
        refuse(!own.contains(&ends.local.ip()), Refusal::NotOwn)?;
        refuse(!self.remotes().any(|remote| remote == ends.remote), Refusal::NotThePeers)?;
        refuse(*ends == self.first || wanted.contains(ends), Refusal::Repeated)
    }

    /// Advice does not reopen a subflow that failed after the question.
    fn works_since(&self, asked_at: Option<Instant>, ends: &SubflowEnds) -> Result<(), Refusal> {
        let is_this = |(at, failed): &(Instant, SubflowEnds)| {
            failed == ends && asked_at.is_some_and(|asked| asked <= *at)
        };
        if self.failed.iter().any(is_this) { Err(Refusal::HasFailed) } else { Ok(()) }
    }

    /// Closes first: a port or a number may be needed again.
    fn orders(&mut self, token: Token, wanted: &[SubflowEnds]) -> Vec<Order> {
        let unwanted: Vec<_> = self.subflows.keys().filter(|ends| !wanted.contains(ends)).copied().collect();
        self.subflows.retain(|ends, _| wanted.contains(ends));
        self.suspended.retain(|ends| *ends == self.first || wanted.contains(ends));
        let close = unwanted.into_iter().map(|ends| Order::Close { token, ends });
        let missing: Vec<_> =
            wanted.iter().filter(|ends| !self.subflows.contains_key(ends)).copied().collect();
        let open: Vec<_> = missing.into_iter().filter_map(|ends| self.open(token, ends)).collect();
        close.chain(open).collect()
    }

    fn open(&mut self, token: Token, ends: SubflowEnds) -> Option<Order> {
        let mut numbers = self.subflows.iter();
        // The same local end has the same number, whatever the other end.
        let same = numbers.find(|(other, _)| other.local == ends.local).map(|(_, id)| *id);
        let free = || (1..=u8::MAX).find(|id| self.subflows.values().all(|taken| taken != id));
        let id = same.or_else(free)?;
        self.subflows.insert(ends, id);
        Some(Order::Open { token, ends, id })
    }
}
