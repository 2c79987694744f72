//! The switch from outside: frames and messages in, frames and messages out.

#![expect(clippy::disallowed_methods, reason = "tests compare with files, tools and the kernel")]

mod bench;
mod flows;
mod forwarding;
mod fragments;
mod groups;
mod malformed;
mod probes;
mod rewriting;
mod session;
mod telemetry;
mod too_long;
mod trains;
mod tunnels;
mod uplink_lengths;
mod uplinks;
mod whole;
