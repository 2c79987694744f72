//! The decoded contents of testdata/, in full: decoding and encoding must agree with them.

mod extensions;
mod fields;
mod modifications;
mod session;
mod statistics;
mod tables;

use braid_openflow::{Message, Xid};

use crate::support::golden;

/// The message `name` decodes to `expected`, and `expected` encodes to the message.
fn means(name: &str, xid: u32, expected: Message<'_>) {
    let bytes = golden::bytes(name);
    assert_eq!(Message::decode(&bytes), Ok((Xid(xid), expected)), "{name}");
    let mut out = Vec::new();
    expected.encode(Xid(xid), &mut out).expect("encodes");
    assert_eq!(hex::encode(out), hex::encode(bytes), "{name}");
}
