//! Who may make this end compute a handshake.

use std::net::SocketAddr;
use std::time::Duration;

use braid_types::{RateLimit, Time, mix};

use crate::cookie::{self, Cookies};
use crate::keys::PublicKey;
use crate::wire::{self, Initiation};

/// Handshakes a second, of which each takes three multiplications on the curve.
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
    challenges: RateLimit,
    by_source: Vec<RateLimit>,
}

impl Guard {
    pub(super) fn new(own: &PublicKey) -> Self {
        Self {
            greeting: cookie::greeting_key(own),
            cookies: Cookies::default(),
            handshakes: RateLimit::default(),
            challenges: RateLimit::default(),
            by_source: vec![RateLimit::default(); BUCKETS],
        }
    }

    pub(super) fn judge(
        &mut self,
        now: Time,
        (uplink, from): (u8, SocketAddr),
        initiation: &Initiation<'_>,
        secret: impl FnOnce() -> [u8; 32],
    ) -> Verdict {
        if !cookie::equal(cookie::mac(&self.greeting, &[initiation.before_mac]), initiation.mac) {
            return Verdict::Forged;
        }
        self.cookies.rotate(now, secret);
        if self.cookies.is_proof(from, uplink, initiation.cookie) {
            let is_within = self.take_source(now, from) && self.handshakes.take(now, MAX_HANDSHAKES, BURST);
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

    fn take_source(&mut self, now: Time, from: SocketAddr) -> bool {
        let network = match from {
            SocketAddr::V4(from) => u64::from(from.ip().to_bits()),
            SocketAddr::V6(from) => (from.ip().to_bits() >> 64) as u64,
        };
        let place = mix(network) as usize % BUCKETS;
        self.by_source.get_mut(place).is_some_and(|limit| limit.take(now, MAX_HANDSHAKES_OF_ONE, BURST))
    }
}
