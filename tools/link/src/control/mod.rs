//! The control protocol of a link process: JSON lines over a Unix socket, one answer for each request.

mod client;
mod server;

use braid_link_model::{Amount, Counters, Gauge, Parameters};
use serde::{Deserialize, Serialize};

pub use client::Client;
pub(crate) use server::Server;

/// What a client says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request {
    /// What all links are like, and what they did.
    Status,
    /// New parameters for a link, whose status is the answer.
    Change(Box<Change>),
}

/// New parameters for a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Its place in [`Setup::links`](crate::Setup::links).
    pub link: usize,
    /// What changes from the first interface to the second, and back.
    pub ways: [braid_link_model::Change; 2],
}

/// What is said to a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Ok(Status),
    Error(String),
}

/// What links are like, and what they did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// In the order of [`Setup::links`](crate::Setup::links), or the one that was changed.
    pub links: Vec<LinkStatus>,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkStatus {
    /// The interfaces that it joins.
    pub devices: [String; 2],
    /// What happened at each of them.
    pub ports: [PortStatus; 2],
    /// From the first to the second, and back.
    pub ways: [WayStatus; 2],
}

/// Frames that came to an interface and not into the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortStatus {
    /// They came faster than the process read them.
    pub missed: u64,
    /// They were longer than the interface's MTU: an offload is on at its other end.
    pub too_long: u64,
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WayStatus {
    /// What it is like.
    pub parameters: Parameters,
    /// What became of the frames.
    pub counters: Counters,
    /// What is inside now.
    pub inside: Gauge,
    /// Of the frames delivered, those that the interface at the end did not take: it was down.
    pub undeliverable: Amount,
}
