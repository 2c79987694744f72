//! Messages one after another.

#![no_main]

use braid_openflow::frames;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut end = 0;
    for frame in frames(bytes).flatten() {
        assert_eq!(frame.offset, end);
        end += frame.bytes.len();
        let _ = frame.decode();
    }
    assert!(end <= bytes.len());
});
