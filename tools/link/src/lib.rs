//! The link emulator: links with delay between network interfaces, in user space.
//!
//! It serves kernels without netem. A process joins pairs of interfaces and forwards frames between them through
//! [`braid_link_model`], each direction with a rate, queue, delay, jitter, loss and reordering of its own. One thread
//! serves all links; it sleeps until a frame arrives or is due. Parameters are changed and counters read over a Unix
//! socket, see [`Client`], while traffic runs.
//!
//! Frames are never changed or segmented: GSO packets longer than the interface's MTU are dropped and counted as
//! [`PortStatus::too_long`], so turn offloads off at the peer. Frames need complete checksums.
//!
//! The process needs `CAP_NET_RAW` and Linux 5.11 or later.
//!
//! ```no_run
//! use braid_link::{Engine, LinkSetup, Setup};
//! use braid_link_model::{Delay, Parameters};
//!
//! let direction = Parameters { delay: Delay::from_millis(20), ..Parameters::default() };
//! let link = LinkSetup { devices: ["veth0".to_owned(), "veth1".to_owned()], directions: [direction; 2] };
//! let setup = Setup { socket: "/run/links.sock".into(), seed: 1, links: vec![link] };
//! Engine::new(&setup)?.run()?;
//! # Ok::<(), braid_link::LinkError>(())
//! ```

mod buffers;
mod clock;
mod control;
mod engine;
mod error;
mod setup;

pub use control::{Change, Client, DirectionStatus, LinkStatus, PortStatus, Status};
pub use engine::Engine;
pub use error::{ControlError, LinkError};
pub use setup::{LinkSetup, Setup};

/// Checks that links can be made in the calling thread's network namespace, without making one.
///
/// # Errors
///
/// [`LinkError::Device`] with the missing kernel feature.
pub fn probe(devices: [&str; 2]) -> Result<(), LinkError> {
    let devices = devices.map(str::to_owned);
    engine::probe(&LinkSetup { devices, directions: Default::default() })
}

/// Runs a link process: makes the links of `input`, a [`Setup`] in JSON, and forwards frames until the process ends.
///
/// # Errors
///
/// [`LinkError`] if the links cannot be made.
pub fn serve(input: impl std::io::Read) -> Result<(), LinkError> {
    let setup: Setup = serde_json::from_reader(input).map_err(LinkError::Setup)?;
    Engine::new(&setup)?.run()
}
