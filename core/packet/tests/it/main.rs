//! Tests of the parsers against captures of real kernels, tshark's dissectors, the kernel of this machine, and arbitrary
//! bytes.

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
