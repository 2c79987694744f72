//! An Ethernet frame, down to its TCP options.

#![no_main]

use braid_packet::{Frame, TcpOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(frame) = Frame::parse(bytes) else { return };
    let _ = (frame.five_tuple(), frame.sender_ip());
    if let Some(tcp) = frame.tcp() {
        assert!(TcpOptions::new(tcp.options).count() <= 40, "a TCP header has 40 bytes of options");
    }
});
