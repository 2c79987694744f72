//! Who may make this end compute a handshake.

use std::net::SocketAddr;
use std::time::Duration;

use braid_types::{RateLimit, Time, mix};

use crate::cookie::{self, Cookies};
use crate::keys::PublicKey;
use crate::wire::{self, Initiation};

/// Handshakes a second, of which each takes three multiplications on the curve; as many more with those at addresses of peers.
const MAX_HANDSHAKES: u32 = 200;
/// Of one network of addresses.
const MAX_HANDSHAKES_OF_ONE: u32 = 20;
/// Challenges a second: the most that strangers who know the public key make this end send.
const MAX_CHALLENGES: u32 = 2_000;
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
    cookies: Cookies,
    handshakes: RateLimit,
    of_peers: RateLimit,
    challenges: RateLimit,
    by_source: Vec<RateLimit>,
    /// Secret, so that nobody can choose whose place he shares.
    salt: u64,
}

impl Guard {
    pub(super) fn new(own: &PublicKey, salt: u64) -> Self {
        Self {
            greeting: cookie::greeting_key(own),
            cookies: Cookies::default(),
            handshakes: RateLimit::default(),
            of_peers: RateLimit::default(),
            challenges: RateLimit::default(),
            by_source: vec![RateLimit::default(); BUCKETS],
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
        if self.cookies.is_proof(from, uplink, initiation.cookie) {
            let is_within = self.take(now, from, is_of_peer());
            return if is_within { Verdict::Proven } else { Verdict::Limited };
        }
        match self.cookies.make(from, uplink) {
            Some(cookie) if self.challenges.take(now, MAX_CHALLENGES, BURST) => {
                let mac = cookie::mac(&self.greeting, &[&cookie, &initiation.mac]);
                Verdict::Challenge(wire::put_challenge(initiation.sender, cookie, mac))
            }
            _ => Verdict::Limited,
        }
    }

    /// No cookie from before counts; who has one gets another.
    pub(super) fn forget_cookies(&mut self) {
        self.cookies = Cookies::default();
    }

    /// Strangers take nothing from peers: they cannot show that they receive at the address of one.
    fn take(&mut self, now: Time, from: SocketAddr, is_of_peer: bool) -> bool {
        if is_of_peer {
            return self.of_peers.take(now, MAX_HANDSHAKES, BURST);
        }
        self.take_source(now, from) && self.handshakes.take(now, MAX_HANDSHAKES, BURST)
    }

    fn take_source(&mut self, now: Time, from: SocketAddr) -> bool {
        let network = match from {
            SocketAddr::V4(from) => u64::from(from.ip().to_bits()),
            SocketAddr::V6(from) => (from.ip().to_bits() >> 64) as u64,
        };
        let place = mix(network ^ self.salt) as usize % BUCKETS;
        self.by_source.get_mut(place).is_some_and(|limit| limit.take(now, MAX_HANDSHAKES_OF_ONE, BURST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::INITIATION;
    use crate::wire::{Datagram, OFFER};

    #[test]
    fn strangers_at_many_addresses_keep_no_peer_out() {
        let own = PublicKey([9; 32]);
        let mut guard = Guard::new(&own, 5);
        let mut proven = |now: Time, from: SocketAddr, is_of_peer: bool| {
            guard.cookies.rotate(now, || [1; 32]);
            let cookie = guard.cookies.make(from, 0).unwrap();
            let greeting = guard.greeting;
            let mac = |before: &[u8]| cookie::mac(&greeting, &[before]);
            let bytes = wire::put_initiation(1, &[0; INITIATION + OFFER], cookie, mac);
            let Some(Datagram::Initiation(initiation)) = Datagram::read(&bytes) else { return false };
            let verdict = guard.judge(now, (0, from), &initiation, || is_of_peer, || [1; 32]);
            matches!(verdict, Verdict::Proven)
        };
        let stranger = |number: u32| SocketAddr::from(((0xcb00_0000_u32 + number).to_be_bytes(), 5));
        let accepted = (0..10_000).filter(|number| proven(Time::ZERO, stranger(*number), false)).count();
        assert_eq!(accepted, MAX_HANDSHAKES as usize);
        assert!(proven(Time::ZERO, stranger(0), true));
    }
}
