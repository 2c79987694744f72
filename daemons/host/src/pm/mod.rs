//! The kernel's MPTCP path manager, `mptcp_pm` of generic netlink: endpoints and limits of the one in the kernel,
//! subflows and events of the one in user space. `Documentation/netlink/specs/mptcp_pm.yaml` in Linux is the source.

mod endpoint;
mod event;
mod manager;
mod subflow;

pub use endpoint::{Endpoint, EndpointFlag, EndpointFlags, Limits, UnknownFlag};
pub use event::{Connection, Event, Events, Subflow};
pub use manager::PathManager;
pub use subflow::Token;
