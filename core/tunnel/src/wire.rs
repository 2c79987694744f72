//! The datagrams between sites. All numbers are big-endian.
//!
//! ```text
//! initiation  1 version suite 0 | sender index | Noise IK first message | cookie | mac
//! challenge   2 version suite 0 | receiver index | cookie | mac
//! response    3 version 0 0 | receiver index | sender index | Noise IK second message
//! data        4 version 0 0 | receiver index | counter (8) | sealed content
//! ```
//!
//! The suite of an initiation is that of its session, the one of a challenge is what its sender prefers.

use crate::noise::{INITIATION, RESPONSE, Suite, TAG};

const VERSION: u8 = 4;
/// The link number and flags inside an initiation.
pub(crate) const OFFER: usize = 4;
pub(crate) const COOKIE: usize = 16;
const HEAD: usize = 8;
pub(crate) const INITIATION_LENGTH: usize = HEAD + INITIATION + OFFER + 2 * COOKIE;
const CHALLENGE_LENGTH: usize = HEAD + 2 * COOKIE;
const RESPONSE_LENGTH: usize = HEAD + 4 + RESPONSE;
const DATA_HEAD: usize = HEAD + 8;

/// What a data datagram adds to its content.
pub(crate) const DATA_OVERHEAD: usize = DATA_HEAD + TAG;
/// Headers of Ethernet, IPv4 and UDP.
const HEADERS: usize = 14 + 20 + 8;

/// A datagram whose lengths are right; nothing in it is authenticated yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Datagram<'a> {
    Initiation(Initiation<'a>),
    Challenge { receiver: u32, terms: Terms, mac: [u8; COOKIE] },
    Response { receiver: u32, sender: u32, noise: &'a [u8] },
    Data(Sealed<'a>),
}

/// What both ends know before a handshake: the proof of the sender's address, and the ciphers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) cookie: [u8; COOKIE],
    pub(crate) suite: Suite,
}

/// A datagram with content, for the session that its receiver calls `receiver`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sealed<'a> {
    pub(crate) receiver: u32,
    pub(crate) counter: u64,
    pub(crate) content: &'a [u8],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Initiation<'a> {
    pub(crate) sender: u32,
    pub(crate) noise: &'a [u8],
    pub(crate) terms: Terms,
    pub(crate) mac: [u8; COOKIE],
    /// All that the MAC is over.
    pub(crate) before_mac: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// Reads a datagram; `None` if it is none of ours.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = bytes;
        let [kind, VERSION, suite, 0] = take::<4>(&mut rest)? else { return None };
        let index = u32::from_be_bytes(take(&mut rest)?);
        match (kind, suite, bytes.len()) {
            (1, suite, INITIATION_LENGTH) => {
                initiation(bytes, index, Suite::of_number(suite)?, rest).map(Self::Initiation)
            }
            (2, suite, CHALLENGE_LENGTH) => {
                let terms = Terms { cookie: take(&mut rest)?, suite: Suite::of_number(suite)? };
                Some(Self::Challenge { receiver: index, terms, mac: take(&mut rest)? })
            }
            (3, 0, RESPONSE_LENGTH) => {
                let sender = u32::from_be_bytes(take(&mut rest)?);
                Some(Self::Response { receiver: index, sender, noise: rest })
            }
            (4, 0, DATA_OVERHEAD..) => {
                let counter = u64::from_be_bytes(take(&mut rest)?);
                Some(Self::Data(Sealed { receiver: index, counter, content: rest }))
            }
            _ => None,
        }
    }
}

fn initiation<'a>(bytes: &'a [u8], sender: u32, suite: Suite, rest: &'a [u8]) -> Option<Initiation<'a>> {
    let (noise, mut macs) = rest.split_at_checked(INITIATION + OFFER)?;
    let before_mac = bytes.get(..INITIATION_LENGTH - COOKIE)?;
    let terms = Terms { cookie: take(&mut macs)?, suite };
    Some(Initiation { sender, noise, terms, mac: take(&mut macs)?, before_mac })
}

/// An initiation up to its MAC, which `mac` computes.
pub(crate) fn put_initiation(
    sender: u32,
    noise: &[u8],
    terms: Terms,
    mac: impl FnOnce(&[u8]) -> [u8; COOKIE],
) -> Vec<u8> {
    let Terms { cookie, suite } = terms;
    let head = [1, VERSION, suite.number(), 0];
    let mut bytes = [&head, &sender.to_be_bytes()[..], noise, &cookie].concat();
    let mac = mac(&bytes);
    bytes.extend(mac);
    bytes
}

pub(crate) fn put_challenge(receiver: u32, terms: Terms, mac: [u8; COOKIE]) -> Vec<u8> {
    let head = [2, VERSION, terms.suite.number(), 0];
    [&head, &receiver.to_be_bytes()[..], &terms.cookie, &mac].concat()
}

pub(crate) fn put_response(receiver: u32, sender: u32, noise: &[u8]) -> Vec<u8> {
    [&[3, VERSION, 0, 0], &receiver.to_be_bytes()[..], &sender.to_be_bytes(), noise].concat()
}

/// Makes `bytes` as long as a data datagram with so much content, with its head; the place of the sealed content.
pub(crate) fn put_data(receiver: u32, counter: u64, content: usize, bytes: &mut Vec<u8>) -> &mut [u8] {
    bytes.resize(content.saturating_add(DATA_OVERHEAD), 0);
    let Some((head, sealed)) = bytes.split_first_chunk_mut::<DATA_HEAD>() else { return &mut [] };
    let [a, b, c, d] = receiver.to_be_bytes();
    let [e, f, g, h, i, j, k, l] = counter.to_be_bytes();
    *head = [4, VERSION, 0, 0, a, b, c, d, e, f, g, h, i, j, k, l];
    sealed
}

/// Takes the first `N` bytes off.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

/// The bytes that a content takes on a line, about: small ones take much more than they have.
pub(crate) const fn on_line(content: usize) -> usize {
    content.saturating_add(HEADERS + DATA_OVERHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_read_as_they_are_written_and_never_when_truncated() {
        let noise = [7; INITIATION + OFFER];
        let terms = |byte, suite| Terms { cookie: [byte; COOKIE], suite };
        let first = terms(1, Suite::AesGcm);
        let initiation = put_initiation(5, &noise, first, |_| [2; COOKIE]);
        let Some(Datagram::Initiation(read)) = Datagram::read(&initiation) else { panic!() };
        assert_eq!((read.sender, read.noise, read.terms, read.mac), (5, &noise[..], first, [2; 16]));
        let terms = terms(3, Suite::ChaChaPoly);
        let challenge = put_challenge(6, terms, [4; COOKIE]);
        let wanted = Datagram::Challenge { receiver: 6, terms, mac: [4; 16] };
        assert_eq!(Datagram::read(&challenge), Some(wanted));
        let response = put_response(7, 8, &[9; RESPONSE]);
        let wanted = Datagram::Response { receiver: 7, sender: 8, noise: &[9; RESPONSE] };
        assert_eq!(Datagram::read(&response), Some(wanted));
        let mut data = vec![9; 3];
        assert_eq!(put_data(1, 2, 0, &mut data).len(), TAG);
        for whole in [initiation, challenge, response, data] {
            assert!(Datagram::read(&whole).is_some());
            (0..whole.len()).for_each(|length| assert_eq!(Datagram::read(&whole[..length]), None));
            let strange = [&whole[..2], &[7], &whole[3..]].concat();
            assert_eq!(Datagram::read(&strange), None, "no such ciphers");
        }
    }

    #[test]
    fn a_challenge_is_shorter_than_what_asks_for_it() {
        const { assert!(CHALLENGE_LENGTH < INITIATION_LENGTH && RESPONSE_LENGTH < INITIATION_LENGTH) };
    }
}
