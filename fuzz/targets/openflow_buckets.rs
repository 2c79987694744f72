//! A list of buckets of a group.

#![no_main]

use braid_openflow::{Bucket, List};

braid_fuzz::round_trip!(List<'_, Bucket<'_>>);
