//! Netlink messages from the kernel, valid and malformed.

use braid_host::netlink::{Attributes, Body, Family, Messages, Request, Writer};
use braid_host::pm::{Endpoint, Event};
use proptest::prelude::*;

#[test]
fn request_has_the_bytes_that_the_kernel_documents() {
    let attributes = Writer::default().text(2, "mptcp_pm");
    let request = Request { family: 0x10, command: 3, version: 1, all: false, attributes };
    let expected = "20000000 1000 0500 01000000 00000000 03010000 0d00 0200 6d707463705f706d00000000";
    let expected: Vec<_> = expected.chars().filter(|it| *it != ' ').collect();
    let bytes: String = request.encode(1).iter().map(|byte| format!("{byte:02x}")).collect();
    let length = bytes.len() / 2;
    assert_eq!(bytes[8..], expected.iter().collect::<String>()[8..]);
    assert_eq!(request.encode(1)[0] as usize, length);
}

#[test]
fn refusal_carries_the_kernels_words() {
    let request =
        Request { family: 30, command: 5, version: 1, all: false, attributes: Writer::default().u32(3, 99) };
    let quoted = request.encode(7);
    let words = Writer::default().text(1, "limit greater than maximum (8)");
    let mut message = Vec::new();
    let length = 16 + 4 + quoted.len() + words.as_bytes().len();
    message.extend((length as u32).to_ne_bytes());
    message.extend([2, 0, 0, 2]);
    message.extend([7, 0, 0, 0, 0, 0, 0, 0]);
    message.extend((-22_i32).to_ne_bytes());
    message.extend(&quoted);
    message.extend(words.as_bytes());
    let answer = Messages(&message).next().unwrap();
    let Body::Refused(error, words) = answer.body else { panic!("{answer:?}") };
    assert_eq!((answer.sequence, error.raw_os_error()), (7, Some(22)));
    assert_eq!(words, Some("limit greater than maximum (8)"));
}

#[test]
fn attribute_that_is_cut_off_ends_the_list() {
    let whole = Writer::default().u32(1, 7).u16(2, 9);
    for length in 0..whole.as_bytes().len() {
        let seen = Attributes(&whole.as_bytes()[..length]).count();
        assert_eq!(seen, usize::from(length >= 8) + usize::from(length >= 14), "{length}");
    }
}

/// Attributes that may be whole, nested, too short and too long.
fn attributes() -> impl Strategy<Value = Vec<u8>> {
    let one = (0..24_u16, prop::collection::vec(any::<u8>(), 0..20));
    prop::collection::vec(one, 0..16).prop_map(|list| {
        let write = |writer: Writer, (kind, payload): (u16, Vec<u8>)| writer.bytes(kind, &payload);
        list.into_iter().fold(Writer::default(), write).as_bytes().to_vec()
    })
}

proptest! {
    #[test]
    fn no_datagram_makes_it_panic_or_hang(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let read = Messages(&bytes).take(1_000).count();
        prop_assert!(read <= bytes.len() / 16 + 1);
    }

    #[test]
    fn no_attributes_make_it_panic(bytes in prop_oneof![attributes(), prop::collection::vec(any::<u8>(), 0..80)], command: u8) {
        let attributes = Attributes(&bytes);
        let _ = (Event::decode(command, attributes), Endpoint::decode(attributes), Family::decode(attributes));
        prop_assert!(attributes.take(1_000).count() <= bytes.len() / 4 + 1);
    }

    #[test]
    fn attributes_are_read_as_they_were_written(list in prop::collection::vec((0..0x3fff_u16, prop::collection::vec(any::<u8>(), 0..40)), 0..8)) {
        let written = list.iter().fold(Writer::default(), |writer, (kind, payload)| writer.bytes(*kind, payload));
        let read: Vec<_> = Attributes(written.as_bytes()).map(|it| (it.kind, it.payload.to_vec())).collect();
        prop_assert_eq!(read, list);
    }
}
