//! Switches, ports, links and hosts: what the network is made of.
//!
//! [`Topology`] is the living picture, changed by events; every change returns what it did as [`Change`]s.
//! [`Graph`] is a frozen, compact copy of its switches and links for the algorithms. [`Blueprint`] is a network as it
//! is drawn or written down, with names: generated or read from a file. Nothing here discovers anything, keeps a
//! clock, or decides whom to believe: that is the controller's.
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
pub use link::{Link, LinkState};
pub use spanning_tree::spanning_tree;
pub use switch::{Port, Switch};
pub use topology::Topology;
