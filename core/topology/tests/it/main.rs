//! What the crate's users rely on.

mod changes;
mod graph;
mod hosts;
mod links;
mod network;
mod spanning_tree;
