//! Trials against a model of a connection, and against anything.

mod behaviour;
mod model;
mod properties;
