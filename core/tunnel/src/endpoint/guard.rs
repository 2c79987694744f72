//! Who may make this end compute a handshake.

use std::net::SocketAddr;
use std::time::Duration;

use braid_types::{RateLimit, Time, mix};

use crate::cookie::{self, Cookies};
use crate::keys::PublicKey;
use crate::noise::Suite;
use crate::wire::{self, Initiation, Terms};

/// Handshakes a second, of which each takes three multiplications on the curve; as many more with those at addresses of peers.
const HANDSHAKES: Most = Most { of_all: 200, of_one: 20 };
/// Challenges a second: the most that strangers who know the public key make this end send; as many more to addresses of peers.
const CHALLENGES: Most = Most { of_all: 2_000, of_one: 500 };
const BURST: Duration = Duration::from_secs(1);
const BUCKETS: usize = 256;

/// What becomes of an initiation.
pub(super) enum Verdict {
    Forged,
    Limited,
    /// The sender first has to show that it receives at its address.
    Challenge(Vec<u8>),
    Proven,
}

/// Judges initiations at the cost of a few hashes, and of no memory.
pub(super) struct Guard {
    greeting: [u8; 32],
    /// The ciphers that this end prefers, as its challenges say.
    pub(super) suite: Suite,
    cookies: Cookies,
    of_strangers: Budget,
    /// Of those who are at an address of a peer.
    of_peers: Budget,
    /// Secret, so that nobody can choose whose place he shares.
    salt: u64,
}

/// How many a second, of all and of one network of addresses.
#[derive(Clone, Copy)]
struct Most {
    of_all: u32,
    of_one: u32,
}

struct Budget {
    handshakes: Limits,
    challenges: Limits,
}

/// A limit for all, and one for each network of addresses.
struct Limits {
    all: RateLimit,
    by_source: Vec<RateLimit>,
}

impl Guard {
    pub(super) fn new(own: &PublicKey, salt: u64) -> Self {
        Self {
            greeting: cookie::greeting_key(own),
            suite: Suite::default(),
            cookies: Cookies::default(),
            of_strangers: Budget::new(),
            of_peers: Budget::new(),
            salt,
        }
    }

    pub(super) fn judge(
        &mut self,
        now: Time,
        (uplink, from): (u8, SocketAddr),
        initiation: &Initiation<'_>,
        is_of_peer: impl FnOnce() -> bool,
        secret: impl FnOnce() -> [u8; 32],
    ) -> Verdict {
        if !cookie::equal(cookie::mac(&self.greeting, &[initiation.before_mac]), initiation.mac) {
            return Verdict::Forged;
        }
        self.cookies.rotate(now, secret);
        // Strangers take nothing from peers; and who is at the address of one takes nothing from the others.
        let place = self.place(from);
        let budget = if is_of_peer() { &mut self.of_peers } else { &mut self.of_strangers };
        // Who asks for ciphers that are slow here gets another challenge, which says so.
        let is_quick = initiation.terms.suite <= self.suite;
        if is_quick && self.cookies.is_proof(from, uplink, initiation.terms.cookie) {
            let is_within = budget.handshakes.take(now, place, HANDSHAKES);
            return if is_within { Verdict::Proven } else { Verdict::Limited };
        }
        match self.cookies.make(from, uplink) {
            Some(cookie) if budget.challenges.take(now, place, CHALLENGES) => {
                let terms = Terms { cookie, suite: self.suite };
                let mac = cookie::challenge_mac(&self.greeting, &terms, &initiation.mac);
                Verdict::Challenge(wire::put_challenge(initiation.sender, terms, mac))
            }
            _ => Verdict::Limited,
        }
    }

    /// No cookie from before counts; who has one gets another.
    pub(super) fn forget_cookies(&mut self) {
        self.cookies = Cookies::default();
    }

    /// The place of a sender's network.
    fn place(&self, from: SocketAddr) -> usize {
        let network = match from {
            SocketAddr::V4(from) => u64::from(from.ip().to_bits()),
            SocketAddr::V6(from) => (from.ip().to_bits() >> 64) as u64,
        };
        mix(network ^ self.salt) as usize % BUCKETS
    }
}

impl Budget {
    fn new() -> Self {
        Self { handshakes: Limits::new(), challenges: Limits::new() }
    }
}

impl Limits {
    fn new() -> Self {
        Self { all: RateLimit::default(), by_source: vec![RateLimit::default(); BUCKETS] }
    }

    fn take(&mut self, now: Time, place: usize, most: Most) -> bool {
        let limit = self.by_source.get_mut(place);
        limit.is_some_and(|limit| limit.take(now, most.of_one, BURST))
            && self.all.take(now, most.of_all, BURST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::INITIATION;
    use crate::wire::{Datagram, OFFER};

    impl Guard {
        /// What becomes of an initiation from an address, with a right cookie or without one.
        fn judged(&mut self, from: SocketAddr, has_cookie: bool, is_of_peer: bool) -> Verdict {
            self.cookies.rotate(Time::ZERO, || [1; 32]);
            let cookie = self.cookies.make(from, 0).filter(|_| has_cookie).unwrap_or_default();
            self.judged_with(from, Terms { cookie, ..Terms::default() }, is_of_peer)
        }

        fn judged_with(&mut self, from: SocketAddr, terms: Terms, is_of_peer: bool) -> Verdict {
            let greeting = self.greeting;
            let mac = |before: &[u8]| cookie::mac(&greeting, &[before]);
            let bytes = wire::put_initiation(1, &[0; INITIATION + OFFER], terms, mac);
            let Some(Datagram::Initiation(initiation)) = Datagram::read(&bytes) else {
                return Verdict::Forged;
            };
            self.judge(Time::ZERO, (0, from), &initiation, || is_of_peer, || [1; 32])
        }
    }

    fn address(number: u32) -> SocketAddr {
        SocketAddr::from(((0xcb00_0000_u32 + number).to_be_bytes(), 5))
    }

    #[test]
    fn strangers_at_many_addresses_keep_no_peer_out() {
        let mut guard = Guard::new(&PublicKey([9; 32]), 5);
        let accepted =
            (0..10_000).filter(|it| matches!(guard.judged(address(*it), true, false), Verdict::Proven));
        assert_eq!(accepted.count(), HANDSHAKES.of_all as usize);
        assert!(matches!(guard.judged(address(0), true, true), Verdict::Proven));
        let challenged = (0..10_000)
            .filter(|it| matches!(guard.judged(address(*it), false, false), Verdict::Challenge(_)));
        assert_eq!(challenged.count(), CHALLENGES.of_all as usize);
        assert!(matches!(guard.judged(address(0), false, true), Verdict::Challenge(_)));
    }

    #[test]
    fn who_is_at_the_address_of_a_peer_keeps_no_other_out() {
        let mut guard = Guard::new(&PublicKey([9; 32]), 5);
        for (has_cookie, most) in [(true, HANDSHAKES), (false, CHALLENGES)] {
            let passed = |it: &Verdict| matches!(it, Verdict::Proven | Verdict::Challenge(_));
            let of_one = (0..10_000).filter(|_| passed(&guard.judged(address(1), has_cookie, true))).count();
            assert_eq!(of_one, most.of_one as usize);
            assert!(passed(&guard.judged(address(2), has_cookie, true)));
        }
    }

    #[test]
    fn who_wants_ciphers_that_are_slow_here_is_challenged_again() {
        let mut guard = Guard::new(&PublicKey([9; 32]), 5);
        guard.judged(address(1), false, true);
        let cookie = guard.cookies.make(address(1), 0).unwrap();
        let mut judged = |preferred, suite| {
            guard.suite = preferred;
            guard.judged_with(address(1), Terms { cookie, suite }, true)
        };
        let verdict = judged(Suite::ChaChaPoly, Suite::AesGcm);
        let Verdict::Challenge(bytes) = verdict else { panic!() };
        let challenge = Datagram::read(&bytes);
        assert!(
            matches!(challenge, Some(Datagram::Challenge { terms, .. }) if terms.suite == Suite::ChaChaPoly)
        );
        for preferred in [Suite::ChaChaPoly, Suite::AesGcm] {
            assert!(matches!(judged(preferred, Suite::ChaChaPoly), Verdict::Proven));
        }
        assert!(matches!(judged(Suite::AesGcm, Suite::AesGcm), Verdict::Proven));
    }
}
