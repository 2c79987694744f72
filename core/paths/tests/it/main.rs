//! Tests of the crate's public face.

mod delay_gate;
mod edge_disjoint;
mod k_shortest;
mod kinds;
mod max_flow;
mod network;
mod node_disjoint;
mod path;
mod properties;
mod query;
mod service;
mod solve;
mod widest;
mod within_hops;
