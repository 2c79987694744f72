//! Keys of sites: Curve25519, written in base64 as WireGuard writes them.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::noise;

/// A site's public key. It names the site, and may be shown to anybody.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub [u8; 32]);

/// A site's private key. It has no text form in logs: `Debug` shows the public key.
#[derive(Clone)]
pub struct PrivateKey {
    secret: [u8; 32],
    public: PublicKey,
}

/// The text is no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a key is 32 bytes in base64: 44 characters, the last of them =")]
pub struct KeyError;

impl PrivateKey {
    /// The key of 32 random bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        Self { secret, public: PublicKey(noise::public_key(&secret)) }
    }

    /// The public key that belongs to it.
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    /// The text for a file that only its owner reads.
    pub fn to_secret_text(&self) -> String {
        STANDARD.encode(self.secret)
    }

    pub(crate) const fn secret(&self) -> &[u8; 32] {
        &self.secret
    }
}

impl FromStr for PrivateKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        decode(text).map(Self::new)
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        decode(text).map(Self)
    }
}

// The text of the error does not repeat what it was given, which may be a secret.
fn decode(text: &str) -> Result<[u8; 32], KeyError> {
    STANDARD.decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok()).ok_or(KeyError)
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the private key of {}", self.public)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7748, 6.1.
    #[test]
    fn the_public_key_is_that_of_the_standard() {
        let secret = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=".parse::<PrivateKey>().unwrap();
        assert_eq!(secret.public().to_string(), "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=");
    }

    #[test]
    fn a_private_key_is_shown_in_no_log_and_in_no_error() {
        let secret = PrivateKey::new([7; 32]);
        assert!(!format!("{secret:?}").contains(&secret.to_secret_text()));
        let typo = secret.to_secret_text().replace('=', "");
        assert!(!typo.parse::<PrivateKey>().unwrap_err().to_string().contains(&typo));
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = PrivateKey::new([9; 32]);
        assert_eq!(key.public().to_string().parse(), Ok(key.public()));
        assert_eq!(key.to_secret_text().parse::<PrivateKey>().unwrap().public(), key.public());
        for wrong in ["", "=", "AAAA", "****"] {
            assert_eq!(wrong.parse::<PublicKey>(), Err(KeyError));
        }
    }
}
