//! The control protocol of a link process: JSON lines over a Unix socket, one response for each request.

mod client;
mod server;

use braid_link_model::{Amount, Counters, Gauge, Parameters};
use serde::{Deserialize, Serialize};

pub use client::Client;
pub(crate) use server::Server;

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request {
    /// Asks for the parameters and counters of all links.
    Status,
    /// Changes a link; the response has its status.
    Change(Box<Change>),
}

/// A change of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Its index in [`Setup::links`](crate::Setup::links).
    pub link: usize,
    /// Changes of the direction from the first interface to the second, and of the reverse direction.
    pub directions: [braid_link_model::Change; 2],
}

/// A response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Ok(Status),
    Error(String),
}

/// Parameters and counters of links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// All links in the order of [`Setup::links`](crate::Setup::links), or the changed one.
    pub links: Vec<LinkStatus>,
}

/// The status of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkStatus {
    /// The interfaces that it joins.
    pub devices: [String; 2],
    /// The counters of both interfaces.
    pub ports: [PortStatus; 2],
    /// The direction from the first interface to the second, and the reverse direction.
    pub directions: [DirectionStatus; 2],
}

/// Frames dropped between an interface and the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortStatus {
    /// Frames lost because the receive ring was full.
    pub missed: u64,
    /// Frames longer than the interface's MTU: an offload is on at its peer.
    pub too_long: u64,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionStatus {
    /// Its parameters.
    pub parameters: Parameters,
    /// Its frame counters.
    pub counters: Counters,
    /// The frames inside now.
    pub inside: Gauge,
    /// Delivered frames that the outgoing interface did not take, since it was down.
    pub undeliverable: Amount,
}
