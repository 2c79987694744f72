//! MPTCP keys and tokens, replaced consistently: a join still names its connection.

use std::collections::BTreeMap;

use braid_packet::Frame;
use braid_packet::mptcp::{self, Handshake, Key, Token, Version};
use braid_types::SplitMix64;

/// The replacements of a recording's keys and tokens. They say nothing about the replaced ones.
pub(super) struct Identities {
    random: SplitMix64,
    keys: BTreeMap<u64, u64>,
    tokens: BTreeMap<u32, u32>,
}

impl Identities {
    pub(super) const fn new(seed: u64) -> Self {
        Self { random: SplitMix64::new(seed), keys: BTreeMap::new(), tokens: BTreeMap::new() }
    }

    /// The number of keys.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Notes the keys of a handshake. All must be known before the first token is replaced.
    pub(super) fn learn(&mut self, frame: &[u8]) {
        let Ok(frame) = Frame::parse(frame) else { return };
        let Some(tcp) = frame.tcp() else { return };
        if let Ok(Some(Handshake::Capable(capable))) = mptcp::handshake(tcp.options) {
            for old in [capable.sender_key(), capable.receiver_key()].into_iter().flatten() {
                _ = self.key(old.0);
            }
        }
    }

    /// The replacement of a key.
    pub(super) fn key(&mut self, old: u64) -> u64 {
        if let Some(new) = self.keys.get(&old) {
            return *new;
        }
        let new = self.random.next_u64();
        self.keys.insert(old, new);
        for version in [Version::V0, Version::V1] {
            let Token(token) = Key(old).token(version);
            self.tokens.insert(token, Key(new).token(version).0);
        }
        new
    }

    /// The replacement of a token: that of its key's replacement, if the key was seen.
    pub(super) fn token(&mut self, old: u32) -> u32 {
        *self.tokens.entry(old).or_insert_with(|| (self.random.next_u64() >> 32) as u32)
    }
}
