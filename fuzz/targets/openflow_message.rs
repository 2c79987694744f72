//! A whole message: decode, print, serialise, encode.

#![no_main]

use braid_openflow::{Message, frame_length};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = frame_length(bytes);
    match Message::decode(bytes) {
        Ok((xid, message)) => {
            let mut again = Vec::new();
            message.encode(xid, &mut again).expect("what was received can be sent");
            assert_eq!(Message::decode(&again), Ok((xid, message)));
            assert!(!format!("{message:?}").is_empty());
        }
        Err(error) => assert!(!format!("{error} {:?}", error.error_code()).is_empty()),
    }
});
