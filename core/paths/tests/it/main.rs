//! What the crate's users rely on.

mod edge_disjoint;
mod network;
mod path;
mod properties;
