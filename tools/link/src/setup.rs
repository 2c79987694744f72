//! The setup of a link process: its socket, seed and links.

use std::path::PathBuf;

use braid_link_model::Parameters;
use serde::{Deserialize, Serialize};

/// The setup of a link process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The path of its control socket.
    pub socket: PathBuf,
    /// The seed of losses and jitter, combined with the index in `links`.
    #[serde(default)]
    pub seed: u64,
    /// Its links.
    pub links: Vec<LinkSetup>,
}

/// A link between two interfaces of the process's network namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSetup {
    /// The two interfaces: frames received by one leave through the other.
    pub devices: [String; 2],
    /// The direction from the first to the second, and the reverse direction.
    pub directions: [Parameters; 2],
}
