//! The agent against the kernel, each test in network namespaces of its own.

#[cfg(feature = "bpf")]
mod congestion;
#[cfg(feature = "bpf")]
mod formulas;
mod namespace;
