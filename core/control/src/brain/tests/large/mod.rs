//! Networks of thousands of model switches, which relay frames and answer barriers and have no tables.
//!
//! For what grows with a network: work is counted, and time is virtual.

mod network;

mod announcements;
mod blocks;
mod families;
mod leaving;
mod starved;

pub(super) use network::Large;
