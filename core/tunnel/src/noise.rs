//! The handshake and the ciphers: Noise IK by `snow`, with ring's AEADs and SHA-256.
//!
//! Randomness is an argument: each handshake takes the 32 bytes of its ephemeral key from its caller.

use curve25519_dalek::MontgomeryPoint;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, RingResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, HandshakeState, StatelessTransportState};

use crate::keys::{PrivateKey, PublicKey};
use crate::wire::Terms;

/// Both ends speak this protocol in this version, or their handshakes fail.
const PROLOGUE: &[u8] = b"braid site tunnel 3";
/// What encryption adds.
pub(crate) const TAG: usize = 16;
/// An ephemeral key, an encrypted static key, a tag: the first message without its payload.
pub(crate) const INITIATION: usize = 32 + 32 + TAG + TAG;
/// An ephemeral key and a tag.
pub(crate) const RESPONSE: usize = 32 + TAG;

/// The AEAD of a session. Both are safe; which one is quicker depends on the processor.
///
/// In the order of what they need of it: two ends that prefer different ones have the lesser.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Suite {
    /// ChaCha20-Poly1305, quick everywhere.
    #[default]
    ChaChaPoly,
    /// AES-256-GCM, quicker with instructions for it, and several times slower without.
    AesGcm,
}

/// The ciphers of both directions of a session.
pub(crate) struct Ciphers {
    state: StatelessTransportState,
    pub(crate) suite: Suite,
}

/// A handshake that waits for the response.
pub(crate) struct Initiated {
    state: HandshakeState,
    suite: Suite,
}

/// What a valid first message says.
pub(crate) struct Accepted<const N: usize> {
    pub(crate) peer: PublicKey,
    pub(crate) payload: [u8; N],
    state: HandshakeState,
    suite: Suite,
}

impl Suite {
    /// Its usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChaChaPoly => "ChaCha20-Poly1305",
            Self::AesGcm => "AES-256-GCM",
        }
    }

    /// Its number in datagrams.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::ChaChaPoly => 0,
            Self::AesGcm => 1,
        }
    }

    pub(crate) const fn of_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::ChaChaPoly),
            1 => Some(Self::AesGcm),
            _ => None,
        }
    }

    /// The Noise protocol, whose name is part of the handshake.
    const fn protocol(self) -> &'static str {
        match self {
            Self::ChaChaPoly => "Noise_IK_25519_ChaChaPoly_SHA256",
            Self::AesGcm => "Noise_IK_25519_AESGCM_SHA256",
        }
    }
}

/// The public key of a private one.
pub(crate) fn public_key(secret: &[u8; 32]) -> [u8; 32] {
    MontgomeryPoint::mul_base_clamped(*secret).to_bytes()
}

/// Begins a handshake with `peer`; the first message, with `payload` inside. It counts with the cookie of these terms only, so
/// that nobody can send it again with his own.
pub(crate) fn initiate(
    own: &PrivateKey,
    peer: &PublicKey,
    ephemeral: [u8; 32],
    terms: &Terms,
    payload: &[u8],
) -> Option<(Initiated, Vec<u8>)> {
    let prologue = prologue(terms);
    let builder = builder(own, ephemeral, terms.suite, &prologue)?.remote_public_key(&peer.0).ok()?;
    let mut state = builder.build_initiator().ok()?;
    let mut message = vec![0; payload.len().saturating_add(INITIATION)];
    let length = state.write_message(payload, &mut message).ok()?;
    (length == message.len()).then_some((Initiated { state, suite: terms.suite }, message))
}

/// Reads a first message, which came with these terms.
pub(crate) fn accept<const N: usize>(
    own: &PrivateKey,
    ephemeral: [u8; 32],
    terms: &Terms,
    message: &[u8],
) -> Option<Accepted<N>> {
    let prologue = prologue(terms);
    let mut state = builder(own, ephemeral, terms.suite, &prologue)?.build_responder().ok()?;
    let mut payload = [0; N];
    let length = state.read_message(message, &mut payload).ok()?;
    let peer = PublicKey(state.get_remote_static()?.try_into().ok()?);
    (length == N).then_some(Accepted { peer, payload, state, suite: terms.suite })
}

impl<const N: usize> Accepted<N> {
    /// The second message, and the session that begins with it.
    pub(crate) fn respond(mut self) -> Option<(Vec<u8>, Ciphers)> {
        let mut message = vec![0; RESPONSE];
        let length = self.state.write_message(&[], &mut message).ok()?;
        let state = self.state.into_stateless_transport_mode().ok()?;
        (length == RESPONSE).then_some((message, Ciphers { state, suite: self.suite }))
    }
}

impl Initiated {
    /// Reads the second message; whether it is right. A wrong one changes nothing.
    pub(crate) fn read(&mut self, message: &[u8]) -> bool {
        self.state.read_message(message, &mut []).is_ok()
    }

    /// The session, after the second message.
    pub(crate) fn finish(self) -> Option<Ciphers> {
        let state = self.state.into_stateless_transport_mode().ok()?;
        Some(Ciphers { state, suite: self.suite })
    }
}

impl Ciphers {
    /// Fills `sealed` with `plain`, which is shorter by [`TAG`].
    pub(crate) fn seal(&self, counter: u64, plain: &[u8], sealed: &mut [u8]) -> bool {
        self.state.write_message(counter, plain, sealed).is_ok_and(|length| length == sealed.len())
    }

    /// Puts the content of `sealed` in the place of `plain`; whether it was sealed with this key and counter.
    pub(crate) fn open(&self, counter: u64, sealed: &[u8], plain: &mut Vec<u8>) -> bool {
        plain.resize(sealed.len(), 0);
        let length = self.state.read_message(counter, sealed, plain).ok();
        plain.truncate(length.unwrap_or(0));
        length.is_some()
    }
}

/// What both ends must have agreed on before.
fn prologue(terms: &Terms) -> Vec<u8> {
    [PROLOGUE, &terms.cookie].concat()
}

fn builder<'a>(
    own: &'a PrivateKey,
    ephemeral: [u8; 32],
    suite: Suite,
    prologue: &'a [u8],
) -> Option<Builder<'a>> {
    let builder = Builder::with_resolver(suite.protocol().parse().ok()?, Box::new(Resolver(ephemeral)));
    builder.local_private_key(own.secret()).ok()?.prologue(prologue).ok()
}

/// ring's ciphers and hashes; random numbers that were given.
struct Resolver([u8; 32]);

/// X25519, which ring has for ephemeral keys only. RFC 7748.
#[derive(Default)]
struct X25519 {
    secret: [u8; 32],
    public: [u8; 32],
}

/// Gives the bytes of an ephemeral key once.
struct Given(Option<[u8; 32]>);

impl Random for Given {
    fn try_fill_bytes(&mut self, wanted: &mut [u8]) -> Result<(), snow::Error> {
        let bytes = self.0.take().filter(|bytes| bytes.len() == wanted.len()).ok_or(snow::Error::Rng)?;
        wanted.copy_from_slice(&bytes);
        Ok(())
    }
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        self.public.len()
    }

    fn priv_len(&self) -> usize {
        self.secret.len()
    }

    fn set(&mut self, secret: &[u8]) {
        self.secret.iter_mut().zip(secret).for_each(|(place, byte)| *place = *byte);
        self.public = public_key(&self.secret);
    }

    fn generate(&mut self, random: &mut dyn Random) -> Result<(), snow::Error> {
        let mut secret = [0; 32];
        random.try_fill_bytes(&mut secret)?;
        self.set(&secret);
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &self.secret
    }

    fn dh(&self, public: &[u8], out: &mut [u8]) -> Result<(), snow::Error> {
        let public = public.first_chunk().copied().ok_or(snow::Error::Dh)?;
        let shared = MontgomeryPoint(public).mul_clamped(self.secret).to_bytes();
        // A point of small order would make the secret known to everybody. RFC 7748, 6.1.
        if shared == [0; 32] {
            return Err(snow::Error::Dh);
        }
        out.iter_mut().zip(shared).for_each(|(place, byte)| *place = byte);
        Ok(())
    }
}

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Given(Some(self.0))))
    }

    fn resolve_dh(&self, _choice: &DHChoice) -> Option<Box<dyn Dh>> {
        Some(Box::new(X25519::default()))
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        RingResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        RingResolver.resolve_cipher(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::COOKIE;

    const SUITES: [Suite; 2] = [Suite::ChaChaPoly, Suite::AesGcm];

    fn keys() -> [PrivateKey; 2] {
        [1, 2].map(|byte| PrivateKey::new([byte; 32]))
    }

    fn terms(cookie: u8, suite: Suite) -> Terms {
        Terms { cookie: [cookie; COOKIE], suite }
    }

    #[test]
    fn a_first_message_counts_with_its_cookie_and_ciphers_only() {
        let [own, other] = keys();
        for suite in SUITES {
            let (_, message) = initiate(&own, &other.public(), [3; 32], &terms(1, suite), b"four").unwrap();
            let accepted = |terms| accept::<4>(&other, [4; 32], &terms, &message).is_some();
            assert!(accepted(terms(1, suite)) && !accepted(terms(2, suite)));
            assert!(SUITES.into_iter().all(|it| it == suite || !accepted(terms(1, it))));
        }
    }

    #[test]
    fn a_forged_second_message_does_not_end_the_handshake() {
        let [own, other] = keys();
        for suite in SUITES {
            let terms = terms(1, suite);
            let (mut begun, message) = initiate(&own, &other.public(), [3; 32], &terms, b"four").unwrap();
            let accepted = accept::<4>(&other, [4; 32], &terms, &message).unwrap();
            let (response, theirs) = accepted.respond().unwrap();
            let forged = |place: usize| {
                let mut forged = response.clone();
                forged[place] ^= 1;
                forged
            };
            assert!(!begun.read(&forged(0)) && !begun.read(&forged(40)) && !begun.read(&[7; RESPONSE]));
            assert!(begun.read(&response));
            let (ours, mut sealed, mut plain) = (begun.finish().unwrap(), [0; 5 + TAG], Vec::new());
            assert!(ours.seal(0, b"hello", &mut sealed) && theirs.open(0, &sealed, &mut plain));
            assert_eq!(plain, b"hello");
            sealed[2] ^= 1;
            assert!(!theirs.open(0, &sealed, &mut plain) && plain.is_empty());
        }
    }
}
