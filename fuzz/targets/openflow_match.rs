//! A match and its fields.

#![no_main]

use braid_openflow::Match;

braid_fuzz::round_trip!(Match<'_>);
