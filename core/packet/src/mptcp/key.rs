//! MPTCP versions, keys, and the tokens derived from keys.

use std::fmt;

use braid_types::Token;
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Which MPTCP a connection speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Version {
    /// RFC 6824: SHA-1, and the initiator's key is in the SYN.
    V0,
    /// RFC 8684: SHA-256, and the SYN has no key.
    V1,
}

impl From<Version> for u8 {
    fn from(version: Version) -> Self {
        match version {
            Version::V0 => 0,
            Version::V1 => 1,
        }
    }
}

impl TryFrom<u8> for Version {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            0 => Ok(Self::V0),
            1 => Ok(Self::V1),
            _ => Err(format!("MPTCP version {number} is neither 0 nor 1")),
        }
    }
}

/// One end's key of a connection. Whoever knows both ends' keys can join, so it is not printed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(pub u64);

impl Key {
    /// The top 32 bits of the key's hash: SHA-1 in version 0 (RFC 6824 §3.2), SHA-256 in 1 (RFC 8684 §3.2).
    pub fn token(self, version: Version) -> Token {
        let key = self.0.to_be_bytes();
        let start = match version {
            Version::V0 => Sha1::digest(key).first_chunk().copied(),
            Version::V1 => Sha256::digest(key).first_chunk().copied(),
        };
        Token(u32::from_be_bytes(start.unwrap_or_default()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}
