//! Messages to bytes and back: against recorded ones, against other implementations, and at random.

#![expect(clippy::disallowed_methods, reason = "tests compare with files, tools and the kernel")]

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
