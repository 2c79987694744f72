//! Frames, with whatever is said to be left to the network card, through a switch that sprays, puts in order and rewrites; and
//! what leaves, coalesced to GSO packets.

#![no_main]

use braid_fuzz::edge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| edge::run(data));
