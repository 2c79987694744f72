//! The agent against the kernel, each test in network namespaces of its own.

mod broken;
mod codec;
#[cfg(feature = "bpf")]
mod congestion;
mod connections;
#[cfg(feature = "bpf")]
mod formulas;
mod managed;
mod namespace;
mod pm;
mod traffic;
mod trials;
