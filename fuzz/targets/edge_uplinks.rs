//! Frames that come by an uplink, and that leave by a tunnel over one and come out of it.

#![no_main]

use braid_fuzz::uplinks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| uplinks::run(data));
