//! Members of a cluster with a model of the store and of switches: single scenes, and random faults.

mod clients;
mod explore;
mod intents;
mod node;
mod promises;
mod reach;
mod scenes;
mod store;
mod switch;
mod world;
