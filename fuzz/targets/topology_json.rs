//! A network in JSON, NetworkX's, Mininet's editor's or Braid's own; what is read is written as JSON and read again as the same.
#![no_main]

use braid_topology::import;
use braid_types::BitsPerSec;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(imported) = import::json(text, "f", BitsPerSec(1)) {
        braid_fuzz::same_again(imported.blueprint);
    }
});
