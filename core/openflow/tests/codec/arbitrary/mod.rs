//! Strategies for every message. What a message borrows is leaked, which a test can afford.

mod flow;
mod message;
mod multipart;

pub(crate) use message::message;

use braid_openflow::{Bytes, List, Part, Reader, Wire};
use proptest::collection::vec;
use proptest::prelude::*;

/// A value of `size` bytes of which every combination is a value.
pub(super) fn fixed<T: Wire<'static> + std::fmt::Debug + 'static>(size: usize) -> impl Strategy<Value = T> {
    vec(any::<u8>(), size).prop_map(|bytes| read(bytes.leak()))
}

/// The value that `bytes` are.
pub(super) fn read<T: Wire<'static>>(bytes: &'static [u8]) -> T {
    let mut reader = Reader::new(Part::Experimenter, bytes);
    let value = reader.read().expect("every combination of bytes is a value");
    assert!(reader.is_empty(), "the size is that of the specification");
    value
}

/// Up to three items.
pub(super) fn list<T: Wire<'static> + std::fmt::Debug + 'static>(
    item: impl Strategy<Value = T>,
) -> impl Strategy<Value = List<'static, T>> {
    vec(item, 0..4).prop_map(|items| List::new(items.leak()))
}

/// Up to 24 bytes.
pub(super) fn bytes() -> impl Strategy<Value = Bytes<'static>> {
    vec(any::<u8>(), 0..24).prop_map(|bytes| Bytes(bytes.leak()))
}

/// `extra` bytes and up to three times 8 more.
pub(super) fn bytes_of_8(extra: usize) -> impl Strategy<Value = Bytes<'static>> {
    (0_usize..4).prop_flat_map(move |eights| {
        vec(any::<u8>(), extra + 8 * eights).prop_map(|bytes| Bytes(bytes.leak()))
    })
}
