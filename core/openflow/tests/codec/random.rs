//! Properties of random messages and random bytes.

use braid_openflow::{Message, Xid, frame_length, frames};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::arbitrary::message;
use crate::support::{golden, rebuild};

/// What decoding must withstand: decode, iterate, compare, print and serialise.
fn withstands(bytes: &[u8]) {
    let Ok((xid, message)) = Message::decode(bytes) else { return };
    let mut again = Vec::new();
    message.encode(xid, &mut again).expect("what was received can be sent");
    assert_eq!(Message::decode(&again), Ok((xid, rebuild::message(message))));
    assert!(!format!("{message:?}").is_empty());
    serde_json::to_string(&message).expect("serialises");
}

proptest! {
    #[test]
    fn any_message_comes_back(xid in any::<u32>().prop_map(Xid), message in message()) {
        let mut bytes = Vec::new();
        message.encode(xid, &mut bytes).expect("short enough");
        prop_assert_eq!(frame_length(&bytes), Ok(Some(bytes.len())));
        prop_assert_eq!(Message::decode(&bytes), Ok((xid, message)));
        let (_, decoded) = Message::decode(&bytes).expect("was decoded above");
        let mut again = Vec::new();
        decoded.encode(xid, &mut again).expect("short enough");
        prop_assert_eq!(again, bytes);
    }

    #[test]
    fn any_body_is_refused_or_valid(kind in 0_u8..32, body in vec(any::<u8>(), 0..200)) {
        let length = u16::try_from(body.len() + 8).expect("short");
        let [a, b] = length.to_be_bytes();
        withstands(&[&[4, kind, a, b, 0, 0, 0, 1], body.as_slice()].concat());
    }

    #[test]
    fn any_bytes_are_refused_or_valid(bytes in vec(any::<u8>(), 0..100)) {
        withstands(&bytes);
        let _ = frame_length(&bytes);
        let total: usize = frames(&bytes).filter_map(Result::ok).map(|frame| frame.bytes.len()).sum();
        prop_assert!(total <= bytes.len());
    }

    #[test]
    fn any_change_of_a_real_message_is_refused_or_valid(
        which in any::<prop::sample::Index>(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let all = golden::all();
        let mut bytes = which.get(&all).bytes.clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        withstands(&bytes);
    }
}
