//! The kernel's MPTCP path managers over generic netlink (`mptcp_pm`): endpoints and limits of the one in the kernel,
//! subflows and events of the one in user space. Source: `Documentation/netlink/specs/mptcp_pm.yaml` of Linux.

mod endpoint;
mod event;
mod manager;
mod subflow;

pub use endpoint::{Endpoint, EndpointFlag, EndpointFlags, Limits, UnknownFlag};
pub use event::{Connection, Event, Events, Subflow};
pub use manager::PathManager;
pub use subflow::Token;
