//! Messages of a real switch and a real controller, and others laid out by hand.

use braid_openflow::{Message, Xid};

use crate::support::{golden, rebuild};

fn encode(xid: Xid, message: &Message<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(xid, &mut out).expect("a message that was received can be sent");
    out
}

#[test]
fn every_message_is_sent_again_as_it_was_received() {
    for golden in golden::all() {
        let (xid, message) =
            Message::decode(&golden.bytes).unwrap_or_else(|error| panic!("{}: {error}", golden.name));
        assert_eq!(hex::encode(encode(xid, &message)), hex::encode(&golden.bytes), "{}", golden.name);
    }
}

#[test]
fn every_message_built_from_its_items_has_the_same_bytes_and_is_equal() {
    for golden in golden::all() {
        let (xid, message) = Message::decode(&golden.bytes).expect("decodes");
        let rebuilt = rebuild::message(message);
        assert_eq!(hex::encode(encode(xid, &rebuilt)), hex::encode(&golden.bytes), "{}", golden.name);
        assert_eq!(rebuilt, message, "{}", golden.name);
    }
}
