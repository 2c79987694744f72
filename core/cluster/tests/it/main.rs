//! Members of a cluster with a model of the store and of switches: single scenes, and random faults.

mod explore;
mod node;
mod scenes;
mod store;
mod switch;
mod world;
