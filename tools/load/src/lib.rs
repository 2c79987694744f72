//! Emulated OpenFlow 1.3 switches and hosts that load a controller.
//!
//! One thread and one poller serve thousands of sockets, one a switch. A switch answers what controllers ask,
//! forwards what they send out of its ports to the neighbour at once, and remembers no more than it must: a
//! few hundred bytes and its ports. It has no data plane, so packets of hosts are made by the load.
//!
//! [`discovery`] brings up a whole network and measures when its map is complete, and whether it stays so.
//! [`flows`] measures throughput and latency of new connections, as cbench does. [`Network`] is below both.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use braid_load::{Layout, Network};
//! use braid_types::PortNo;
//!
//! // 100 switches of two ports each join a controller, and answer it for a second.
//! let layout = Layout::single(100, &[PortNo(1), PortNo(2)]);
//! let controller: std::net::SocketAddr = "127.0.0.1:6653".parse()?;
//! Network::connect(controller, &layout)?.serve_for(Duration::from_secs(1))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod discovery;
mod error;
pub mod flows;
mod layout;
mod network;
pub mod packets;
mod poller;
mod relay;
mod requests;
mod switch;
mod target;
mod usage;

pub use error::LoadError;
pub use layout::{Layout, Placed};
pub use network::{End, Network};
pub use poller::Poller;
pub use requests::{Load, Outcome, Requests};
pub use switch::{Received, Switch};
pub use target::Target;
pub use usage::{Usage, raise_file_limit};
