//! The agent on MPTCP hosts, which manages subflows and couples their congestion windows.
//!
//! [`Agent`] works in one network namespace. It configures the kernel's path manager ([`KernelMode`]), or is the path
//! manager in user space, by a controller's advice ([`managed`]), and loads coupled [`congestion`] control into the
//! kernel. Subflows that drag are suspended ([`trials`]). At its end it restores all settings. It needs no patched kernel.
//!
//! It does not place subflows on paths: the controller does.
//!
//! ```no_run
//! use braid_host::pm::Limits;
//! use braid_host::{Agent, Config, Mode};
//!
//! // The kernel opens two more subflows of each connection, and uses two announced addresses of the peer.
//! let limits = Limits { subflows: 2, accepted_addresses: 2 };
//! let mode = Mode::Kernel { limits, endpoints: Vec::new() };
//! let agent = Agent::start(Config { mode: Some(mode), ..Config::default() })?;
//! agent.run_until_signalled(&mut || {})?;
//! # Ok::<(), braid_host::AgentError>(())
//! ```

mod agent;
pub mod congestion;
pub mod diag;
mod kernel_mode;
pub mod managed;
pub mod netlink;
pub mod pm;
mod receive_buffer;
pub mod sysctl;
pub mod trials;

pub use agent::{Agent, AgentError, Config, Mode};
pub use kernel_mode::KernelMode;
