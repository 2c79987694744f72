//! The pair of switches between which packets are carried, as all crates have it.

pub(crate) use braid_types::SwitchPair;
