//! Tests of the topology and of blueprints.

mod blueprint;
mod changes;
mod export;
mod generate;
mod graph;
mod hosts;
mod import;
mod import_labs;
mod links;
mod network;
mod spanning_tree;
