//! Where packets go that belong to no stream.

mod broadcast;

pub(crate) use broadcast::BroadcastTree;
