//! The agent on MPTCP hosts: which subflows a connection has, and how their windows are coupled.

mod agent;
pub mod congestion;
pub mod netlink;
pub mod pm;
pub mod sysctl;

pub use agent::{Agent, AgentError, Config};
