//! One site's end of all its tunnels: peers, their paths, and who may begin a session.

mod guard;
mod peers;
mod renumbering;
mod transmit;

use std::collections::VecDeque;
use std::net::SocketAddr;

use braid_types::Time;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::buffers::Buffers;
use crate::content::{FIRST_OWN_KIND, Own};
use crate::cookie;
use crate::keys::{PrivateKey, PublicKey};
use crate::noise::{self, Suite};
use crate::path::{Due, Handshake, Path};
use crate::session::Session;
use crate::wire::{self, Datagram, Initiation, OFFER, Sealed, Terms};
use guard::{Guard, Verdict};
use peers::Peers;
pub(crate) use renumbering::Renumbering;
pub use transmit::{PathStatus, Transmit};

/// The greatest number of paths to a peer, those that this end dials and those that it accepts.
pub const MAX_PATHS: usize = 8;

/// Another site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peer {
    /// Its name and proof.
    pub key: PublicKey,
    /// The paths that this end dials; none if the other end does.
    pub dials: Vec<Dial>,
}

/// A path to dial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dial {
    /// The number of the uplink here.
    pub uplink: u8,
    /// The other site's address; `None` until [`Endpoint::set_address`] tells it.
    pub address: Option<SocketAddr>,
}

/// One path of one peer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PathRef {
    /// The peer's place in the list of peers.
    pub peer: u16,
    /// The path's number here, less than [`MAX_PATHS`].
    pub path: u8,
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A path can be used.
    Up(PathRef),
    /// A path has not answered for three seconds, or its keys have expired.
    Down(PathRef),
    /// The other end sends from another address or arrives at another uplink.
    Roamed(PathRef, SocketAddr),
    /// Somebody else has the peer's private key, or two of its sites have the same.
    KeyConflict(PathRef, SocketAddr),
    /// Content that the other end has sent.
    Content(PathRef, Vec<u8>),
}

/// Counts of datagrams that were refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Refused {
    /// No datagrams of this protocol, or for no session that is known.
    pub strange: u64,
    /// Forged, changed, or sent before.
    pub forged: u64,
    /// Beginnings of sessions beyond the limits.
    pub limited: u64,
    /// Handshakes of keys that no peer has.
    pub unknown_keys: u64,
}

/// Encrypted sessions with all peers. Performs no I/O.
///
/// After any `handle_*` and [`Self::send`], drain [`Self::poll_transmit`] and [`Self::poll_event`], then ask
/// [`Self::poll_timeout`].
pub struct Endpoint {
    key: PrivateKey,
    peers: Peers,
    random: ChaCha20Rng,
    guard: Guard,
    transmits: VecDeque<Transmit>,
    events: VecDeque<Event>,
    refused: Refused,
    buffers: Buffers,
}

impl Endpoint {
    /// An end with these peers; `seed` must be random and secret.
    pub fn new(now: Time, key: PrivateKey, peers: &[Peer], seed: [u8; 32]) -> Self {
        let own = key.public();
        let mut random = ChaCha20Rng::from_seed(seed);
        let guard = Guard::new(&own, random.next_u64());
        Self {
            key,
            peers: Peers::new(now, own, peers),
            random,
            guard,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            refused: Refused::default(),
            buffers: Buffers::default(),
        }
    }

    /// Prefers these ciphers from now on: sessions begin with them if the other end does, too.
    pub const fn prefer(&mut self, suite: Suite) {
        self.guard.suite = suite;
    }

    /// Handles a datagram that arrived at `uplink`. Whatever it is, it costs little unless a peer has sent it.
    pub fn handle_datagram(&mut self, now: Time, uplink: u8, from: SocketAddr, bytes: &[u8]) {
        match Datagram::read(bytes) {
            Some(Datagram::Data(sealed)) => self.handle_data(now, (uplink, from), sealed),
            Some(Datagram::Initiation(initiation)) => {
                self.handle_initiation(now, (uplink, from), &initiation);
            }
            Some(Datagram::Challenge { receiver, terms, mac }) => {
                self.handle_challenge(now, receiver, terms, mac);
            }
            Some(Datagram::Response { receiver, sender, noise }) => {
                self.handle_response(now, receiver, sender, noise);
            }
            None => self.refused.strange = self.refused.strange.saturating_add(1),
        }
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Time) {
        for at in self.peers.all_paths() {
            let may_dial = self.peers.may_dial(at);
            while let Some(due) = self.peers.path_mut(at).and_then(|path| path.poll_due(now, may_dial)) {
                match due {
                    Due::Dial => self.dial(now, at),
                    Due::Ping => self.send_own(now, at, Own::Ping),
                    Due::Down => self.events.push_back(Event::Down(at)),
                }
            }
            let probes = self.peers.path_mut(at).map(|path| path.poll_mtu_probes(now)).unwrap_or_default();
            probes.into_iter().for_each(|length| self.send_own(now, at, Own::MtuProbe(length)));
        }
    }

    /// When to call [`Self::handle_timeout`]; `None` if nothing will be due by itself.
    pub fn poll_timeout(&self, now: Time) -> Option<Time> {
        let paths = self.peers.all_paths();
        let due = |at: &PathRef| self.peers.path(*at)?.poll_timeout(now, self.peers.may_dial(*at));
        paths.iter().filter_map(due).min()
    }

    /// Seals and sends content whose first byte is below 0xf0; whether the path has keys.
    pub fn send(&mut self, now: Time, at: PathRef, content: &[u8]) -> bool {
        self.peers.path_mut(at).into_iter().for_each(|path| path.note_sent(now));
        self.transmit(now, at, content)
    }

    fn transmit(&mut self, now: Time, at: PathRef, content: &[u8]) -> bool {
        let buffer = self.buffers.take();
        let sealed = self.peers.path_mut(at).and_then(|path| {
            Some(Transmit { uplink: path.uplink, to: path.remote?, bytes: path.seal(now, content, buffer)? })
        });
        let is_sent = sealed.is_some();
        self.transmits.extend(sealed);
        is_sent
    }

    /// The next datagram to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// Takes the memory of a datagram or content that is done with, for the next ones.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.buffers.give_back(buffer);
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// An uplink has come back or has another address: its paths try at once.
    pub fn uplink_changed(&mut self, now: Time, uplink: u8) {
        self.peers.by_uplink(uplink).for_each(|path| path.hurry(now));
    }

    /// An uplink is gone: its paths are down until something arrives by them.
    pub fn uplink_lost(&mut self, uplink: u8) {
        for at in self.peers.all_paths() {
            let path = self.peers.path_mut(at).filter(|path| path.uplink == uplink);
            let was_up = path.is_some_and(Path::lose);
            self.events.extend(was_up.then_some(Event::Down(at)));
        }
    }

    /// The address that a path dials is another one; the path tries it at once if it is down.
    pub fn set_address(&mut self, now: Time, at: PathRef, address: SocketAddr) {
        let path = self.peers.path_mut(at).filter(|path| path.is_dialled_here);
        path.into_iter().for_each(|path| path.set_address(now, address));
    }

    /// The longest content that a path carries in one datagram; `None` if it is down.
    pub fn max_content(&self, at: PathRef) -> Option<usize> {
        self.peers.path(at).filter(|path| path.is_up()).map(Path::max_content)
    }

    /// The paths of a peer.
    pub fn paths(&self, peer: u16) -> impl Iterator<Item = PathStatus> {
        self.peers.paths(peer).iter().map(PathStatus::of)
    }

    /// What was refused since the start.
    pub const fn refused(&self) -> Refused {
        self.refused
    }

    fn handle_data(&mut self, now: Time, (uplink, from): (u8, SocketAddr), sealed: Sealed<'_>) {
        let Some(at) = self.peers.named(sealed.receiver) else {
            self.refused.strange = self.refused.strange.saturating_add(1);
            return;
        };
        let Some(path) = self.peers.path_mut(at) else { return };
        let Some(opened) = path.open(now, sealed, self.buffers.take()) else {
            self.refused.forged = self.refused.forged.saturating_add(1);
            return;
        };
        let has_moved = opened.is_newest && path.follow(uplink, from);
        let has_come_up = path.come_up();
        self.events.extend(has_come_up.then_some(Event::Up(at)));
        self.events.extend(has_moved.then_some(Event::Roamed(at, from)));
        self.handle_content(now, at, opened.content);
    }

    fn handle_content(&mut self, now: Time, at: PathRef, content: Vec<u8>) {
        if content.first().is_some_and(|kind| *kind < FIRST_OWN_KIND) {
            self.events.push_back(Event::Content(at, content));
            return;
        }
        match Own::read(&content) {
            Some(Own::Ping) => self.send_own(now, at, Own::Pong),
            Some(Own::MtuProbe(length)) => self.send_own(now, at, Own::MtuAnswer(length)),
            Some(Own::MtuAnswer(length)) => {
                self.peers.path_mut(at).into_iter().for_each(|path| path.handle_mtu_answer(length));
            }
            Some(Own::Pong) | None => {}
        }
    }

    fn send_own(&mut self, now: Time, at: PathRef, own: Own) {
        let content = own.content(|length| usize::from(length).saturating_sub(wire::DATA_OVERHEAD));
        self.transmit(now, at, &content);
    }

    /// Begins a handshake.
    fn dial(&mut self, now: Time, at: PathRef) {
        let (ephemeral, name) = (self.random_bytes(), self.free_name());
        let Some((path, peer, greeting)) = self.peers.with_peer(at) else { return };
        let Some(to) = path.dials else { return };
        let offer: [u8; OFFER] = [path.number, 0, 0, 0];
        let (theirs, mut mac) = (path.terms(now), [0; wire::COOKIE]);
        let terms = Terms { suite: theirs.suite.min(self.guard.suite), ..theirs };
        let begun = noise::initiate(&self.key, &peer, ephemeral, &terms, &offer);
        let Some((state, message)) = begun else { return };
        let bytes = wire::put_initiation(name, &message, terms, |before| {
            mac = cookie::mac(&greeting, &[before]);
            mac
        });
        path.await_response(Handshake { local: name, state, mac });
        // Where the other end was last heard may be an address that it has left.
        let to = path.remote.filter(|_| path.is_up()).unwrap_or(to);
        path.remote = Some(to);
        let uplink = path.uplink;
        self.peers.set_name(name, at);
        self.transmits.push_back(Transmit { uplink, to, bytes });
    }

    fn handle_challenge(&mut self, now: Time, name: u32, terms: Terms, mac: [u8; wire::COOKIE]) {
        let Some(at) = self.peers.named(name) else { return };
        let Some((path, _, greeting)) = self.peers.with_peer(at) else { return };
        // Only who has seen the initiation can answer it.
        let wanted = path.handshake().filter(|handshake| handshake.local == name);
        let wanted = wanted.map(|handshake| cookie::challenge_mac(&greeting, &terms, &handshake.mac));
        if !wanted.is_some_and(|wanted| cookie::equal(wanted, mac)) {
            self.refused.forged = self.refused.forged.saturating_add(1);
        } else if path.handle_terms(now, terms) {
            self.dial(now, at);
        }
    }

    fn handle_response(&mut self, now: Time, name: u32, remote: u32, noise: &[u8]) {
        let Some(at) = self.peers.named(name) else { return };
        let Some(path) = self.peers.path_mut(at) else { return };
        let is_wanted = path.handshake().is_some_and(|handshake| handshake.local == name);
        if !is_wanted || !path.handle_response(now, remote, noise) {
            self.refused.forged = self.refused.forged.saturating_add(1);
            return;
        }
        let has_come_up = path.come_up();
        self.events.extend(has_come_up.then_some(Event::Up(at)));
        // The other end uses the session once it has heard of it.
        self.send_own(now, at, Own::Ping);
        self.peers.forget_names(at);
    }

    fn handle_initiation(&mut self, now: Time, came: (u8, SocketAddr), initiation: &Initiation<'_>) {
        let (random, peers) = (&mut self.random, &self.peers);
        let is_known = || peers.are_at(came.1.ip());
        let verdict = self.guard.judge(now, came, initiation, is_known, || {
            let mut secret = [0; 32];
            random.fill_bytes(&mut secret);
            secret
        });
        match verdict {
            Verdict::Forged => self.refused.forged = self.refused.forged.saturating_add(1),
            Verdict::Limited => self.refused.limited = self.refused.limited.saturating_add(1),
            Verdict::Challenge(bytes) => {
                self.transmits.push_back(Transmit { uplink: came.0, to: came.1, bytes });
            }
            Verdict::Proven => self.accept(now, came, initiation),
        }
    }

    /// Computes a handshake for somebody who is at the address that he sends from.
    fn accept(&mut self, now: Time, (uplink, from): (u8, SocketAddr), initiation: &Initiation<'_>) {
        let ephemeral = self.random_bytes();
        let accepted = noise::accept::<OFFER>(&self.key, ephemeral, &initiation.terms, initiation.noise);
        let Some(accepted) = accepted else {
            self.refused.forged = self.refused.forged.saturating_add(1);
            return;
        };
        let [number, ..] = accepted.payload;
        let Some(at) = self.peers.accepting_path(now, &accepted.peer, number, uplink) else {
            self.refused.unknown_keys = self.refused.unknown_keys.saturating_add(1);
            return;
        };
        let name = self.free_name();
        let Some(path) = self.peers.path_mut(at) else { return };
        let seen = initiation.noise.first_chunk().copied().unwrap_or_default();
        if !path.remember(seen) {
            self.refused.forged = self.refused.forged.saturating_add(1);
            return;
        }
        let Some((response, ciphers)) = accepted.respond() else { return };
        let is_conflict = path.note_beginning(now, from);
        path.accept(Session::new(now, name, initiation.sender, ciphers));
        self.peers.set_name(name, at);
        let bytes = wire::put_response(initiation.sender, name, &response);
        self.transmits.push_back(Transmit { uplink, to: from, bytes });
        self.events.extend(is_conflict.then_some(Event::KeyConflict(at, from)));
    }

    /// A number that nobody can foresee.
    pub(crate) fn random_number(&mut self) -> u64 {
        self.random.next_u64()
    }

    fn random_bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.random.fill_bytes(&mut bytes);
        bytes
    }

    fn free_name(&mut self) -> u32 {
        self.peers.free_name(|| self.random.next_u32())
    }
}
