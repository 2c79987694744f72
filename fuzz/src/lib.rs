//! Invariants of every decoder, for any input bytes.

pub mod edge;
pub mod uplinks;

use braid_topology::{Blueprint, export, import};

/// Writes a network in Braid's own JSON and reads it again.
///
/// # Panics
///
/// If the network read differs from the one written.
pub fn same_again(network: Blueprint) {
    let again = import::braid(&export::json(&network), "again").expect("what was written can be read");
    assert_eq!(again, network);
}

/// A fuzzer of the type `$type`: reads one from the bytes; if they are one, writes it, and reads the same again.
///
/// A macro, and no generic function, because the value that is read again borrows from other bytes than the first.
#[macro_export]
macro_rules! round_trip {
    ($type:ty) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            use braid_openflow::{Part, Reader, Wire};
            let Ok(value) = <$type>::read(&mut Reader::new(Part::Experimenter, bytes)) else { return };
            let mut again = Vec::new();
            value.write(&mut again).expect("what was read can be written");
            let read_again = <$type>::read(&mut Reader::new(Part::Experimenter, &again));
            assert_eq!(read_again, Ok(value));
        });
    };
}
