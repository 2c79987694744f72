//! The setup of a link process: its socket, seed and links.

use std::path::PathBuf;

use braid_link_model::Parameters;
use serde::{Deserialize, Serialize};

/// What a process of links is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Where it listens for [`Client`](crate::Client)s.
    pub socket: PathBuf,
    /// Decides losses and jitter, together with the place in `links`.
    #[serde(default)]
    pub seed: u64,
    /// What it joins.
    pub links: Vec<LinkSetup>,
}

/// Two interfaces of the process's network namespace, and what is between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSetup {
    /// The two interfaces. What one receives leaves through the other.
    pub devices: [String; 2],
    /// From the first to the second, and from the second to the first.
    pub ways: [Parameters; 2],
}
