//! Routing of packets outside streams.

mod broadcast;
mod commit;
mod default_paths;
mod ecmp;
mod next_hop;
mod table;

pub(crate) use broadcast::BroadcastTree;
pub(crate) use default_paths::{Routing, RoutingChange};
pub(crate) use ecmp::GroupKey;
pub(crate) use next_hop::{NextHop, RouteKey};
