//! Proofs of addresses: a site computes a handshake only for who receives at the address that he sends from.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use braid_types::Time;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::keys::PublicKey;
use crate::wire::{COOKIE, Terms};

/// A secret makes cookies for this long, and accepts them for as long again.
pub(crate) const COOKIE_LIFETIME: Duration = Duration::from_secs(120);

/// Makes and checks cookies, without memory of who was given which.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cookies {
    current: Option<(Time, [u8; 32])>,
    previous: Option<[u8; 32]>,
}

impl Cookies {
    /// Makes a new secret when the old one has served its time.
    pub(crate) fn rotate(&mut self, now: Time, secret: impl FnOnce() -> [u8; 32]) {
        let Some((since, old)) = self.current else {
            self.current = Some((now, secret()));
            return;
        };
        let age = now.since(since);
        if age >= COOKIE_LIFETIME {
            self.previous = (age < COOKIE_LIFETIME.saturating_mul(2)).then_some(old);
            self.current = Some((now, secret()));
        }
    }

    /// The cookie for a sender.
    pub(crate) fn make(&self, from: SocketAddr, uplink: u8) -> Option<[u8; COOKIE]> {
        self.current.map(|(_, secret)| cookie(&secret, from, uplink))
    }

    /// Whether the sender has received a cookie at this address lately.
    pub(crate) fn is_proof(&self, from: SocketAddr, uplink: u8, given: [u8; COOKIE]) -> bool {
        let secrets = self.current.iter().map(|it| &it.1).chain(&self.previous);
        secrets.into_iter().any(|secret| equal(cookie(secret, from, uplink), given))
    }
}

fn cookie(secret: &[u8; 32], from: SocketAddr, uplink: u8) -> [u8; COOKIE] {
    let address = match from.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    mac(secret, &[&address.octets(), &from.port().to_be_bytes(), &[uplink]])
}

/// The MAC of a challenge, which only who has seen the initiation with this MAC can make.
pub(crate) fn challenge_mac(greeting: &[u8; 32], terms: &Terms, initiation: &[u8; COOKIE]) -> [u8; COOKIE] {
    mac(greeting, &[&[terms.suite.number()], &terms.cookie, initiation])
}

/// The key of MACs that only those can make who know the receiver's public key: others get no answer at all.
pub(crate) fn greeting_key(receiver: &PublicKey) -> [u8; 32] {
    Sha256::new().chain_update(b"braid site greeting").chain_update(receiver.0).finalize().into()
}

/// The first bytes of HMAC-SHA256.
pub(crate) fn mac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; COOKIE] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; COOKIE] };
    parts.iter().for_each(|part| mac.update(part));
    let whole: [u8; 32] = mac.finalize().into_bytes().into();
    let mut short = [0; COOKIE];
    short.iter_mut().zip(whole).for_each(|(place, byte)| *place = byte);
    short
}

/// Compares in a time that does not depend on where they differ.
pub(crate) fn equal(one: [u8; COOKIE], other: [u8; COOKIE]) -> bool {
    one.iter().zip(other).fold(0, |difference, (one, other)| difference | (one ^ other)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_for_one_address_port_and_uplink_and_ends() {
        let at = Time::from_millis;
        let [here, there]: [SocketAddr; 2] = ["192.0.2.1:1", "192.0.2.1:2"].map(|it| it.parse().unwrap());
        let mut cookies = Cookies::default();
        cookies.rotate(at(0), || [1; 32]);
        let cookie = cookies.make(here, 0).unwrap();
        assert!(cookies.is_proof(here, 0, cookie));
        assert!(!cookies.is_proof(there, 0, cookie) && !cookies.is_proof(here, 1, cookie));
        cookies.rotate(at(120_000), || [2; 32]);
        assert!(cookies.is_proof(here, 0, cookie), "the last secret still counts");
        cookies.rotate(at(240_000), || [3; 32]);
        assert!(!cookies.is_proof(here, 0, cookie));
        cookies.rotate(at(900_000), || [4; 32]);
        assert_eq!(cookies.previous, None);
    }
}
