//! Searches by distance that the algorithms share: queue, distances, the shortest path, tie breaks.

mod distances;
mod queue;
mod refill;
mod shortest;
mod take_path;
mod tie_break;

pub(crate) use distances::Distances;
pub(crate) use queue::Queue;
pub(crate) use refill::refill;
pub(crate) use take_path::take_path;
pub(crate) use tie_break::TieBreak;
