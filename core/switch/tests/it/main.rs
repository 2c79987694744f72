//! The switch from outside: frames and messages in, frames and messages out.

#![expect(clippy::disallowed_methods, reason = "tests compare with files, tools and the kernel")]

mod bench;
mod bfd;
mod coalescing;
mod flows;
mod forwarding;
mod fragments;
mod groups;
mod malformed;
mod packet_too_big;
mod probes;
mod rewriting;
mod session;
mod telemetry;
mod tunnel_rewriting;
mod tunnels;
mod unanswered;
mod uplink_lengths;
mod uplinks;
mod whole;
