//! Against captures of real kernels, against tshark's dissectors, against the kernel of this machine, and
//! against arbitrary bytes.

mod common;
mod frames;
mod kernel;
mod lldp;
mod mptcp_captures;
mod mptcp_golden;
mod neighbours;
mod properties;
mod too_big;
