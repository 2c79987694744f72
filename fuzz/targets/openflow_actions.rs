//! A list of actions.

#![no_main]

use braid_openflow::{Action, List};

braid_fuzz::round_trip!(List<'_, Action<'_>>);
