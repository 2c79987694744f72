//! A network of equal links, generated for a seed.

use std::time::Duration;

use braid_link_model::QueueLimit;
use braid_topology::generate::{Jellyfish, Links, Spec};
use braid_types::BitsPerSec;

use super::ExperimentError;
use crate::network::{LinkDefaults, Network};

/// A network of links that are all alike.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fabric {
    /// The network; one with a seed of its own has the run's in its place.
    pub network: Spec,
    /// What every link carries.
    pub rate: BitsPerSec,
    /// How long a bit travels on each.
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
        let blueprint = self.spec(seed).generate(links)?;
        Ok(Network::new(
            &blueprint,
            &LinkDefaults { queue: self.queue, delay: self.delay, hold_senders: true },
        )?)
    }

    const fn spec(&self, seed: u64) -> Spec {
        match self.network {
            Spec::Jellyfish(sizes) => Spec::Jellyfish(Jellyfish { seed, ..sizes }),
            Spec::DualHomedJellyfish(sizes) => Spec::DualHomedJellyfish(Jellyfish { seed, ..sizes }),
            other => other,
        }
    }
}
