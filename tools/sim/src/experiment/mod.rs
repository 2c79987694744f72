//! Experiments: one network, one traffic pattern, one steering method.

mod fabric;
mod run;
mod sweep;

use std::time::Duration;

use braid_link_model::QueueLimit;
use braid_topology::generate::GenerateError;
use braid_types::BitsPerSec;

use crate::Control;
use crate::network::NetworkError;
use crate::steering::Scheme;
use crate::traffic::Pattern;

pub use fabric::{Fabric, Layout};
pub(crate) use run::GRACE;
pub use run::{Outcome, Transfer, most_memory, run};
pub use sweep::{Cancel, side_by_side, sweep};

/// Long transfers that begin together, and how much of the optimum each reaches.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// The network.
    pub network: Layout,
    /// The capacity of every generated link.
    pub rate: BitsPerSec,
    /// The propagation delay of every link that has none of its own.
    pub delay: Duration,
    /// The queue of every link.
    pub queue: QueueLimit,
    /// The traffic pattern.
    pub pattern: Pattern,
    /// The paths of subflows.
    pub scheme: Scheme,
    /// Subflows for each pair of the two hosts' interfaces, 1 to 16 for all pairs together.
    pub subflows: usize,
    /// The congestion control.
    pub control: Control,
    /// The controller's delay of a subflow's first packet.
    pub set_up: Duration,
    /// The link failures.
    pub failures: Option<Failures>,
    /// The time at the start that is not measured.
    pub warm_up: Duration,
    /// The measured time.
    pub measured: Duration,
}

/// Links between switches that are cut in the course of a run, drawn at random.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failures {
    /// The time of the failure after the start.
    pub at: Duration,
    /// The number of links that fail at once.
    pub links: usize,
    /// The time until the controller has rerouted the streams on them.
    pub repair: Duration,
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
    /// Traffic was listed that there cannot be.
    #[error(
        "traffic {name} has a transfer from host {from} to host {to}; hosts are numbered from 0 to {last}, and a transfer takes two"
    )]
    Listed {
        /// What the traffic is called.
        name: String,
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The last host.
        last: usize,
    },
    /// Two hosts cannot reach each other.
    #[error("no path leads from host {0} to host {1}")]
    NoPath(usize, usize),
    /// Queues would grow without end, or nothing would come.
    #[error("a load of {0} is not between 0 and 1")]
    Load(f64),
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
    pub(crate) fn fabric(&self) -> Fabric {
        Fabric { network: self.network.clone(), rate: self.rate, delay: self.delay, queue: self.queue }
    }
}

impl ExperimentError {
    /// Refuses runs of which so many side by side would need more memory than there is, both in bytes.
    pub(crate) fn check_memory(most: u64, threads: usize, memory: u64) -> Result<(), Self> {
        let (need, have) = (most.saturating_mul(threads as u64) / 1_000_000, memory / 1_000_000);
        if need > have { Err(Self::Memory { need, have }) } else { Ok(()) }
    }
}
