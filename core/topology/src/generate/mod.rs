//! Network generators: the common families of topologies, and known testbeds.
//!
//! Every family is a function in a file of its own; [`Spec`] is a family with its sizes as text, such as `fattree:8`. The
//! same arguments always give the same network.
//!
//! ```
//! use braid_topology::generate::{Links, Spec};
//! let spec: Spec = "jellyfish:60,10,120,7".parse()?;
//! let network = spec.generate(Links::default())?;
//! assert_eq!((network.switches().len(), network.hosts().len()), (60, 120));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod east_asia;
mod error;
mod fat_tree;
mod huang;
mod jellyfish;
mod random;
mod regular;
mod spec;
mod two_path;

use std::time::Duration;

use braid_types::BitsPerSec;

use crate::LinkState;

pub use east_asia::east_asia;
pub use error::{GenerateError, SpecError};
pub use fat_tree::fat_tree;
pub use huang::{huang_a, huang_b};
pub use jellyfish::{Jellyfish, dual_homed_jellyfish, jellyfish};
pub use regular::{line, ring, torus};
pub use spec::Spec;
pub use two_path::two_path;

/// The properties of all links of a generated network, including those of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Links {
    /// The capacity of each direction; by default 1 Gbit/s.
    pub capacity: BitsPerSec,
    /// The propagation delay; by default unknown.
    pub delay: Option<Duration>,
}

impl Default for Links {
    fn default() -> Self {
        Self { capacity: BitsPerSec(1_000_000_000), delay: None }
    }
}

impl Links {
    const fn state(self) -> LinkState {
        LinkState { delay: self.delay, ..LinkState::of_capacity(self.capacity) }
    }
}

const fn mbit(rate: u64, delay: Duration) -> LinkState {
    LinkState { delay: Some(delay), ..LinkState::of_capacity(BitsPerSec(rate * 1_000_000)) }
}
