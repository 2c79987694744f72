//! Tests of the crate from outside: which packets come out, in which order, and when.

mod behaviour;
mod bounds;
mod common;
mod feedback;
mod reference;
mod retransmit_order;
mod scheduler;
mod shared_path;
mod silence;
mod sprayed;
