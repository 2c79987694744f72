//! Routing of packets outside streams.

mod broadcast;
mod default_paths;
mod ecmp;
mod table;

pub(crate) use broadcast::BroadcastTree;
pub(crate) use default_paths::{Routing, RoutingChange};
pub(crate) use table::{NextHop, RouteKey};
