//! One network, one pattern of traffic, one way to steer it: what a run of it shows.

mod run;
mod sweep;

use std::time::Duration;

use braid_link_model::QueueLimit;
use braid_topology::generate::{GenerateError, Links, Spec};
use braid_types::BitsPerSec;

use crate::Control;
use crate::network::{LinkDefaults, NetworkError};
use crate::steering::Scheme;
use crate::traffic::Pattern;

pub use run::{Outcome, Transfer, most_memory, run};
pub use sweep::{Cancel, sweep};

/// Long transfers that begin together, and how much of the optimum each reaches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Experiment {
    /// The network; one with a seed of its own has the run's in its place.
    pub network: Spec,
    /// What every link carries.
    pub rate: BitsPerSec,
    /// How long a bit travels on each.
    pub delay: Duration,
    /// What each holds while it is busy.
    pub queue: QueueLimit,
    /// Who sends to whom.
    pub pattern: Pattern,
    /// The paths of subflows.
    pub scheme: Scheme,
    /// Subflows for each pair of the two hosts' interfaces, 1 to 16 for all pairs together.
    pub subflows: usize,
    /// How windows change.
    pub control: Control,
    /// How long the first packet of a subflow waits for the controller.
    pub set_up: Duration,
    /// What is not counted at the start.
    pub warm_up: Duration,
    /// What is counted.
    pub measured: Duration,
}

/// Why an experiment cannot be run.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ExperimentError {
    /// There is no such network.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// It cannot be simulated.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A connection has one at least and 16 at most.
    #[error("{subflows} subflows for each of {pairs} pairs of interfaces make {total}; a connection takes 1 to {max}", total = subflows * pairs, max = MAX_SUBFLOWS)]
    Subflows {
        /// For each pair.
        subflows: usize,
        /// How many pairs.
        pairs: usize,
    },
    /// Nothing would be measured.
    #[error("nothing is measured in no time; give a second or so")]
    NoTime,
    /// Two hosts cannot reach each other.
    #[error("no path leads from host {0} to host {1}")]
    NoPath(usize, usize),
    /// It would not fit.
    #[error("the run needs up to {need} MB, of which {have} MB are free; make queues shorter or rates lower")]
    Memory {
        /// What it would need, in megabytes.
        need: u64,
        /// What there is, in megabytes.
        have: u64,
    },
}

/// The most subflows of a connection.
pub const MAX_SUBFLOWS: usize = crate::engine::NewConnection::MAX_SUBFLOWS;

impl Experiment {
    /// The network for a seed.
    pub(crate) fn spec(&self, seed: u64) -> Spec {
        match self.network {
            Spec::Jellyfish(sizes) => Spec::Jellyfish(braid_topology::generate::Jellyfish { seed, ..sizes }),
            Spec::DualHomedJellyfish(sizes) => {
                Spec::DualHomedJellyfish(braid_topology::generate::Jellyfish { seed, ..sizes })
            }
            other => other,
        }
    }

    pub(crate) const fn links(&self) -> Links {
        Links { capacity: self.rate, delay: Some(self.delay) }
    }

    pub(crate) const fn defaults(&self) -> LinkDefaults {
        LinkDefaults { queue: self.queue, delay: self.delay }
    }
}
