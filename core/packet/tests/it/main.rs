//! Against captures of real kernels, against tshark's dissectors, against the kernel of this machine, and
//! against arbitrary bytes.

#![expect(clippy::disallowed_methods, reason = "tests compare with files, tools and the kernel")]

mod common;
mod frames;
mod kernel;
mod lldp;
mod mptcp_captures;
mod mptcp_golden;
mod neighbours;
mod properties;
mod too_big;
