//! A list of instructions.

#![no_main]

use braid_openflow::{Instruction, List};

braid_fuzz::round_trip!(List<'_, Instruction<'_>>);
