//! The model against its definition.

mod behaviour;
mod change;
mod reference;
mod statistics;
mod values;
