//! The edge daemon: an OpenFlow 1.3 switch over Linux interfaces that sprays and resequences flows.
//!
//! [`braid_switch`] decides; this crate has the interfaces and the connections of controllers. One thread receives
//! frames in batches, passes them through the switch, sends the results in batches, and sleeps in between. Offloads stay
//! in effect: GSO packets are not segmented, and the last sender computes checksums.
//!
//! The process needs `CAP_NET_RAW`, `CAP_NET_ADMIN` for promiscuous mode, and Linux 5.11 or later.
//!
//! ```no_run
//! use braid_edge::{Edge, Options};
//! use braid_types::DatapathId;
//!
//! let mut edge = Edge::new(&Options {
//!     dpid: DatapathId(1),
//!     ports: vec!["eth1".parse()?, "eth2=2@1Gbit".parse()?],
//!     uplinks: Vec::new(),
//!     tunnels: Vec::new(),
//!     rewrite: false,
//!     listen: Vec::new(),
//!     controllers: vec!["tcp:192.0.2.1:6653".parse()?],
//!     credentials: None,
//! })?;
//! edge.run_until_signalled(&mut || {})?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod buffers;
mod channels;
mod client;
mod edge;
mod error;
mod interface;
mod liveness;
mod options;
mod poller;
mod tls;
mod tunnels;

pub use client::{ClientError, GroupClient};
pub use edge::Edge;
pub use error::EdgeError;
pub use options::{
    ControllerOption, ControllerOptionError, Options, PortOption, PortOptionError, TunnelOption, UplinkOption,
};
