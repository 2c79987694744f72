//! The network's edge: an OpenFlow 1.3 switch over Linux interfaces that sprays flows and resequences them.
//!
//! [`braid_switch`] decides; this crate has the interfaces and the controllers' connections. One thread does all of it:
//! it takes what has arrived in batches, passes it through the switch, and sends what leaves in batches; between them
//! it sleeps. Frames keep what was left to the network card: GSO packets stay whole, checksums are made by whoever
//! sends them in the end.
//!
//! Needs `CAP_NET_RAW`, `CAP_NET_ADMIN` for promiscuous mode, and Linux 5.11 or later.

mod buffers;
mod channels;
mod client;
mod edge;
mod error;
mod interface;
mod options;
mod poller;
mod tunnels;

pub use client::{ClientError, Tuner};
pub use edge::Edge;
pub use error::EdgeError;
pub use options::{Options, PortOption, PortOptionError, TunnelOption, UplinkOption};
