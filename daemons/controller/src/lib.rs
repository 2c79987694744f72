//! Sockets, HTTP and metrics around the controller's brain.
//!
//! One thread owns the brain and every OpenFlow channel, so that a packet-in is answered without passing
//! from thread to thread; another serves HTTP from a copy of what the first shows.
//!
//! What it does not do: decide anything. That is `braid-control`.

mod access;
mod agents;
mod channels;
mod clock;
mod controller;
mod copying;
mod drawing;
mod engine;
mod http;
mod log;
mod notices;
mod policy;
mod record;
mod testbed;
mod token_table;
mod written;

pub use access::{Access, Right, Tls, TlsError, Tokens};
pub use agents::Agents;
pub use braid_control::{RebalanceSettings, Settings};
pub use controller::{Config, Controller, ControllerError, Listen};
pub use drawing::{Drawings, Drawn};
pub use http::{Playback, SavedRun, path_set};
pub use policy::{PolicyFile, PolicyFileError};
pub use record::{Header, read_recording};
pub use testbed::{Testbed, TestbedError};
pub use token_table::TokenFileError;
