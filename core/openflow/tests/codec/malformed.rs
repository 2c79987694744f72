//! Malformed input of a broken or hostile peer: an error or a message, never a panic or an endless loop.

use braid_openflow::{Message, frames};

use crate::support::golden;

/// If `bytes` are a message after all, it can be sent, and is then the same message.
fn is_refused_or_valid(name: &str, bytes: &[u8]) {
    let Ok((xid, message)) = Message::decode(bytes) else { return };
    let mut again = Vec::new();
    message.encode(xid, &mut again).unwrap_or_else(|error| panic!("{name}: {error}: {message:?}"));
    assert_eq!(Message::decode(&again), Ok((xid, message)), "{name}");
}

fn with_u16(bytes: &[u8], at: usize, value: u16) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[at..at + 2].copy_from_slice(&value.to_be_bytes());
    changed
}

#[test]
fn a_message_cut_at_any_byte_is_refused() {
    for golden in golden::all() {
        for length in 0..golden.bytes.len() {
            let decoded = Message::decode(&golden.bytes[..length]);
            assert!(decoded.is_err(), "{} cut to {length} bytes: {decoded:?}", golden.name);
        }
    }
}

#[test]
fn a_message_cut_at_any_byte_whose_header_admits_it_is_refused_or_valid() {
    for golden in golden::all() {
        for length in 4..golden.bytes.len() {
            let admitted = u16::try_from(length).expect("recorded messages are short");
            is_refused_or_valid(&golden.name, &with_u16(&golden.bytes[..length], 2, admitted));
        }
    }
}

#[test]
fn bytes_after_a_message_are_refused() {
    for golden in golden::all() {
        let longer = [golden.bytes.as_slice(), &[0]].concat();
        assert!(Message::decode(&longer).is_err(), "{}", golden.name);
    }
}

// Every length field is two bytes somewhere, or one byte in a field of a match: so take every place for one.
#[test]
fn any_length_of_two_bytes_at_its_extremes_is_refused_or_valid() {
    for golden in golden::all() {
        for at in 0..golden.bytes.len() - 1 {
            let now = u16::from_be_bytes([golden.bytes[at], golden.bytes[at + 1]]);
            for value in [0, 1, now.wrapping_sub(1), now.wrapping_add(1), u16::MAX] {
                is_refused_or_valid(&golden.name, &with_u16(&golden.bytes, at, value));
            }
        }
    }
}

#[test]
fn any_length_of_one_byte_at_its_extremes_is_refused_or_valid() {
    for golden in golden::all() {
        for at in 0..golden.bytes.len() {
            for value in [0, 1, u8::MAX] {
                let mut changed = golden.bytes.clone();
                changed[at] = value;
                is_refused_or_valid(&golden.name, &changed);
            }
        }
    }
}

#[test]
fn padding_is_ignored_whatever_it_is() {
    let zero = golden::bytes("eth.flow_mod");
    let mut other = zero.clone();
    other[46] = 0xff; // The second byte of padding after the flags.
    assert_ne!(zero, other);
    assert_eq!(Message::decode(&zero), Message::decode(&other));
}

#[test]
fn a_stream_of_all_messages_is_taken_apart() {
    let all = golden::all();
    let stream: Vec<u8> = all.iter().flat_map(|golden| golden.bytes.clone()).collect();
    let mut expected = 0;
    for (frame, golden) in frames(&stream).zip(&all) {
        let frame = frame.unwrap_or_else(|error| panic!("{}: {error}", golden.name));
        assert_eq!((frame.offset, frame.bytes), (expected, golden.bytes.as_slice()), "{}", golden.name);
        assert_eq!(frame.decode(), Message::decode(&golden.bytes));
        expected += golden.bytes.len();
    }
    assert_eq!(frames(&stream).count(), all.len());
}
