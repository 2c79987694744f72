//! The agent against the kernel, each test in network namespaces of its own.

mod codec;
#[cfg(feature = "bpf")]
mod congestion;
#[cfg(feature = "bpf")]
mod formulas;
mod namespace;
mod pm;
mod traffic;
