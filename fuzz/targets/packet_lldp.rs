//! LLDP, and the controller's own probes in it.

#![no_main]

use braid_packet::lldp::{LldpProbe, Lldpdu, ProbeKey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = Lldpdu::parse(bytes);
    assert!(LldpProbe::decode(bytes, &ProbeKey::new([1; 32])).is_err(), "nobody can guess the tag");
});
