//! The network of a run: equal links that are generated for a seed, or one that is given.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use braid_link_model::QueueLimit;
use braid_topology::Blueprint;
use braid_topology::generate::{Jellyfish, Links, Spec, SpecError};
use braid_types::BitsPerSec;

use super::ExperimentError;
use crate::network::{LinkDefaults, Network};

/// Which network is simulated.
#[derive(Clone, PartialEq, Debug)]
pub enum Layout {
    /// One that is generated, of links that are all alike. One with a seed of its own has the run's in its place.
    Generated(Spec),
    /// One that says itself what each link carries, and how long a bit travels on it.
    Given(Arc<Blueprint>),
}

/// A network with the properties of links that it does not give itself.
#[derive(Clone, PartialEq, Debug)]
pub struct Fabric {
    /// The network.
    pub network: Layout,
    /// What every generated link carries.
    pub rate: BitsPerSec,
    /// How long a bit travels on each, and on given ones that do not say it.
    pub delay: Duration,
    /// What each holds while it is busy.
    pub queue: QueueLimit,
}

impl Fabric {
    /// The network for a seed.
    ///
    /// # Errors
    ///
    /// [`ExperimentError`] if there is no such network, or it cannot be simulated.
    pub fn lay_out(&self, seed: u64) -> Result<Network, ExperimentError> {
        let links = Links { capacity: self.rate, delay: Some(self.delay) };
        let defaults = LinkDefaults { queue: self.queue, delay: self.delay, hold_senders: true };
        Ok(match &self.network {
            Layout::Generated(spec) => Network::new(&with_seed(*spec, seed).generate(links)?, &defaults)?,
            Layout::Given(blueprint) => Network::new(blueprint, &defaults)?,
        })
    }
}

const fn with_seed(spec: Spec, seed: u64) -> Spec {
    match spec {
        Spec::Jellyfish(sizes) => Spec::Jellyfish(Jellyfish { seed, ..sizes }),
        Spec::DualHomedJellyfish(sizes) => Spec::DualHomedJellyfish(Jellyfish { seed, ..sizes }),
        other => other,
    }
}

impl From<Spec> for Layout {
    fn from(spec: Spec) -> Self {
        Self::Generated(spec)
    }
}

impl FromStr for Layout {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        text.parse().map(Self::Generated)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generated(spec) => spec.fmt(f),
            Self::Given(blueprint) => f.write_str(blueprint.name()),
        }
    }
}
