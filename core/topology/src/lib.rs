//! The topology: switches, ports, links and hosts.
//!
//! [`Topology`] is the live network, updated by events; every update returns its [`Change`]s. [`Graph`] is a compact
//! snapshot of its switches and links for algorithms. [`Blueprint`] is a network with names from a generator or a file.
//! Discovery, time and trust are the controller's.
//!
//! ```
//! use braid_topology::{Change, Link, LinkState, Port, Topology};
//! use braid_types::{BitsPerSec, DatapathId, MacAddr, PortNo, SwitchPort};
//!
//! let speed = BitsPerSec(1_000_000_000);
//! let port = Port { number: PortNo(1), name: "eth1".into(), mac: MacAddr::ZERO, up: true, speed };
//! let mut topology = Topology::default();
//! topology.add_switch(DatapathId(1), [port.clone()]);
//! topology.add_switch(DatapathId(2), [port]);
//!
//! let [a, b] = [1, 2].map(|dpid| SwitchPort::new(DatapathId(dpid), PortNo(1)));
//! let link = Link { src: a, dst: b };
//! let state = LinkState::of_capacity(speed);
//! assert_eq!(topology.add_link(link, state), Ok(vec![Change::LinkAdded { link, state }]));
//! assert_eq!(topology.link_at(a), Some(link));
//! assert_eq!(topology.graph().edges().len(), 1);
//! ```

#![cfg_attr(not(test), warn(clippy::iter_over_hash_type))]

pub mod blueprint;
mod change;
mod error;
pub mod export;
mod format;
pub mod generate;
mod graph;
mod host;
pub mod import;
mod link;
mod spanning_tree;
mod switch;
mod topology;

pub use blueprint::Blueprint;
pub use change::Change;
pub use error::TopologyError;
pub use graph::{EdgeIndex, Graph, NodeIndex};
pub use host::{Host, HostLimits};
pub use link::{Degradation, Link, LinkState};
pub use spanning_tree::spanning_tree;
pub use switch::{Port, Switch};
pub use topology::Topology;
