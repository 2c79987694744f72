//! Links with delay between network interfaces, in user space.
//!
//! For kernels without netem: a process that joins pairs of interfaces and passes frames from one to the other through
//! [`braid_link_model`], each direction with a rate, queue, delay, jitter, loss and reordering of its own. One thread
//! serves all links; it sleeps until a frame arrives or is due. Parameters are changed and counters read over a Unix
//! socket, see [`Client`], while traffic runs.
//!
//! Frames are never changed. They are not cut either: an interface that hands over segmentation GSO packets loses
//! those that are longer than its MTU, and they are counted as [`PortStatus::too_long`]; turn offloads off at the other
//! end. Checksums must be there already.
//!
//! Needs `CAP_NET_RAW` and Linux 5.11 or later.
//!
//! ```no_run
//! use braid_link::{Engine, LinkSetup, Setup};
//! use braid_link_model::{Delay, Parameters};
//!
//! let way = Parameters { delay: Delay::from_millis(20), ..Parameters::default() };
//! let link = LinkSetup { devices: ["veth0".to_owned(), "veth1".to_owned()], ways: [way; 2] };
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

pub use control::{Change, Client, LinkStatus, PortStatus, Status, WayStatus};
pub use engine::Engine;
pub use error::{ControlError, LinkError};
pub use setup::{LinkSetup, Setup};

/// Whether links can be made between interfaces of the calling thread's network namespace; makes none.
///
/// # Errors
///
/// [`LinkError::Device`] with what the kernel does not do.
pub fn probe(devices: [&str; 2]) -> Result<(), LinkError> {
    let devices = devices.map(str::to_owned);
    engine::probe(&LinkSetup { devices, ways: Default::default() })
}

/// Makes the links that `input` describes, a [`Setup`] in JSON, and passes frames until the process ends.
///
/// # Errors
///
/// [`LinkError`] if they cannot be made.
pub fn serve(input: impl std::io::Read) -> Result<(), LinkError> {
    let setup: Setup = serde_json::from_reader(input).map_err(LinkError::Setup)?;
    Engine::new(&setup)?.run()
}
