//! What the crate's users rely on.

mod blueprint;
mod changes;
mod generate;
mod graph;
mod hosts;
mod links;
mod network;
mod spanning_tree;
