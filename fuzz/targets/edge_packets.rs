//! Frames with any offload state, through a switch that sprays, resequences and rewrites; and the departing packets,
//! coalesced to GSO packets.

#![no_main]

use braid_fuzz::edge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| edge::run(data));
