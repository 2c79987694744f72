//! The agent on MPTCP hosts: which subflows a connection has, and how their windows are coupled.
//!
//! [`Agent`] is all of it, in one network namespace: the path manager in the kernel with limits and endpoints
//! ([`KernelMode`]), or the one in user space, by a controller's advice ([`managed`]); and [`congestion`] control in the
//! kernel. What it sets, it puts back. It needs no patched kernel.
//!
//! What it does not do: place subflows on paths. That is the controller's.

mod agent;
pub mod congestion;
mod kernel_mode;
pub mod managed;
pub mod netlink;
pub mod pm;
pub mod sysctl;

pub use agent::{Agent, AgentError, Config, Mode};
pub use kernel_mode::KernelMode;
