//! Messages to bytes and back: against recorded ones, against other implementations, and at random.

mod arbitrary;
mod golden;
mod json;
mod known;
mod malformed;
mod ovs;
mod random;
mod refusals;
mod support;
mod wireshark;
