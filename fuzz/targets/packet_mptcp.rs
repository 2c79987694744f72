//! MPTCP among TCP options: what is read can be written and read again.

#![no_main]

use braid_packet::mptcp::{self, MptcpOption};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = mptcp::handshake(bytes);
    for option in mptcp::options(bytes).flatten() {
        let mut written = Vec::new();
        option.encode(&mut written);
        // Kind and length stand before what is parsed.
        assert_eq!(MptcpOption::parse(written.get(2..).unwrap_or_default()), Ok(option));
    }
});
