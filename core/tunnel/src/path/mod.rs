//! One path: sessions over one pair of uplinks, from the first handshake on.
//!
//! ```text
//!            dial                     challenge: again, with the cookie
//!   idle ───────────▶ initiated ◀──────────────────┐
//!                        │  └───────────────────────┘
//!                        │ response
//!                        ▼
//!   current ──▶ previous, which still receives until the next rekey
//!      ▲
//!      │ first datagram of its keys
//!   next ◀── initiation accepted (the end that is dialled)
//! ```

mod mtu;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use braid_types::{Backoff, Time};

use crate::cookie::COOKIE_LIFETIME;
use crate::endpoint::Dial;
use crate::noise::{Initiated, Suite};
use crate::session::{Opened, REKEY_AFTER, Session};
use crate::wire::{COOKIE, DATA_OVERHEAD, Sealed, Terms};
pub(crate) use mtu::LEAST as LEAST_MTU;
use mtu::MtuSearch;

/// A path over which nothing was received for this long is asked whether it is there; that also keeps translators' memory.
const PING_AFTER: Duration = Duration::from_secs(10);
/// What was sent was answered by nothing for this long: the path is down, and the dialling end begins anew.
const SILENCE: Duration = Duration::from_secs(3);
const PING_AGAIN: Duration = Duration::from_secs(1);
/// The waits between handshakes that are not answered.
const HANDSHAKE_RETRY: Backoff = Backoff::between(Duration::from_secs(1), Duration::from_secs(5));
/// An address that changes and changes back so often in such intervals is two sites with one key.
const CONFLICT: Duration = Duration::from_secs(15);
const CONFLICT_TURNS: u8 = 4;
/// The initiations that are remembered, so that none is accepted twice while its cookie counts.
const MAX_RECENT: usize = 256;

/// A path's sessions and timers. Its methods return what is to be done; the endpoint does it.
pub(crate) struct Path {
    /// Its number for the end that dials.
    pub(crate) number: u8,
    pub(crate) uplink: u8,
    pub(crate) is_dialled_here: bool,
    /// Where this end dials; `None` while that is not known, or if it is dialled.
    pub(crate) dials: Option<SocketAddr>,
    /// Where authentic datagrams came from last.
    pub(crate) remote: Option<SocketAddr>,
    current: Option<Session>,
    previous: Option<Session>,
    next: Option<Session>,
    handshake: Option<Handshake>,
    retry_at: Time,
    /// The last wait; `None` before the first try.
    retry: Option<Duration>,
    /// Those that the other end has sent last.
    terms: Option<(Time, Terms)>,
    takes_terms: bool,
    last_received: Time,
    last_sent: Time,
    /// The first question since the last datagram was received.
    unanswered: Option<Time>,
    last_ping: Time,
    is_up: bool,
    mtu: MtuSearch,
    recent: VecDeque<[u8; 8]>,
    conflict: Conflict,
    pub(crate) handshakes: u64,
}

/// A handshake that this end has begun.
pub(crate) struct Handshake {
    pub(crate) local: u32,
    pub(crate) state: Initiated,
    pub(crate) mac: [u8; COOKIE],
}

/// Sessions of one path that begin at two addresses in turn.
#[derive(Clone, Copy, Default)]
struct Conflict {
    last: Option<(Time, SocketAddr)>,
    turns: u8,
}

/// What is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Dial,
    Ping,
    Down,
}

impl Path {
    /// A path that this end dials.
    pub(crate) fn dialling(now: Time, number: u8, dial: &Dial) -> Self {
        let (dials, remote) = (dial.address, dial.address);
        Self { is_dialled_here: true, dials, remote, ..Self::new(now, number, dial.uplink) }
    }

    /// A path that the other end dials.
    pub(crate) fn new(now: Time, number: u8, uplink: u8) -> Self {
        Self {
            number,
            uplink,
            is_dialled_here: false,
            dials: None,
            remote: None,
            current: None,
            previous: None,
            next: None,
            handshake: None,
            retry_at: now,
            retry: None,
            terms: None,
            takes_terms: false,
            last_received: now,
            last_sent: now,
            unanswered: None,
            last_ping: now,
            is_up: false,
            mtu: MtuSearch::new(now),
            recent: VecDeque::new(),
            conflict: Conflict::default(),
            handshakes: 0,
        }
    }

    pub(crate) const fn is_up(&self) -> bool {
        self.is_up
    }

    /// The longest content of a datagram that passes whole.
    pub(crate) fn max_content(&self) -> usize {
        usize::from(self.mtu.found()).saturating_sub(DATA_OVERHEAD)
    }

    /// Seals a datagram with the newest keys that the other end is known to have.
    pub(crate) fn seal(&mut self, now: Time, content: &[u8], bytes: Vec<u8>) -> Option<Vec<u8>> {
        self.current.as_mut().filter(|session| session.is_usable(now))?.seal(content, bytes)
    }

    /// Notes that traffic was sent: while it is, silence is noticed sooner.
    pub(crate) const fn note_sent(&mut self, now: Time) {
        self.last_sent = now;
    }

    /// Opens a datagram of one of its sessions; its sender may have a new address. The content takes the memory of `buffer`.
    pub(crate) fn open(&mut self, now: Time, sealed: Sealed<'_>, buffer: Vec<u8>) -> Option<Opened> {
        let local = sealed.receiver;
        let sessions = [&mut self.current, &mut self.next, &mut self.previous];
        let session = sessions.into_iter().flatten().find(|session| session.local == local)?;
        let opened = session.is_usable(now).then(|| session.open(sealed, buffer))??;
        if self.next.as_ref().is_some_and(|next| next.local == local) {
            self.previous = std::mem::replace(&mut self.current, self.next.take());
            self.begin(now);
        }
        (self.last_received, self.unanswered) = (now, None);
        Some(opened)
    }

    /// The other end was heard there: whether it has moved. A dialled path stays on its uplink.
    pub(crate) fn follow(&mut self, uplink: u8, from: SocketAddr) -> bool {
        let uplink = if self.is_dialled_here { self.uplink } else { uplink };
        let before = (self.uplink, self.remote);
        (self.uplink, self.remote) = (uplink, Some(from));
        before != (uplink, Some(from))
    }

    /// Whether the path has come up with what was just received.
    pub(crate) const fn come_up(&mut self) -> bool {
        !std::mem::replace(&mut self.is_up, true)
    }

    /// What is due, once each time.
    pub(crate) fn poll_due(&mut self, now: Time, may_dial: bool) -> Option<Due> {
        self.current.take_if(|session| !session.is_usable(now));
        if self.is_up && (self.is_silent(now) || self.current.is_none()) {
            self.is_up = false;
            return Some(Due::Down);
        }
        if may_dial && self.wants_handshake(now) && self.retry_at <= now {
            let wait = HANDSHAKE_RETRY.after(self.retry);
            (self.retry_at, self.retry) = (now + wait, Some(wait));
            self.takes_terms = true;
            return Some(Due::Dial);
        }
        let pings = self.current.is_some() && self.ping_at() <= now;
        pings.then(|| self.last_ping = now)?;
        self.unanswered.get_or_insert(now);
        Some(Due::Ping)
    }

    /// The lengths of datagrams to probe now.
    pub(crate) fn poll_mtu_probes(&mut self, now: Time) -> Vec<u16> {
        let headers = if self.remote.is_some_and(|it| it.is_ipv6()) { 48 } else { 28 };
        if self.is_up { self.mtu.poll_probes(now, headers) } else { Vec::new() }
    }

    pub(crate) fn handle_mtu_answer(&mut self, length: u16) {
        self.mtu.handle_answer(length);
    }

    /// When something is due next, if this end may dial.
    pub(crate) fn poll_timeout(&self, now: Time, may_dial: bool) -> Option<Time> {
        let silence = self.unanswered.filter(|_| self.is_up).map(|since| since + SILENCE);
        let rekey = self.current.as_ref().map(|session| (session.since + REKEY_AFTER).max(self.retry_at));
        let rekey = rekey.filter(|_| may_dial);
        let dial = (may_dial && self.wants_handshake(now)).then_some(self.retry_at);
        let ping = self.current.as_ref().map(|_| self.ping_at());
        let mtu = self.is_up.then(|| self.mtu.poll_timeout());
        [silence, rekey, dial, ping, mtu].into_iter().flatten().min()
    }

    fn ping_at(&self) -> Time {
        let wait = if self.last_sent > self.last_received { PING_AGAIN } else { PING_AFTER };
        (self.last_received + wait).max(self.last_ping + PING_AGAIN)
    }

    fn is_silent(&self, now: Time) -> bool {
        self.unanswered.is_some_and(|since| now.since(since) >= SILENCE)
    }

    fn wants_handshake(&self, now: Time) -> bool {
        self.current.as_ref().is_none_or(|session| session.is_due_for_rekey(now)) || self.is_silent(now)
    }

    /// The uplink is gone: whether the path was up.
    pub(crate) const fn lose(&mut self) -> bool {
        std::mem::replace(&mut self.is_up, false)
    }

    /// The uplink or its address has changed: tries at once.
    pub(crate) fn hurry(&mut self, now: Time) {
        (self.retry_at, self.retry) = (now, None);
        (self.last_received, self.last_ping) = (now - PING_AFTER, now - PING_AGAIN);
        self.mtu.restart(now);
    }

    /// Where this end dials has changed: tries at once unless it is up, where it was heard.
    pub(crate) fn set_address(&mut self, now: Time, address: SocketAddr) {
        self.dials = Some(address);
        if !self.is_up {
            self.remote = Some(address);
            self.hurry(now);
        }
    }

    /// The cookie to show, and the ciphers that the other end prefers; without a cookie, it will be asked for both.
    pub(crate) fn terms(&self, now: Time) -> Terms {
        // The cookie may count for twice as long; one that does not costs a challenge.
        let most = COOKIE_LIFETIME.saturating_mul(2);
        let fresh = self.terms.filter(|(since, _)| now.since(*since) < most);
        fresh.map(|(_, terms)| terms).unwrap_or_default()
    }

    /// Takes the other end's terms; whether to begin again at once with them, which happens once for each attempt.
    pub(crate) fn handle_terms(&mut self, now: Time, terms: Terms) -> bool {
        self.terms = Some((now, terms));
        std::mem::take(&mut self.takes_terms)
    }

    pub(crate) fn await_response(&mut self, handshake: Handshake) {
        self.handshake = Some(handshake);
    }

    pub(crate) fn handshake(&self) -> Option<&Handshake> {
        self.handshake.as_ref()
    }

    /// The other end has answered: the session begins.
    pub(crate) fn handle_response(&mut self, now: Time, remote_index: u32, noise: &[u8]) -> bool {
        // A wrong one does not end the handshake: the right one may be on its way.
        let handshake = self.handshake.take_if(|handshake| handshake.state.read(noise));
        let Some(handshake) = handshake else { return false };
        let Some(ciphers) = handshake.state.finish() else { return false };
        let session = Session::new(now, handshake.local, remote_index, ciphers);
        self.previous = self.current.replace(session);
        (self.last_received, self.unanswered) = (now, None);
        self.begin(now);
        true
    }

    /// The other end has begun a handshake; the session is used once it has shown that it has the keys.
    pub(crate) fn accept(&mut self, session: Session) {
        self.next = Some(session);
    }

    /// Whether an initiation with this ephemeral key was not seen before.
    pub(crate) fn remember(&mut self, ephemeral: [u8; 8]) -> bool {
        if self.recent.contains(&ephemeral) {
            return false;
        }
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(ephemeral);
        true
    }

    /// Notes where a session begins; whether two ends with one key displace each other.
    pub(crate) fn note_beginning(&mut self, now: Time, from: SocketAddr) -> bool {
        let displaces = |(at, address): (Time, SocketAddr)| address != from && now.since(at) < CONFLICT;
        let is_turn = self.conflict.last.replace((now, from)).is_some_and(displaces);
        self.conflict.turns = if is_turn { self.conflict.turns.saturating_add(1) } else { 0 };
        self.conflict.turns == CONFLICT_TURNS
    }

    /// The ciphers of the session that sends.
    pub(crate) fn suite(&self) -> Option<Suite> {
        self.current.as_ref().map(Session::suite)
    }

    /// The local names of all sessions and of the handshake.
    pub(crate) fn names(&self) -> impl Iterator<Item = u32> {
        let sessions = [&self.current, &self.previous, &self.next];
        let handshake = self.handshake.as_ref().map(|handshake| handshake.local);
        sessions.into_iter().flatten().map(|session| session.local).chain(handshake)
    }

    fn begin(&mut self, now: Time) {
        self.handshakes = self.handshakes.saturating_add(1);
        (self.retry_at, self.retry) = (now, None);
    }
}
