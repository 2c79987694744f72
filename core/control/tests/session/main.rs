//! One OpenFlow channel, message by message.

mod bounds;
mod channel;
#[path = "../counting/mod.rs"]
mod counting;
mod protocol;
mod random;
