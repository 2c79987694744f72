//! Tests of an OpenFlow session, message by message.

mod bounds;
mod channel;
#[path = "../counting/mod.rs"]
mod counting;
mod protocol;
mod random;
mod roles;
mod signs_of_life;
